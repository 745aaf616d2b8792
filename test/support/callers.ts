import { createSecrets } from '../../src/secrets/tokens.ts';
import { arrangeAccount, mint, type Client } from './client.ts';
import { adminToken, verifierToken } from './program.ts';

/** The operator's token before the last rotation, of programs that are started with it. */
export const previousAdminToken = 'test-previous-admin-token-0123456789';

/** What each kind of caller sends as its Authorization header; `null` sends none. */
export type Callers = { readonly [caller in Caller]: string | null };

/** Every kind of caller: those who are known, and those who are nobody (any more). */
export type Caller = (typeof knownCallers)[number] | (typeof strangers)[number];

/**
 * Callers that the service knows, those first who may least, so that they meet a thing before anybody ended it.
 * `own` minted the credential in question; `sibling` is of the same tenant.
 */
export const knownCallers = [
  'verifier',
  'other tenant’s bearer',
  'sibling’s bearer',
  'own bearer',
  'bearer in grace',
  'admin',
  'previous admin',
] as const;

/** Callers that are nobody. */
export const strangers = [
  'no token',
  'empty token',
  'garbage token',
  'other scheme',
  'token without scheme',
  'mistyped bearer',
  'never issued bearer',
  'longer admin token',
  'shorter admin token',
  'deleted account’s bearer',
  'deleted tenant’s bearer',
  'rotated-away bearer',
  'credential’s password',
] as const;

/** What `arrangeCallers` made. */
export type Cast = {
  readonly headers: Callers;
  /** The account of `own bearer`, in `acme`. */
  readonly account: string;
  /** The username that `own bearer` minted. */
  readonly credential: string;
};

const rotate = async (client: Client, id: string, grace_secs: number): Promise<string> => {
  const { body } = await client('POST', `/admin/v1/service-accounts/${id}/rotate`, { body: { grace_secs } });
  return (body as { bearer: string }).bearer;
};

const flipLast = (text: string): string => text.slice(0, -1) + (text.endsWith('a') ? 'b' : 'a');

const bearer = (token: string): string => `Bearer ${token}`;

/** Makes one of each: tenants `acme`, `other` and `gone` (deleted), their accounts and a credential. */
export const arrangeCallers = async (client: Client): Promise<Cast> => {
  const own = await arrangeAccount(client, 'acme');
  const ownBearer = await rotate(client, own.id, 3_600);
  const sibling = await arrangeAccount(client, 'acme');
  const other = await arrangeAccount(client, 'other');
  const deleted = await arrangeAccount(client, 'acme');
  await client('DELETE', `/admin/v1/service-accounts/${deleted.id}`);
  const rotated = await arrangeAccount(client, 'acme');
  await rotate(client, rotated.id, 0);
  const orphan = await arrangeAccount(client, 'gone');
  await client('DELETE', '/admin/v1/tenants/gone');
  await client('POST', '/admin/v1/tenants', { body: { id: 'gone' } });
  const credential = await mint(client, 'acme', ownBearer);
  return {
    account: own.id,
    credential: credential.username,
    headers: {
      admin: bearer(adminToken),
      'previous admin': bearer(previousAdminToken),
      verifier: bearer(verifierToken),
      'own bearer': bearer(ownBearer),
      'bearer in grace': bearer(own.bearer),
      'sibling’s bearer': bearer(sibling.bearer),
      'other tenant’s bearer': bearer(other.bearer),
      'no token': null,
      'empty token': 'Bearer ',
      'garbage token': bearer('garbage'),
      'other scheme': `Basic ${Buffer.from(`admin:${adminToken}`).toString('base64')}`,
      'token without scheme': adminToken,
      'mistyped bearer': bearer(flipLast(ownBearer)),
      // Its checksum is right, so that it is looked up.
      'never issued bearer': bearer(createSecrets().fresh('sab_').value),
      'longer admin token': bearer(`${adminToken}0`),
      'shorter admin token': bearer(adminToken.slice(0, -1)),
      'deleted account’s bearer': bearer(deleted.bearer),
      'deleted tenant’s bearer': bearer(orphan.bearer),
      'rotated-away bearer': bearer(rotated.bearer),
      'credential’s password': bearer(credential.password),
    },
  };
};
