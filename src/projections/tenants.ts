import type { ReadModels } from '../core/ports.ts';
import { projection } from './define.ts';
import { findEnd, tombstone } from './revocations.ts';

/** A tenant that is alive; `incarnation` names this life of the id. */
export type Tenant = { readonly id: string; readonly created_at: string; readonly incarnation: string };

/** The tenants, by id. */
export const tenants = projection<Tenant>({
  name: 'tenants',
  version: 1,
  kind: 'stream',
  on: {
    TenantCreated: ({ data, time }) => [
      {
        id: data.tenant_id,
        to: () => ({ id: data.tenant_id, created_at: time, incarnation: data.incarnation }),
      },
    ],
    TenantDeleted: ({ data }) => [{ id: data.tenant_id, to: () => undefined }],
  },
});

/** One life of a tenant's id, whether it lasts or not. */
export type Incarnation = {
  readonly incarnation: string;
  readonly tenant_id: string;
  readonly created_at: string;
};

/** The lives of tenants, listed by the tenant's id; which of them last is the tombstones' to say. */
export const incarnations = projection<Incarnation>({
  name: 'incarnations',
  version: 1,
  kind: 'stream',
  group: ({ tenant_id }) => tenant_id,
  on: {
    TenantCreated: ({ data: { tenant_id, incarnation }, time }) => [
      { id: incarnation, to: () => ({ incarnation, tenant_id, created_at: time }) },
    ],
  },
});

/** The tenant of this id, if one is alive. */
export const findTenant = async (reads: ReadModels, id: string): Promise<Tenant | undefined> => {
  const tenant = await reads.documents<Tenant>('tenants').get(id);
  if (tenant === undefined) return undefined;
  return (await findEnd(reads, [tombstone.tenant(tenant.incarnation)])) === undefined ? tenant : undefined;
};
