import { z } from 'zod';
import { createServiceAccount, deleteServiceAccount, rotateBearer } from '../../commands/service-account.ts';
import { refuse } from '../../core/command.ts';
import { findServiceAccount, onlyAlive, type ServiceAccount } from '../../projections/service-accounts.ts';
import { findTenant } from '../../projections/tenants.ts';
import { listOf } from '../lists.ts';
import { route } from '../route.ts';
import {
  displayName,
  instant,
  listQuery,
  noParams,
  noQuery,
  role,
  secondsMax,
  serviceAccountId,
  tenantId,
} from '../schemas.ts';
import { unknownTenant } from './found.ts';

const maxTtlSecs = z.int().min(1).max(secondsMax);

const fields = {
  id: z.string().meta({ example: 'sa_019aa5b0c1d27c3e8f4a5b6c7d8e9f00' }),
  name: displayName,
  tenant_id: tenantId,
  max_role: role,
  max_ttl_secs: maxTtlSecs,
  created_at: instant,
};

const serviceAccount = z
  .object(fields)
  .meta({ id: 'ServiceAccount', description: 'A machine identity of one tenant, that mints credentials.' });

const withBearer = z
  .object({
    ...fields,
    bearer: z.string().meta({ description: 'Shown here only; it cannot be read again.' }),
  })
  .meta({ id: 'ServiceAccountWithBearer' });

const params = z.strictObject({ id: serviceAccountId });
const tag = 'Service accounts';

const view = ({ incarnation: _incarnation, ...account }: ServiceAccount) => account;

const unknownAccount = (id: string) =>
  refuse('service-account.unknown', `There is no service account ${id}.`);

export const serviceAccountRoutes = [
  route({
    method: 'POST',
    path: '/admin/v1/service-accounts',
    id: 'createServiceAccount',
    tag,
    summary: 'Create a service account',
    description: 'The answer holds the `bearer`, here and never again.',
    callers: ['admin'],
    params: noParams,
    query: noQuery,
    body: z.strictObject({
      name: displayName,
      tenant_id: tenantId,
      max_role: role,
      max_ttl_secs: maxTtlSecs,
    }),
    responses: {
      201: { description: 'The service account with its bearer.', body: withBearer, headers: ['Location'] },
    },
    refusals: ['tenant.unknown', 'service-account.exists'],
  })(async ({ body, cause }, { run, reads, secrets }) => {
    const tenant = await findTenant(reads, body.tenant_id);
    if (tenant === undefined) return unknownTenant(body.tenant_id);
    const id = secrets.newId('sa_');
    const bearer = secrets.fresh('sab_');
    const wish = {
      ...body,
      service_account_id: id,
      incarnation: tenant.incarnation,
      bearer_digest: bearer.digest,
    };
    const outcome = await run(createServiceAccount, wish, cause);
    if (!outcome.accepted) return outcome;
    const created_at = outcome.events[0]?.time ?? '';
    return {
      status: 201,
      headers: { Location: `/admin/v1/service-accounts/${id}` },
      body: { id, ...body, created_at, bearer: bearer.value },
    };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/service-accounts',
    id: 'listServiceAccounts',
    tag,
    summary: 'List the service accounts',
    description: 'Those of every tenant, or of one, without their bearers.',
    callers: ['admin'],
    params: noParams,
    query: listQuery.extend({
      tenant_id: tenantId.optional().meta({ description: 'Only the service accounts of this tenant.' }),
    }),
    responses: {
      200: {
        description: 'The service accounts, oldest first.',
        body: z.array(serviceAccount),
        headers: ['Link'],
      },
    },
    refusals: [],
  })(async ({ query, url }, { reads }) => {
    const tenant = query.tenant_id === undefined ? undefined : await findTenant(reads, query.tenant_id);
    if (query.tenant_id !== undefined && tenant === undefined) return { status: 200, body: [] };
    const documents = reads.documents<ServiceAccount>('service_accounts');
    const list = tenant === undefined ? {} : { subgroup: tenant.incarnation };
    const answer = await listOf(documents, list, url, query, async (accounts) => {
      const alive = await onlyAlive(reads, accounts);
      return accounts.map((account, at) => (alive[at] === true ? view(account) : undefined));
    });
    return { status: 200, ...answer };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/service-accounts/{id}',
    id: 'getServiceAccount',
    tag,
    summary: 'Get a service account',
    callers: ['admin'],
    params,
    query: noQuery,
    responses: { 200: { description: 'The service account.', body: serviceAccount } },
    refusals: ['service-account.unknown'],
  })(async ({ params: { id } }, { reads }) => {
    const account = await findServiceAccount(reads, id);
    return account === undefined ? unknownAccount(id) : { status: 200, body: view(account) };
  }),

  route({
    method: 'POST',
    path: '/admin/v1/service-accounts/{id}/rotate',
    id: 'rotateServiceAccountBearer',
    tag,
    summary: 'Give a service account a new bearer',
    description:
      'The old bearer stops working at once, or `grace_secs` later. A rotation without grace ends every earlier bearer.',
    callers: ['admin'],
    params,
    query: noQuery,
    body: z.strictObject({ grace_secs: z.int().min(0).max(secondsMax).default(0) }),
    bodyOptional: true,
    responses: { 200: { description: 'The service account with its new bearer.', body: withBearer } },
    refusals: ['service-account.unknown'],
  })(async ({ params: { id }, body, cause }, { run, reads, secrets, clock }) => {
    const account = await findServiceAccount(reads, id);
    if (account === undefined) return unknownAccount(id);
    const bearer = secrets.fresh('sab_');
    const wish = {
      service_account_id: id,
      bearer_digest: bearer.digest,
      grace_secs: body.grace_secs,
      atMs: clock(),
    };
    const outcome = await run(rotateBearer, wish, cause);
    return outcome.accepted ? { status: 200, body: { ...view(account), bearer: bearer.value } } : outcome;
  }),

  route({
    method: 'DELETE',
    path: '/admin/v1/service-accounts/{id}',
    id: 'deleteServiceAccount',
    tag,
    summary: 'Delete a service account',
    description:
      'Its bearer stops working at once, and what it minted is revoked in the same act; `credentials=keep` lets that live until it expires. Idempotent.',
    callers: ['admin'],
    params,
    query: z.strictObject({ credentials: z.enum(['revoke', 'keep']).default('revoke') }),
    responses: { 204: { description: 'The service account is gone.' } },
    refusals: [],
  })(async ({ params: { id }, query, cause }, { run }) => {
    await run(deleteServiceAccount, { service_account_id: id, credentials: query.credentials }, cause);
    return { status: 204 };
  }),
];
