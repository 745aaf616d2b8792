import { accept, command, refuse, type Fold } from '../core/command.ts';
import type { Role } from '../events/fields.ts';
import type { ServiceAccountFact } from '../events/service-account.ts';
import { nextGeneration, type Generations } from './generations.ts';

/** A service account as its bearers make it: `graced` are the earlier generations that may still work. */
type ServiceAccount =
  | { readonly status: 'none' }
  | {
      readonly status: 'deleted';
      readonly tenant_id: string;
      readonly incarnation: string;
      readonly credentials: 'revoke' | 'keep';
    }
  | (Generations & {
      readonly status: 'alive';
      readonly tenant_id: string;
      readonly incarnation: string;
    });

/** Asks for a service account; id and bearer are fresh, and of the bearer only the digest comes here. */
export type CreateServiceAccount = {
  readonly service_account_id: string;
  readonly tenant_id: string;
  readonly incarnation: string;
  readonly name: string;
  readonly max_role: Role;
  readonly max_ttl_secs: number;
  readonly bearer_digest: string;
};

/** Asks for a new bearer at `atMs`; earlier ones may work `grace_secs` longer, and never longer than they already may. */
export type RotateBearer = {
  readonly service_account_id: string;
  readonly bearer_digest: string;
  readonly grace_secs: number;
  readonly atMs: number;
};

/** Asks that a service account end; what it minted ends with it, unless it is to be kept. */
export type DeleteServiceAccount = {
  readonly service_account_id: string;
  readonly credentials: 'revoke' | 'keep';
};

const stream = (wish: { service_account_id: string }): string => `service_account-${wish.service_account_id}`;

const serviceAccount: Fold<ServiceAccount, ServiceAccountFact> = {
  initial: { status: 'none' },
  on: {
    ServiceAccountCreated: (_, { tenant_id, incarnation }) => ({
      status: 'alive',
      tenant_id,
      incarnation,
      generation: 1,
      graced: [],
    }),
    ServiceAccountBearerRotated: (state, { generation, ends }) =>
      state.status === 'alive' ? { ...state, generation, graced: ends } : state,
    ServiceAccountDeleted: (_, { tenant_id, incarnation, credentials }) => ({
      status: 'deleted',
      tenant_id,
      incarnation,
      credentials,
    }),
  },
};

const unknown = (id: string) => refuse('service-account.unknown', `There is no service account ${id}.`);

/** Makes a service account. */
export const createServiceAccount = command({
  name: 'CreateServiceAccount',
  stream,
  startsStream: true,
  fold: serviceAccount,
  decide: (wish: CreateServiceAccount, state) =>
    state.status === 'none'
      ? accept({ type: 'ServiceAccountCreated', data: wish })
      : refuse('service-account.exists', `There is a service account ${wish.service_account_id} already.`),
});

/** Gives the account a new bearer; `service-account.unknown` where there is none. */
export const rotateBearer = command({
  name: 'RotateBearer',
  stream,
  fold: serviceAccount,
  decide: ({ service_account_id, bearer_digest, grace_secs, atMs }: RotateBearer, state) => {
    if (state.status !== 'alive') return unknown(service_account_id);
    const { tenant_id, incarnation } = state;
    return accept({
      type: 'ServiceAccountBearerRotated',
      data: {
        service_account_id,
        tenant_id,
        incarnation,
        bearer_digest,
        grace_secs,
        ...nextGeneration(state, grace_secs, atMs),
      },
    });
  },
});

/** Ends a service account; one that is not there has ended already. */
export const deleteServiceAccount = command({
  name: 'DeleteServiceAccount',
  stream,
  fold: serviceAccount,
  decide: ({ service_account_id, credentials }: DeleteServiceAccount, state) => {
    if (state.status === 'none') return accept();
    // What an earlier deletion kept still works: to ask again without keeping it is another wish.
    if (state.status === 'deleted' && (state.credentials === 'revoke' || credentials === 'keep'))
      return accept();
    const { tenant_id, incarnation } = state;
    return accept({
      type: 'ServiceAccountDeleted',
      data: { service_account_id, tenant_id, incarnation, credentials },
    });
  },
});
