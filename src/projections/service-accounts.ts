import type { ReadModels } from '../core/ports.ts';
import type { Role } from '../events/fields.ts';
import { projection } from './define.ts';
import { findEnd, isEnded, tombstone } from './revocations.ts';

/** A service account with the incarnation of its tenant; bearers are kept apart. */
export type ServiceAccount = {
  readonly id: string;
  readonly name: string;
  readonly tenant_id: string;
  readonly max_role: Role;
  readonly max_ttl_secs: number;
  readonly created_at: string;
  readonly incarnation: string;
};

/** Whose a bearer is, and the id of the event that gave it out; its own id is the bearer's digest. */
type Bearer = {
  readonly service_account_id: string;
  readonly generation: number;
  readonly given_by: string;
};

/** The service accounts, in one list, and in one for each tenant's incarnation. */
export const serviceAccounts = projection<ServiceAccount>({
  name: 'service_accounts',
  version: 2,
  kind: 'stream',
  subgroup: ({ incarnation }) => incarnation,
  on: {
    ServiceAccountCreated: ({ data, time }) => [
      {
        id: data.service_account_id,
        to: () => ({
          id: data.service_account_id,
          name: data.name,
          tenant_id: data.tenant_id,
          max_role: data.max_role,
          max_ttl_secs: data.max_ttl_secs,
          created_at: time,
          incarnation: data.incarnation,
        }),
      },
    ],
    ServiceAccountDeleted: ({ data }) => [{ id: data.service_account_id, to: () => undefined }],
  },
});

/** The bearers ever given out, by digest; which of them still work is the tombstones' to say. */
export const bearers = projection<Bearer>({
  name: 'bearers',
  version: 2,
  kind: 'stream',
  on: {
    ServiceAccountCreated: ({ data, id }) => [
      { id: data.bearer_digest, to: () => bearerOf({ ...data, generation: 1 }, id) },
    ],
    ServiceAccountBearerRotated: ({ data, id }) => [{ id: data.bearer_digest, to: () => bearerOf(data, id) }],
  },
});

const bearerOf = (
  { service_account_id, generation }: Omit<Bearer, 'given_by'>,
  given_by: string,
): Bearer => ({ service_account_id, generation, given_by });

/** What an account hangs from: it ends with any of these. */
const endsOf = ({ id, incarnation }: ServiceAccount): readonly string[] => [
  tombstone.serviceAccount(id),
  tombstone.tenant(incarnation),
];

const isAlive = async (reads: ReadModels, account: ServiceAccount): Promise<boolean> =>
  (await findEnd(reads, endsOf(account))) === undefined;

/** The service account of this id, if it and its tenant are alive. */
export const findServiceAccount = async (
  reads: ReadModels,
  id: string,
): Promise<ServiceAccount | undefined> => {
  const account = await reads.documents<ServiceAccount>('service_accounts').get(id);
  return account !== undefined && (await isAlive(reads, account)) ? account : undefined;
};

/** Of these accounts those that are alive: a tenant that has ended leaves its accounts' documents behind. */
export const onlyAlive = async (
  reads: ReadModels,
  accounts: readonly ServiceAccount[],
): Promise<readonly boolean[]> => Promise.all(accounts.map((account) => isAlive(reads, account)));

/** The service account whose bearer has this digest, and which event gave that out, if the bearer works at `nowMs`. */
export const findByBearer = async (
  reads: ReadModels,
  digest: string,
  nowMs: number,
): Promise<{ readonly account: ServiceAccount; readonly given_by: string } | undefined> => {
  const bearer = await reads.documents<Bearer>('bearers').get(digest);
  if (bearer === undefined) return undefined;
  const { service_account_id, generation, given_by } = bearer;
  const account = await reads.documents<ServiceAccount>('service_accounts').get(service_account_id);
  if (account === undefined) return undefined;
  // Only a bearer's end can lie ahead, so that one look tells of all three.
  const ends = [tombstone.bearer(service_account_id, generation), ...endsOf(account)];
  return (await isEnded(reads, ends, nowMs)) ? undefined : { account, given_by };
};
