import type { ReadModels } from '../core/ports.ts';
import type { Role } from '../events/fields.ts';
import { projection } from './define.ts';
import { standing, tombstone, type Standing } from './revocations.ts';

/** An API key without its secret; `prefix` is how the newest one begins. Whether it still works is for `apiKeyStanding`. */
export type ApiKey = {
  readonly id: string;
  readonly workspace_id: string;
  readonly incarnation: string;
  readonly name: string;
  readonly role: Role;
  readonly created_by: string;
  /** The user who made it; absent where an API key did. */
  readonly user_id?: string | undefined;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly prefix: string;
};

/** What a request with a key needs to know; its id is the key's digest. */
export type ApiKeySecret = {
  readonly api_key_id: string;
  readonly generation: number;
  readonly workspace_id: string;
  readonly incarnation: string;
  readonly role: Role;
  readonly expires_at: string | null;
  /** The id of the event that gave the secret out. */
  readonly given_by: string;
};

/** The last use that was stated on a day. */
type ApiKeyUse = { readonly used_at: string };

/** The API keys, listed by the tenant's incarnation, and by the user who made them. */
export const apiKeys = projection<ApiKey>({
  name: 'api_keys',
  version: 2,
  kind: 'stream',
  group: ({ incarnation }) => incarnation,
  subgroup: ({ user_id, created_by }) => user_id ?? created_by,
  on: {
    ApiKeyCreated: ({ data, time }) => [
      {
        id: data.api_key_id,
        to: () => ({
          id: data.api_key_id,
          workspace_id: data.tenant_id,
          incarnation: data.incarnation,
          name: data.name,
          role: data.role,
          created_by: data.created_by,
          ...(data.created_by_user_id === undefined ? {} : { user_id: data.created_by_user_id }),
          created_at: time,
          expires_at: data.expires_at,
          prefix: data.prefix,
        }),
      },
    ],
    ApiKeyRolled: ({ data }) => [
      { id: data.api_key_id, to: (key) => key && { ...key, prefix: data.prefix } },
    ],
  },
});

/** The keys ever given out, by digest; which of them still work is the tombstones' and the clock's to say. */
export const apiKeySecrets = projection<ApiKeySecret>({
  name: 'api_key_secrets',
  version: 2,
  kind: 'stream',
  on: {
    ApiKeyCreated: ({ data, id }) => [
      { id: data.key_digest, to: () => secretOf({ ...data, generation: 1 }, id) },
    ],
    ApiKeyRolled: ({ data, id }) => [{ id: data.key_digest, to: () => secretOf(data, id) }],
  },
});

const secretOf = (
  data: Omit<ApiKeySecret, 'workspace_id' | 'given_by'> & { readonly tenant_id: string },
  given_by: string,
): ApiKeySecret => ({
  api_key_id: data.api_key_id,
  generation: data.generation,
  workspace_id: data.tenant_id,
  incarnation: data.incarnation,
  role: data.role,
  expires_at: data.expires_at,
  given_by,
});

/** The days on which a key was in use, listed by the key. */
export const apiKeyUses = projection<ApiKeyUse>({
  name: 'api_key_uses',
  version: 1,
  kind: 'stream',
  group: (_, id) => id.slice(0, id.indexOf('/')),
  on: {
    ApiKeyUsed: ({ data }) => [
      { id: `${data.api_key_id}/${data.used_at.slice(0, 10)}`, to: () => ({ used_at: data.used_at }) },
    ],
  },
});

/** When the key was last in use, to within five minutes; `null` where it never was. */
export const findLastUse = async (reads: ReadModels, id: string): Promise<string | null> => {
  const documents = reads.documents<ApiKeyUse>('api_key_uses');
  const [latest] = await documents.page({ group: id, order: 'desc', limit: 1 });
  return latest?.document.used_at ?? null;
};

/** The key of this id, whatever its standing, if it is of this incarnation of the tenant. */
export const findApiKey = async (
  reads: ReadModels,
  incarnation: string,
  id: string,
): Promise<ApiKey | undefined> => {
  const key = await reads.documents<ApiKey>('api_keys').get(id);
  return key?.incarnation === incarnation ? key : undefined;
};

/** How a key stands at `nowMs`. */
export const apiKeyStanding = (
  reads: ReadModels,
  { id, incarnation, expires_at }: ApiKey,
  nowMs: number,
): Promise<Standing> =>
  standing(reads, [tombstone.apiKey(id), tombstone.tenant(incarnation)], expires_at, nowMs);

/** Whose the key of this digest is, and how it stands at `nowMs`; absent where it was never given out. */
export const findByKey = async (
  reads: ReadModels,
  digest: string,
  nowMs: number,
): Promise<{ readonly secret: ApiKeySecret; readonly standing: Standing } | undefined> => {
  const secret = await reads.documents<ApiKeySecret>('api_key_secrets').get(digest);
  if (secret === undefined) return undefined;
  const { api_key_id, generation, incarnation, expires_at } = secret;
  const ends = [
    tombstone.apiKeyGeneration(api_key_id, generation),
    tombstone.apiKey(api_key_id),
    tombstone.tenant(incarnation),
  ];
  return { secret, standing: await standing(reads, ends, expires_at, nowMs) };
};
