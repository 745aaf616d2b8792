import type { ReadModels } from '../core/ports.ts';
import type { Change } from '../core/projection.ts';
import { projection } from './define.ts';

/** A tombstone: what its id names is dead from `at` on. */
export type Tombstone = { readonly at: string };

/** The ids of tombstones, by what they end. */
export const tombstone = {
  tenant: (incarnation: string): string => `tenant:${incarnation}`,
  user: (user_id: string): string => `user:${user_id}`,
  serviceAccount: (id: string): string => `service_account:${id}`,
  bearer: (id: string, generation: number): string => `bearer:${id}#${generation}`,
  /** Everything that a service account minted. */
  mintedBy: (id: string): string => `minted_by:${id}`,
  credential: (username: string): string => `credential:${username}`,
};

/** Lays a tombstone; where there is one already, the earlier end holds, so order and repetition do not matter. */
const end = (id: string, at: string): Change<Tombstone> => ({
  id,
  to: (current) => (current !== undefined && current.at <= at ? current : { at }),
});

/** The grow-only set of all that has been ended before its time. */
export const revocations = projection<Tombstone>({
  name: 'revocations',
  version: 1,
  kind: 'tombstones',
  on: {
    TenantDeleted: ({ data, time }) => [end(tombstone.tenant(data.incarnation), time)],
    UserDeleted: ({ data, time }) => [end(tombstone.user(data.user_id), time)],
    ServiceAccountBearerRotated: ({ data }) =>
      data.ends.map(({ generation, until }) =>
        end(tombstone.bearer(data.service_account_id, generation), until),
      ),
    ServiceAccountDeleted: ({ data, time }) => [
      end(tombstone.serviceAccount(data.service_account_id), time),
      ...(data.credentials === 'revoke' ? [end(tombstone.mintedBy(data.service_account_id), time)] : []),
    ],
    CredentialRevoked: ({ data, time }) => [end(tombstone.credential(data.username), time)],
  },
});

/** The earliest end among these tombstones, ISO 8601; absent where none is laid. It can lie ahead (a bearer's grace). */
export const findEnd = async (reads: ReadModels, ids: readonly string[]): Promise<string | undefined> => {
  const laid = reads.documents<Tombstone>('revocations');
  let earliest: string | undefined;
  for (const id of ids) {
    const found = await laid.get(id);
    if (found !== undefined && (earliest === undefined || found.at < earliest)) earliest = found.at;
  }
  return earliest;
};

/** Whether something has ended at `nowMs`, by its own tombstone or by one of those that it hangs from. */
export const isEnded = async (reads: ReadModels, ids: readonly string[], nowMs: number): Promise<boolean> => {
  const at = await findEnd(reads, ids);
  return at !== undefined && Date.parse(at) <= nowMs;
};
