import { z } from 'zod';
import { createUser, deleteUser } from '../../commands/user.ts';
import { refuse } from '../../core/command.ts';
import { findTenant } from '../../projections/tenants.ts';
import { findUser, type User } from '../../projections/users.ts';
import { listAsStored } from '../lists.ts';
import { route } from '../route.ts';
import { instant, listQuery, newPassword, noQuery, role, tenantId, username } from '../schemas.ts';
import { unknownTenant } from './found.ts';

const user = z
  .object({ id: z.uuid(), tenant_id: tenantId, username, role, created_at: instant })
  .meta({ id: 'User', description: 'A user of a tenant. The password is never answered.' });

const ofTenant = z.strictObject({ id: tenantId });
const ofUser = z.strictObject({ id: tenantId, username: z.string().min(1).max(63) });
const tag = 'Users';

const unknownUser = (id: string, name: string) =>
  refuse('user.unknown', `There is no user ${name} in ${id}.`);

export const userRoutes = [
  route({
    method: 'POST',
    path: '/admin/v1/tenants/{id}/users',
    id: 'createUser',
    tag,
    summary: 'Create a user',
    callers: ['admin'],
    params: ofTenant,
    query: noQuery,
    body: z.strictObject({ username, password: newPassword, role: role.default('reader') }),
    responses: { 201: { description: 'The user.', body: user, headers: ['Location'] } },
    refusals: ['tenant.unknown', 'user.exists', 'service.busy'],
  })(async ({ params: { id }, body, cause }, { run, reads, secrets, passwords }) => {
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const { incarnation } = tenant;
    // A name that is taken is told before the costly hash; the command decides it again, for good.
    const taken = await findUser(reads, incarnation, body.username);
    if (taken !== undefined)
      return refuse('user.exists', `There is a user ${taken.username} in ${id} already.`);
    const wish = {
      user_id: secrets.newId(),
      tenant_id: id,
      incarnation,
      username: body.username,
      role: body.role,
      password_hash: await passwords.hash(body.password),
    };
    const outcome = await run(createUser, wish, cause);
    if (!outcome.accepted) return outcome;
    const created_at = outcome.events[0]?.time ?? '';
    return {
      status: 201,
      headers: { Location: `/admin/v1/tenants/${id}/users/${encodeURIComponent(body.username)}` },
      body: { id: wish.user_id, tenant_id: id, username: body.username, role: body.role, created_at },
    };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/users',
    id: 'listUsers',
    tag,
    summary: 'List the users of a tenant',
    description: 'Minted credentials are not among them.',
    callers: ['admin'],
    params: ofTenant,
    query: listQuery,
    responses: { 200: { description: 'The users, oldest first.', body: z.array(user), headers: ['Link'] } },
    refusals: ['tenant.unknown'],
  })(async ({ params: { id }, query, url }, { reads }) => {
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    return {
      status: 200,
      ...(await listAsStored(reads.documents<User>('users'), { group: tenant.incarnation }, url, query)),
    };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/users/{username}',
    id: 'getUser',
    tag,
    summary: 'Get a user',
    callers: ['admin'],
    params: ofUser,
    query: noQuery,
    responses: { 200: { description: 'The user.', body: user } },
    refusals: ['tenant.unknown', 'user.unknown'],
  })(async ({ params: { id, username: name } }, { reads }) => {
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const found = await findUser(reads, tenant.incarnation, name);
    return found === undefined ? unknownUser(id, name) : { status: 200, body: found };
  }),

  route({
    method: 'DELETE',
    path: '/admin/v1/tenants/{id}/users/{username}',
    id: 'deleteUser',
    tag,
    summary: 'Delete a user',
    callers: ['admin'],
    params: ofUser,
    query: noQuery,
    responses: { 204: { description: 'The user is gone, and can sign in nowhere.' } },
    refusals: ['tenant.unknown', 'user.unknown'],
  })(async ({ params: { id, username: name }, cause }, { run, reads }) => {
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const outcome = await run(
      deleteUser,
      { tenant_id: id, incarnation: tenant.incarnation, username: name },
      cause,
    );
    return outcome.accepted ? { status: 204 } : outcome;
  }),
];
