import { z } from 'zod';

/** What a user, a credential or an API key may do, from the least to the most. */
export const roles = ['reader', 'writer', 'admin'] as const;

/** One of the roles. */
export const role = z.enum(roles);

/** One of the roles. */
export type Role = z.infer<typeof role>;

/** An instant in UTC with milliseconds, ISO 8601. */
export const instant = z.iso.datetime();

/**
 * One life of a tenant id, `<tenant id>~<n>`: a tenant that is made again under its old id is another incarnation,
 * and nothing that hangs from an earlier one belongs to it.
 */
export const incarnation = z.string().regex(/^[A-Za-z0-9_-]{1,63}~[1-9][0-9]*$/);

/** A SHA-256 digest in base64url, 43 characters. */
export const digest = z.string().length(43);

/** The ids of the tenant that something belongs to. */
export const ofTenant = { tenant_id: z.string(), incarnation };

/** Generations of a secret that may still work beside the newest, and until when each may. */
export const ends = z.array(z.strictObject({ generation: z.int(), until: instant }));
