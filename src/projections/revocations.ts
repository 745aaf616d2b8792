import type { ReadModels } from '../core/ports.ts';
import type { Change } from '../core/projection.ts';
import { projection } from './define.ts';

/**
 * A tombstone: what its id names is dead, since `at`. Where that lay `ahead` when it was laid (a bearer's grace), it is
 * dead once the reader's clock has come to it; else at once, whatever the clock of the node that reads it shows.
 */
export type Tombstone = { readonly at: string; readonly ahead?: true };

/** The ids of tombstones, by what they end. */
export const tombstone = {
  tenant: (incarnation: string): string => `tenant:${incarnation}`,
  user: (user_id: string): string => `user:${user_id}`,
  serviceAccount: (id: string): string => `service_account:${id}`,
  bearer: (id: string, generation: number): string => `bearer:${id}#${generation}`,
  /** Everything that a service account minted. */
  mintedBy: (id: string): string => `minted_by:${id}`,
  credential: (username: string): string => `credential:${username}`,
  apiKey: (id: string): string => `api_key:${id}`,
  apiKeyGeneration: (id: string, generation: number): string => `api_key:${id}#${generation}`,
  session: (id: string): string => `session:${id}`,
};

/** Of two ends the earlier one holds, and one that is there beats one that lies ahead. */
const merge = (one: Tombstone, other: Tombstone): Tombstone => ({
  at: one.at < other.at ? one.at : other.at,
  ...(one.ahead === true && other.ahead === true ? { ahead: true } : {}),
});

/** Lays a tombstone by an event of this time; order and repetition do not matter. */
const end = (id: string, at: string, time = at): Change<Tombstone> => {
  const laid: Tombstone = at <= time ? { at } : { at, ahead: true };
  return { id, to: (current) => (current === undefined ? laid : merge(current, laid)) };
};

/** The grow-only set of all that has been ended before its time. */
export const revocations = projection<Tombstone>({
  name: 'revocations',
  version: 2,
  kind: 'tombstones',
  on: {
    TenantDeleted: ({ data, time }) => [end(tombstone.tenant(data.incarnation), time)],
    UserDeleted: ({ data, time }) => [end(tombstone.user(data.user_id), time)],
    ServiceAccountBearerRotated: ({ data, time }) =>
      data.ends.map(({ generation, until }) =>
        end(tombstone.bearer(data.service_account_id, generation), until, time),
      ),
    ServiceAccountDeleted: ({ data, time }) => [
      end(tombstone.serviceAccount(data.service_account_id), time),
      ...(data.credentials === 'revoke' ? [end(tombstone.mintedBy(data.service_account_id), time)] : []),
    ],
    CredentialRevoked: ({ data, time }) => [end(tombstone.credential(data.username), time)],
    ApiKeyRolled: ({ data, time }) =>
      data.ends.map(({ generation, until }) =>
        end(tombstone.apiKeyGeneration(data.api_key_id, generation), until, time),
      ),
    ApiKeyRevoked: ({ data, time }) => [end(tombstone.apiKey(data.api_key_id), time)],
    SignedOut: ({ data, time }) => [end(tombstone.session(data.session_id), time)],
  },
});

/** The earliest end among these tombstones, ISO 8601; absent where none is laid. It can lie ahead (a bearer's grace). */
export const findEnd = async (reads: ReadModels, ids: readonly string[]): Promise<string | undefined> => {
  let earliest: string | undefined;
  for (const found of await reads.documents<Tombstone>('revocations').getMany(ids)) {
    if (found !== undefined && (earliest === undefined || found.at < earliest)) earliest = found.at;
  }
  return earliest;
};

const holds = ({ at, ahead }: Tombstone, nowMs: number): boolean => ahead !== true || Date.parse(at) <= nowMs;

/** Whether something has ended at `nowMs`, by its own tombstone or by one of those that it hangs from. */
export const isEnded = async (reads: ReadModels, ids: readonly string[], nowMs: number): Promise<boolean> => {
  const found = await reads.documents<Tombstone>('revocations').getMany(ids);
  return found.some((it) => it !== undefined && holds(it, nowMs));
};

/** Ended before its time, ended by its time, or working. */
export type Standing = 'active' | 'expired' | 'revoked';

/** How something stands at `nowMs` that ends by any of these tombstones, or at its expiry, whichever came first. */
export const standing = async (
  reads: ReadModels,
  ids: readonly string[],
  expires_at: string | null,
  nowMs: number,
): Promise<Standing> => {
  const isExpired = expires_at !== null && Date.parse(expires_at) <= nowMs;
  for (const found of await reads.documents<Tombstone>('revocations').getMany(ids)) {
    if (found === undefined || !holds(found, nowMs)) continue;
    if (!isExpired || found.at < expires_at) return 'revoked';
  }
  return isExpired ? 'expired' : 'active';
};
