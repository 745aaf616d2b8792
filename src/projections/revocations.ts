import type { ReadModels } from '../core/ports.ts';
import type { Change } from '../core/projection.ts';
import type { DomainEvent } from '../events/index.ts';
import { projection } from './define.ts';
import { referenceTo, type EventReference } from './event-reference.ts';

/**
 * A tombstone: what its id names is dead, since `at`. Where that lay `ahead` when it was laid (a bearer's grace), it is
 * dead once the reader's clock has come to it; else at once, whatever the clock of the node that reads it shows. `by`
 * is the event whose end held; one that was laid by an earlier version of this read model has none until it is rebuilt.
 */
export type Tombstone = { readonly at: string; readonly ahead?: true; readonly by?: EventReference };

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

/** Whether `one` holds against `other`: the earlier end, and of two at the same time the one that the log has first. */
const isBefore = (one: Tombstone, other: Tombstone): boolean =>
  one.at === other.at
    ? one.by !== undefined && (other.by === undefined || one.by.position < other.by.position)
    : one.at < other.at;

/** Of two ends the earlier one holds, and one that is there beats one that lies ahead. */
const merge = (one: Tombstone, other: Tombstone): Tombstone => {
  const { at, by } = isBefore(other, one) ? other : one;
  return {
    at,
    ...(one.ahead === true && other.ahead === true ? { ahead: true } : {}),
    ...(by === undefined ? {} : { by }),
  };
};

/** Lays a tombstone by an event; order and repetition do not matter. */
const end = (id: string, event: DomainEvent, at = event.time): Change<Tombstone> => {
  const by = referenceTo(event);
  const laid: Tombstone = at <= event.time ? { at, by } : { at, ahead: true, by };
  return { id, to: (current) => (current === undefined ? laid : merge(current, laid)) };
};

/** The grow-only set of all that has been ended before its time. */
export const revocations = projection<Tombstone>({
  name: 'revocations',
  version: 3,
  kind: 'tombstones',
  on: {
    TenantDeleted: (event) => [end(tombstone.tenant(event.data.incarnation), event)],
    UserDeleted: (event) => [end(tombstone.user(event.data.user_id), event)],
    ServiceAccountBearerRotated: (event) =>
      event.data.ends.map(({ generation, until }) =>
        end(tombstone.bearer(event.data.service_account_id, generation), event, until),
      ),
    ServiceAccountDeleted: (event) => [
      end(tombstone.serviceAccount(event.data.service_account_id), event),
      ...(event.data.credentials === 'revoke'
        ? [end(tombstone.mintedBy(event.data.service_account_id), event)]
        : []),
    ],
    CredentialRevoked: (event) => [end(tombstone.credential(event.data.username), event)],
    ApiKeyRolled: (event) =>
      event.data.ends.map(({ generation, until }) =>
        end(tombstone.apiKeyGeneration(event.data.api_key_id, generation), event, until),
      ),
    ApiKeyRevoked: (event) => [end(tombstone.apiKey(event.data.api_key_id), event)],
    SignedOut: (event) => [end(tombstone.session(event.data.session_id), event)],
  },
});

/** What holds among these tombstones: the earliest, and the event that laid it; absent where none is laid. */
export const earliest = (found: readonly (Tombstone | undefined)[]): Tombstone | undefined =>
  found.reduce<Tombstone | undefined>(
    (held, one) => (one !== undefined && (held === undefined || isBefore(one, held)) ? one : held),
    undefined,
  );

/** The earliest end among these tombstones, ISO 8601; absent where none is laid. It can lie ahead (a bearer's grace). */
export const findEnd = async (reads: ReadModels, ids: readonly string[]): Promise<string | undefined> =>
  earliest(await reads.documents<Tombstone>('revocations').getMany(ids))?.at;

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
