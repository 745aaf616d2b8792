import { z } from 'zod';
import { createTenant, deleteTenant } from '../../commands/tenant.ts';
import { findTenant, type Tenant } from '../../projections/tenants.ts';
import { listOf } from '../lists.ts';
import { route } from '../route.ts';
import { instant, listQuery, noParams, noQuery, tenantId } from '../schemas.ts';
import { unknownTenant } from './found.ts';

const tenant = z
  .object({ id: tenantId, created_at: instant })
  .meta({ id: 'Tenant', description: 'A database, as clients connect to it.' });

const params = z.strictObject({ id: tenantId });
const tag = 'Tenants';

const view = ({ id, created_at }: Tenant) => ({ id, created_at });

export const tenantRoutes = [
  route({
    method: 'POST',
    path: '/admin/v1/tenants',
    id: 'createTenant',
    tag,
    summary: 'Create a tenant',
    callers: ['admin'],
    params: noParams,
    query: noQuery,
    body: z.strictObject({ id: tenantId }),
    responses: { 201: { description: 'The tenant.', body: tenant, headers: ['Location'] } },
    refusals: ['tenant.exists'],
  })(async ({ body, cause }, { run }) => {
    const outcome = await run(createTenant, { tenant_id: body.id }, cause);
    if (!outcome.accepted) return outcome;
    const created_at = outcome.events[0]?.time ?? '';
    return {
      status: 201,
      headers: { Location: `/admin/v1/tenants/${body.id}` },
      body: { id: body.id, created_at },
    };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/tenants',
    id: 'listTenants',
    tag,
    summary: 'List the tenants',
    callers: ['admin'],
    params: noParams,
    query: listQuery,
    responses: {
      200: { description: 'The tenants, oldest first.', body: z.array(tenant), headers: ['Link'] },
    },
    refusals: [],
  })(async ({ query, url }, { reads }) => {
    const documents = reads.documents<Tenant>('tenants');
    return {
      status: 200,
      ...(await listOf(documents, {}, url, query, async (items) => items.map(view))),
    };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}',
    id: 'getTenant',
    tag,
    summary: 'Get a tenant',
    callers: ['admin'],
    params,
    query: noQuery,
    responses: { 200: { description: 'The tenant.', body: tenant } },
    refusals: ['tenant.unknown'],
  })(async ({ params: { id } }, { reads }) => {
    const found = await findTenant(reads, id);
    return found === undefined ? unknownTenant(id) : { status: 200, body: view(found) };
  }),

  route({
    method: 'DELETE',
    path: '/admin/v1/tenants/{id}',
    id: 'deleteTenant',
    tag,
    summary: 'Delete a tenant',
    description:
      'Ends the tenant and everything in it at once: users, service accounts, credentials. Idempotent. Parquet files in object storage are not deleted.',
    callers: ['admin'],
    params,
    query: noQuery,
    responses: { 204: { description: 'The tenant is gone.' } },
    refusals: [],
  })(async ({ params: { id }, cause }, { run }) => {
    await run(deleteTenant, { tenant_id: id }, cause);
    return { status: 204 };
  }),
];
