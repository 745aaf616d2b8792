import { z } from 'zod';
import { mintCredential, revokeCredential } from '../../commands/credential.ts';
import { refuse } from '../../core/command.ts';
import { findCredential, statusOf, type Credential } from '../../projections/credentials.ts';
import { findTenant } from '../../projections/tenants.ts';
import { listOf } from '../lists.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';
import {
  credentialUsername,
  instant,
  listQuery,
  noQuery,
  role,
  secondsMax,
  subject,
  tenantId,
  writeSchemas,
} from '../schemas.ts';
import { unknownTenant } from './found.ts';

const shared = {
  username: z.string().meta({ example: 'cred_019aa5b0c1d27c3e8f4a5b6c7d8e9f00' }),
  tenant: tenantId,
  role,
  expires_at: instant,
  service_account_id: z.string(),
  write_schemas: writeSchemas.optional().meta({ description: 'There for a scoped writer only.' }),
};

const credential = z
  .object({ ...shared, password: z.string().meta({ description: 'Starts with `tk_`; shown here only.' }) })
  .meta({ id: 'Credential', description: 'A short-lived username and password.' });

const listed = z
  .object({ ...shared, subject, minted_at: instant, status: z.enum(['active', 'expired', 'revoked']) })
  .meta({ id: 'ListedCredential', description: 'A credential without its password.' });

const ofTenant = z.strictObject({ id: tenantId });
const ofCredential = z.strictObject({ id: tenantId, username: credentialUsername });
const tag = 'Credentials';

const mintBody = z
  .strictObject({
    subject,
    role,
    ttl_secs: z.int().min(1).max(secondsMax),
    write_schemas: writeSchemas.optional(),
  })
  .refine((body) => body.write_schemas === undefined || body.role === 'writer', {
    path: ['write_schemas'],
    message: 'Only the role `writer` can be scoped to schemas.',
    // Beside whatever else is wrong, so that every fault is named at once.
    when: ({ value }) => typeof value === 'object' && value !== null && 'role' in value,
  });

const listedView = async (item: Credential, { reads, clock }: Services) => ({
  username: item.username,
  tenant: item.tenant_id,
  role: item.role,
  expires_at: item.expires_at,
  service_account_id: item.service_account_id,
  ...(item.write_schemas === undefined ? {} : { write_schemas: [...item.write_schemas] }),
  subject: item.subject,
  minted_at: item.minted_at,
  status: await statusOf(reads, item, clock()),
});

export const tokenRoutes = [
  route({
    method: 'POST',
    path: '/admin/v1/tenants/{id}/tokens',
    id: 'mintCredential',
    tag,
    summary: 'Mint a credential',
    description:
      'For the tenant of the service account whose bearer calls, up to the account’s `max_role` and `max_ttl_secs`.',
    callers: ['service_account'],
    tenantParam: 'id',
    params: ofTenant,
    query: noQuery,
    body: mintBody,
    responses: { 201: { description: 'The credential, with its password.', body: credential } },
    refusals: ['credential.role-above-max', 'credential.ttl-above-max', 'credential.exists'],
  })(async ({ params: { id }, body, caller, cause }, { run, secrets, clock }) => {
    if (caller.kind !== 'service_account') throw new Error('Only a service account mints.');
    const { account } = caller;
    const password = secrets.fresh('tk_');
    const username = secrets.newId('cred_');
    const wish = {
      ...body,
      username,
      password_digest: password.digest,
      minter: { ...account, service_account_id: account.id },
      atMs: clock(),
    };
    const outcome = await run(mintCredential, wish, cause);
    if (!outcome.accepted) return outcome;
    const { data } = outcome.events[0] ?? {};
    if (data === undefined || !('expires_at' in data)) throw new Error('Minting left no event.');
    return {
      status: 201,
      body: {
        username,
        password: password.value,
        tenant: id,
        role: body.role,
        expires_at: data.expires_at,
        service_account_id: account.id,
        ...(body.write_schemas === undefined ? {} : { write_schemas: body.write_schemas }),
      },
    };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/tokens',
    id: 'listCredentials',
    tag,
    summary: 'List the minted credentials',
    description:
      'The operator sees all of the tenant, a service account those that it minted. Passwords are never listed.',
    callers: ['admin', 'service_account'],
    tenantParam: 'id',
    params: ofTenant,
    query: listQuery,
    responses: {
      200: { description: 'The credentials, oldest first.', body: z.array(listed), headers: ['Link'] },
    },
    refusals: ['tenant.unknown'],
  })(async ({ params: { id }, query, caller, url }, services) => {
    const { reads } = services;
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const documents = reads.documents<Credential>('credentials');
    const list =
      caller.kind === 'service_account' ? { subgroup: caller.account.id } : { group: tenant.incarnation };
    const answer = await listOf(documents, list, url, query, (items) =>
      Promise.all(items.map((item) => listedView(item, services))),
    );
    return { status: 200, ...answer };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/tokens/{username}',
    id: 'getCredential',
    tag,
    summary: 'Get a minted credential',
    description:
      'The operator may see any of the tenant, a service account what it minted. Without its password.',
    callers: ['admin', 'service_account'],
    tenantParam: 'id',
    params: ofCredential,
    query: noQuery,
    responses: { 200: { description: 'The credential.', body: listed } },
    refusals: ['tenant.unknown', 'credential.unknown', 'credential.not-yours'],
  })(async ({ params: { id, username }, caller }, services) => {
    const { reads } = services;
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const found = await findCredential(reads, id, username);
    if (found?.incarnation !== tenant.incarnation)
      return refuse('credential.unknown', `There is no credential ${username} in ${id}.`);
    if (caller.kind === 'service_account' && caller.account.id !== found.service_account_id)
      return refuse('credential.not-yours', 'Another service account minted it.');
    return { status: 200, body: await listedView(found, services) };
  }),

  route({
    method: 'DELETE',
    path: '/admin/v1/tenants/{id}/tokens/{username}',
    id: 'revokeCredential',
    tag,
    summary: 'Revoke a credential',
    description: 'From the answer on it works nowhere. Asking again answers 204 again.',
    callers: ['admin', 'service_account'],
    tenantParam: 'id',
    params: ofCredential,
    query: noQuery,
    responses: { 204: { description: 'The credential is revoked.' } },
    refusals: ['tenant.unknown', 'credential.unknown', 'credential.not-yours'],
  })(async ({ params: { id, username }, caller, cause }, { run, reads }) => {
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const wish = {
      username,
      tenant_id: id,
      incarnation: tenant.incarnation,
      by: caller.kind === 'service_account' ? caller.account.id : undefined,
    };
    const outcome = await run(revokeCredential, wish, cause);
    return outcome.accepted ? { status: 204 } : outcome;
  }),
];
