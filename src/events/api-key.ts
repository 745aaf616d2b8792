import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { digest, ends, instant, ofTenant, role } from './fields.ts';

const ofKey = { api_key_id: z.string(), ...ofTenant };

/** What every generation of a key has: the digest it is found by, the characters that people tell it by, what it may. */
const generation = { key_digest: digest, prefix: z.string(), role, expires_at: instant.nullable() };

/**
 * An API key was made for an application; `created_by` is the actor that made it. Of a user the id is kept too: the same
 * name made again is another user.
 */
export const ApiKeyCreated = event(
  'ApiKeyCreated',
  1,
  z.strictObject({
    ...ofKey,
    name: z.string(),
    created_by: z.string(),
    created_by_user_id: z.uuid().exactOptional(),
    ...generation,
  }),
  ['key_digest'],
);

/** A new generation of the key took over; `ends` says until when each earlier one that still worked may work. */
export const ApiKeyRolled = event(
  'ApiKeyRolled',
  1,
  z.strictObject({
    ...ofKey,
    generation: z.int(),
    overlap_secs: z.int(),
    ends,
    ...generation,
  }),
  ['key_digest'],
);

/** An API key was ended, with all its generations. */
export const ApiKeyRevoked = event('ApiKeyRevoked', 1, z.strictObject(ofKey));

/** An API key was in use; stated once in a few minutes at most, in a stream for each key and day. */
export const ApiKeyUsed = event('ApiKeyUsed', 1, z.strictObject({ ...ofKey, used_at: instant }));

/** Everything that can happen to an API key. */
export type ApiKeyFact = FactOf<typeof ApiKeyCreated | typeof ApiKeyRolled | typeof ApiKeyRevoked>;

/** What is told of the use of an API key on one day. */
export type ApiKeyUseFact = FactOf<typeof ApiKeyUsed>;
