import type { ReadModels } from '../core/ports.ts';
import type { Role } from '../events/fields.ts';
import { projection } from './define.ts';
import type { EventReference } from './event-reference.ts';
import { standing, tombstone, type Standing } from './revocations.ts';

/** A minted credential, as it was minted; whether it still works is the tombstones' and the clock's to say. */
export type Credential = {
  readonly username: string;
  readonly tenant_id: string;
  readonly incarnation: string;
  readonly role: Role;
  readonly write_schemas?: readonly string[] | undefined;
  readonly subject: string;
  readonly service_account_id: string;
  readonly minted_at: string;
  readonly expires_at: string;
  readonly password_digest: string;
  /**
   * The event that minted it. Every mint pays for what is kept here: its type and time are known, and its actor is the
   * account where none is named.
   */
  readonly granted_by: Pick<EventReference, 'id' | 'position'> & { readonly actor?: string };
};

/** The actor of a mint, as events name it. */
export const minterOf = ({ service_account_id }: Pick<Credential, 'service_account_id'>): string =>
  `service_account:${service_account_id}`;

/** The credentials, listed by the tenant's incarnation, and by the account that minted them. */
export const credentials = projection<Credential>({
  name: 'credentials',
  version: 2,
  kind: 'stream',
  group: ({ incarnation }) => incarnation,
  subgroup: ({ service_account_id }) => service_account_id,
  on: {
    CredentialMinted: ({ data, time, id, position, cause }) => [
      {
        id: data.username,
        to: () => ({
          username: data.username,
          tenant_id: data.tenant_id,
          incarnation: data.incarnation,
          role: data.role,
          ...(data.write_schemas === undefined ? {} : { write_schemas: data.write_schemas }),
          subject: data.subject,
          service_account_id: data.service_account_id,
          minted_at: time,
          expires_at: data.expires_at,
          password_digest: data.password_digest,
          granted_by: { id, position, ...(cause.actor === minterOf(data) ? {} : { actor: cause.actor }) },
        }),
      },
    ],
  },
});

/**
 * The credential of this username, whatever its status, if it was minted for a tenant of this id: one that has ended
 * since has ended the credential with it, as `statusOf` says.
 */
export const findCredential = async (
  reads: ReadModels,
  tenantId: string,
  username: string,
): Promise<Credential | undefined> => {
  const credential = await reads.documents<Credential>('credentials').get(username);
  return credential?.tenant_id === tenantId ? credential : undefined;
};

/** How a credential stands at `nowMs`: revoked where anything that it hangs from ended before it expired. */
export const statusOf = (
  reads: ReadModels,
  { username, service_account_id, incarnation, expires_at }: Credential,
  nowMs: number,
): Promise<Standing> =>
  standing(
    reads,
    [tombstone.credential(username), tombstone.mintedBy(service_account_id), tombstone.tenant(incarnation)],
    expires_at,
    nowMs,
  );
