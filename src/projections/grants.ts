import type { Role } from '../events/fields.ts';
import { projection } from './define.ts';
import { referenceTo, type EventReference } from './event-reference.ts';

type OfTenant = { readonly tenant_id: string; readonly incarnation: string };

/**
 * A secret that was given to a user, a service account or an application: the life of a user, a generation of a bearer
 * or of an API key. It is never changed; what ended it is the tombstones' and the clock's to say. Credentials are
 * grants too, and have a read model already.
 */
export type Grant = OfTenant & {
  /** Of a user the `user_id`. */
  readonly id: string;
  readonly from: string;
  readonly granted_by: EventReference;
} & (
    | { readonly kind: 'user'; readonly name: string; readonly role: Role }
    /** Name and role are the account's, and stand in its first generation alone. */
    | {
        readonly kind: 'service_account';
        readonly generation: number;
        readonly name?: string;
        readonly role?: Role;
      }
    /** The name is the key's, and stands in its first generation alone. */
    | {
        readonly kind: 'api_key';
        readonly generation: number;
        readonly name?: string;
        readonly role: Role;
        readonly expires_at: string | null;
      }
  );

/** Where the grant of a generation is kept. */
export const generationId = (kind: 'service_account' | 'api_key', id: string, generation: number): string =>
  `${kind}:${id}#${generation}`;

/** The list of all that a name in a tenant ever had, whatever its case and in whichever life of the tenant. */
export const grantsOfUser = (tenantId: string, username: string): string =>
  `user:${tenantId}/${username.toLowerCase()}`;

/** The list of all the generations of a service account's bearer or of an API key. */
export const grantsOf = (kind: 'service_account' | 'api_key', id: string): string => `${kind}:${id}`;

const ofTenant = ({ tenant_id, incarnation }: OfTenant): OfTenant => ({ tenant_id, incarnation });

/** Every grant but the credentials, listed by the tenant's incarnation, and by to whom it was given. */
export const grants = projection<Grant>({
  name: 'grants',
  version: 1,
  kind: 'stream',
  group: ({ incarnation }) => incarnation,
  subgroup: (grant) =>
    grant.kind === 'user' ? grantsOfUser(grant.tenant_id, grant.name) : grantsOf(grant.kind, grant.id),
  on: {
    UserCreated: (event) => {
      const { data, time: from } = event;
      const { user_id: id, username: name, role } = data;
      const granted_by = referenceTo(event);
      return [
        {
          id: `user:${id}`,
          to: () => ({ kind: 'user', id, ...ofTenant(data), name, role, from, granted_by }),
        },
      ];
    },
    ServiceAccountCreated: (event) => {
      const { data, time: from } = event;
      const { service_account_id: id, name, max_role: role } = data;
      const own = { kind: 'service_account', id, generation: 1, name, role } as const;
      const to = (): Grant => ({ ...own, ...ofTenant(data), from, granted_by: referenceTo(event) });
      return [{ id: generationId('service_account', id, 1), to }];
    },
    ServiceAccountBearerRotated: (event) => {
      const { data, time: from } = event;
      const { service_account_id: id, generation } = data;
      const own = { kind: 'service_account', id, generation } as const;
      const to = (): Grant => ({ ...own, ...ofTenant(data), from, granted_by: referenceTo(event) });
      return [{ id: generationId('service_account', id, generation), to }];
    },
    ApiKeyCreated: (event) => {
      const { data, time: from } = event;
      const { api_key_id: id, name, role, expires_at } = data;
      const own = { kind: 'api_key', id, generation: 1, name, role, expires_at } as const;
      const to = (): Grant => ({ ...own, ...ofTenant(data), from, granted_by: referenceTo(event) });
      return [{ id: generationId('api_key', id, 1), to }];
    },
    ApiKeyRolled: (event) => {
      const { data, time: from } = event;
      const { api_key_id: id, generation, role, expires_at } = data;
      const own = { kind: 'api_key', id, generation, role, expires_at } as const;
      const to = (): Grant => ({ ...own, ...ofTenant(data), from, granted_by: referenceTo(event) });
      return [{ id: generationId('api_key', id, generation), to }];
    },
  },
});
