import { accept, command, refuse, type Fold } from '../core/command.ts';
import type { TenantFact } from '../events/tenant.ts';

/** A tenant id's whole history: each life is an incarnation, and only the last can be alive. */
type Tenant = { readonly lives: number; readonly alive: boolean };

/** Asks for a tenant under this id. */
export type CreateTenant = { readonly tenant_id: string };

/** Asks that a tenant end, with everything in it. */
export type DeleteTenant = { readonly tenant_id: string };

const stream = (wish: { tenant_id: string }): string => `tenant-${wish.tenant_id}`;

const tenant: Fold<Tenant, TenantFact> = {
  initial: { lives: 0, alive: false },
  on: {
    TenantCreated: (state) => ({ lives: state.lives + 1, alive: true }),
    TenantDeleted: (state) => ({ ...state, alive: false }),
  },
};

/** Makes a tenant; `tenant.exists` where one of this id is alive. */
export const createTenant = command({
  name: 'CreateTenant',
  stream,
  startsStream: true,
  fold: tenant,
  decide: ({ tenant_id }: CreateTenant, state) =>
    state.alive
      ? refuse('tenant.exists', `There is a tenant ${tenant_id} already.`)
      : accept({
          type: 'TenantCreated',
          data: { tenant_id, incarnation: `${tenant_id}~${state.lives + 1}` },
        }),
});

/** Ends a tenant; one that is not there has ended already. */
export const deleteTenant = command({
  name: 'DeleteTenant',
  stream,
  fold: tenant,
  decide: ({ tenant_id }: DeleteTenant, state) =>
    state.alive
      ? accept({
          type: 'TenantDeleted',
          data: { tenant_id, incarnation: `${tenant_id}~${state.lives}` },
        })
      : accept(),
});
