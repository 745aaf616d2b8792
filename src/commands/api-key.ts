import { accept, command, refuse, type Fold } from '../core/command.ts';
import type { ApiKeyFact, ApiKeyUseFact } from '../events/api-key.ts';
import { roles, type Role } from '../events/fields.ts';
import { nextGeneration, type Generations } from './generations.ts';

/** A use is stated again once the last statement is this old: it is then known to within five minutes, in milliseconds. */
export const useStatedEveryMs = 240_000;

/** An API key's life: `graced` are the earlier generations that may still work. */
type ApiKey =
  | { readonly status: 'none' }
  | (Generations & {
      readonly status: 'alive' | 'revoked';
      readonly tenant_id: string;
      readonly incarnation: string;
      readonly role: Role;
      /** The user who made it; absent where an API key did. */
      readonly user_id: string | undefined;
      readonly expires_at: string | null;
    });

type OfTenant = { readonly tenant_id: string; readonly incarnation: string };

/** Who asks: an actor, and the role up to which it may give keys; an admin's word counts for the keys of all. */
export type Asker = { readonly actor: string; readonly role: Role; readonly user_id?: string | undefined };

/** Asks for a key at `atMs`; id and key are fresh, and of the key only the digest and its first characters come here. */
export type CreateApiKey = OfTenant & {
  readonly api_key_id: string;
  readonly name: string;
  readonly role: Role;
  readonly expires_at: string | null;
  readonly key_digest: string;
  readonly prefix: string;
  readonly by: Asker;
  readonly atMs: number;
};

/** Asks for a new secret for a key at `atMs`; the earlier one may work `overlap_secs` longer. */
export type RollApiKey = OfTenant & {
  readonly api_key_id: string;
  readonly key_digest: string;
  readonly prefix: string;
  readonly overlap_secs: number;
  readonly by: Asker;
  readonly atMs: number;
};

/** Asks that a key end. */
export type RevokeApiKey = OfTenant & { readonly api_key_id: string; readonly by: Asker };

/** Says that a key was in use at `atMs`. */
export type NoteApiKeyUse = OfTenant & { readonly api_key_id: string; readonly atMs: number };

const stream = (wish: { api_key_id: string }): string => `api_key-${wish.api_key_id}`;

const apiKey: Fold<ApiKey, ApiKeyFact> = {
  initial: { status: 'none' },
  on: {
    ApiKeyCreated: (_, { tenant_id, incarnation, role, created_by_user_id, expires_at }) => ({
      status: 'alive',
      tenant_id,
      incarnation,
      role,
      user_id: created_by_user_id,
      expires_at,
      generation: 1,
      graced: [],
    }),
    ApiKeyRolled: (state, { generation, ends }) =>
      state.status === 'none' ? state : { ...state, generation, graced: ends },
    ApiKeyRevoked: (state) => (state.status === 'none' ? state : { ...state, status: 'revoked' }),
  },
};

const unknown = ({ api_key_id, tenant_id }: { api_key_id: string; tenant_id: string }) =>
  refuse('api-key.not-found', `There is no API key ${api_key_id} in ${tenant_id}.`);

/** By the user's id: whoever has the name of a user that was deleted is another one. */
const mayChange = (by: Asker, user_id: string | undefined): boolean =>
  by.role === 'admin' || (user_id !== undefined && by.user_id === user_id);

const isAbove = (role: Role, by: Asker): boolean => roles.indexOf(role) > roles.indexOf(by.role);

const roleAboveOwn = ({ role }: Asker) =>
  refuse('api-key.role-above-own', `You may give keys up to the role ${role}.`, '/role');

const notYours = () => refuse('api-key.not-yours', 'Somebody else made this key.');

/** Makes a key, of a role up to that of who makes it, that has not expired already. */
export const createApiKey = command({
  name: 'CreateApiKey',
  stream,
  startsStream: true,
  fold: apiKey,
  decide: ({ by, atMs, ...wish }: CreateApiKey, state) => {
    if (state.status !== 'none') return refuse('api-key.exists', 'This key was made already.');
    if (isAbove(wish.role, by)) return roleAboveOwn(by);
    if (wish.expires_at !== null && Date.parse(wish.expires_at) <= atMs) {
      return refuse('api-key.expiry-in-past', 'Must lie in the future.', '/expires_at');
    }
    const { actor, user_id } = by;
    const maker = { created_by: actor, ...(user_id === undefined ? {} : { created_by_user_id: user_id }) };
    return accept({ type: 'ApiKeyCreated', data: { ...wish, ...maker } });
  },
});

/** Gives a key a new secret, of the same role and expiry; `api-key.ended` where it works no more. */
export const rollApiKey = command({
  name: 'RollApiKey',
  stream,
  fold: apiKey,
  decide: ({ by, atMs, ...wish }: RollApiKey, state) => {
    if (state.status === 'none' || state.incarnation !== wish.incarnation) return unknown(wish);
    if (!mayChange(by, state.user_id)) return notYours();
    const { role, expires_at } = state;
    // A new secret is a new key in the hands of who asks.
    if (isAbove(role, by)) return roleAboveOwn(by);
    if (state.status === 'revoked' || (expires_at !== null && Date.parse(expires_at) <= atMs)) {
      return refuse('api-key.ended', 'The key is revoked or has expired: make another one.');
    }
    return accept({
      type: 'ApiKeyRolled',
      data: { ...wish, role, expires_at, ...nextGeneration(state, wish.overlap_secs, atMs) },
    });
  },
});

/** Ends a key; asking twice is the same wish. */
export const revokeApiKey = command({
  name: 'RevokeApiKey',
  stream,
  fold: apiKey,
  decide: ({ by, ...wish }: RevokeApiKey, state) => {
    if (state.status === 'none' || state.incarnation !== wish.incarnation) return unknown(wish);
    if (!mayChange(by, state.user_id)) return notYours();
    return state.status === 'revoked' ? accept() : accept({ type: 'ApiKeyRevoked', data: wish });
  },
});

/** When a use was last stated on the stream's day, in milliseconds. */
type Use = { readonly statedAtMs: number };

const use: Fold<Use, ApiKeyUseFact> = {
  initial: { statedAtMs: Number.NEGATIVE_INFINITY },
  on: { ApiKeyUsed: (_, { used_at }) => ({ statedAtMs: Date.parse(used_at) }) },
};

/** States that a key was in use, unless it was stated a few minutes ago: one fact stands for a thousand requests. */
export const noteApiKeyUse = command({
  name: 'NoteApiKeyUse',
  // A stream for each day, so that none grows for years.
  stream: ({ api_key_id, atMs }: NoteApiKeyUse) =>
    `api_key_use-${api_key_id}/${new Date(atMs).toISOString().slice(0, 10)}`,
  fold: use,
  decide: ({ atMs, ...ofKey }: NoteApiKeyUse, { statedAtMs }) =>
    atMs - statedAtMs < useStatedEveryMs
      ? accept()
      : accept({ type: 'ApiKeyUsed', data: { ...ofKey, used_at: new Date(atMs).toISOString() } }),
});
