import { z } from 'zod';
import { positionForm } from '../core/event.ts';
import { pageItemsMax } from '../core/ports.ts';

/** Text without control characters or lone surrogates, counted in characters. */
const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((value) => value.isWellFormed() && !/\p{Cc}/u.test(value), 'Must have no control characters.');

/** A tenant's id, which is the database name that clients connect to. */
export const tenantId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,63}$/, 'Must be 1 to 63 ASCII letters, digits, `_` or `-`.')
  .meta({ description: 'The database name that clients pass when they connect.', example: 'acme' });

/** What users, credentials and API keys may do, from the least to the most. */
export const roles = ['reader', 'writer', 'admin'] as const;

/** What a user, a credential or an API key may do. */
export const role = z.enum(roles);

/** One of the roles. */
export type Role = z.infer<typeof role>;

/** A username; names that start with `cred_` are the service's own. */
export const username = z
  .string()
  .regex(/^[A-Za-z0-9_.@+-]{1,63}$/, 'Must be 1 to 63 ASCII letters, digits or `_ . @ + -`.')
  .refine((value) => !value.toLowerCase().startsWith('cred_'), 'Must not start with `cred_`.')
  // URL clients take these for path segments of their own and never send them.
  .refine((value) => value !== '.' && value !== '..', 'Must not be `.` or `..`.')
  .meta({ example: 'alice' });

const passwordBytes = { min: 8, max: 1_024 };

/** A new user's password, 8 to 1,024 bytes of UTF-8. */
export const newPassword = z
  .string()
  .refine((value) => {
    const bytes = Buffer.byteLength(value);
    return bytes >= passwordBytes.min && bytes <= passwordBytes.max && value.isWellFormed();
  }, `Must be ${passwordBytes.min} to ${passwordBytes.max} bytes of UTF-8.`)
  .meta({ description: '8 to 1,024 bytes of UTF-8.', example: 'correct horse battery staple' });

/** The longest life of a credential and the longest grace of a bearer: a day, in seconds. */
export const secondsMax = 86_400;

/** A credential's username in a path. */
export const credentialUsername = z.string().min(1).max(128);

/** A service account's id in a path. */
export const serviceAccountId = z.string().min(1).max(128);

/** The display name of a service account, an API key or a resource. */
export const displayName = text(1, 128);

/** A text of several lines, counted in characters. */
export const description = z
  .string()
  .max(4_096)
  .refine(
    (value) => value.isWellFormed() && !/[^\P{Cc}\n\r\t]/u.test(value),
    'Must have no control characters but tabs and line breaks.',
  );

/** For whom a credential is minted. */
export const subject = text(1, 256).meta({
  description: 'For whom the credential is minted; kept in the log.',
});

/** The schemas a scoped writer may write: SQL identifiers. */
export const writeSchemas = z
  .array(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_$]{0,62}$/, 'Must be an SQL identifier of up to 63 characters.'),
  )
  .min(1)
  .max(64)
  .refine((names) => new Set(names).size === names.length, 'Must be distinct.');

/** An instant as clients see it. */
export const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });

/** The query of a list: without `limit` the whole list is answered. */
export const listQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/, `Must be a number from 1 to ${pageItemsMax}.`)
    .transform(Number)
    .refine((limit) => limit <= pageItemsMax, `Must be a number from 1 to ${pageItemsMax}.`)
    .optional()
    .meta({
      description: 'Answers a page of up to this many; without it the whole list is answered.',
      override: { type: 'integer', minimum: 1, maximum: pageItemsMax, pattern: undefined },
    }),
  cursor: z
    .string()
    .regex(positionForm, 'Must be a cursor that the service gave.')
    .optional()
    .meta({ description: 'Where the page starts, from the Link header of the page before. Opaque.' }),
  order: z.enum(['asc', 'desc']).default('asc').meta({ description: 'By creation; `asc` is oldest first.' }),
});

/** A list's query, parsed. */
export type ListQuery = z.output<typeof listQuery>;

/** For routes whose query must be empty. */
export const noQuery = z.strictObject({});

/** For routes whose path has no parameters. */
export const noParams = z.strictObject({});
