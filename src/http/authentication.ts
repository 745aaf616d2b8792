import type { IncomingMessage } from 'node:http';
import type { Clock, ReadModels } from '../core/ports.ts';
import type { Secrets } from '../core/secrets.ts';
import { findByKey } from '../projections/api-keys.ts';
import { findByBearer } from '../projections/service-accounts.ts';
import { RequestRefused } from './problem.ts';
import type { Caller } from './route.ts';

/** The operator's tokens. Without `admin` the control plane is not configured. */
export type OperatorTokens = {
  readonly admin?: string | undefined;
  readonly adminPrevious?: string | undefined;
  readonly verifier?: string | undefined;
};

/** Tells who calls; throws `RequestRefused` where nobody does, or nobody known. */
export type Authenticate = (request: IncomingMessage) => Promise<Caller>;

/** The longest token that is looked at; a longer one can only be wrong. */
const tokenCharsMax = 4_096;

const realm = 'Bearer realm="admin"';

const invalid = (): RequestRefused =>
  new RequestRefused('authentication.invalid', 'The token is not valid.', {
    headers: { 'WWW-Authenticate': `${realm}, error="invalid_token"` },
  });

const missing = (): RequestRefused =>
  new RequestRefused('authentication.missing', 'The header Authorization must carry a bearer token.', {
    headers: { 'WWW-Authenticate': realm },
  });

/** The token of an Authorization header (RFC 6750 §2.1). */
const bearerOf = (header: string | undefined): string => {
  if (header === undefined || header === '') throw missing();
  const [, token] = /^bearer +(\S+) *$/i.exec(header) ?? [];
  if (token === undefined || token.length > tokenCharsMax) throw invalid();
  return token;
};

type Needs = { readonly reads: ReadModels; readonly secrets: Secrets; readonly clock: Clock };

/** Authentication of the Admin API by RFC 6750 bearer tokens: the operator's, or a service account's. */
export const createTokenAuthentication = (
  tokens: OperatorTokens,
  { reads, secrets, clock }: Needs,
): Authenticate => {
  const digestOf = (token: string | undefined): string | undefined =>
    token === undefined ? undefined : secrets.digest(token);
  const admin = digestOf(tokens.admin);
  const adminPrevious = digestOf(tokens.adminPrevious);
  const verifier = digestOf(tokens.verifier);
  // Digests of one length are compared, each in constant time, so that no time tells how much of a token is right.
  const isOperators = (known: string | undefined, digest: string): boolean =>
    known !== undefined && secrets.isSame(known, digest);

  return async (request) => {
    if (admin === undefined) {
      throw new RequestRefused(
        'control-plane.not-configured',
        'No admin token is set, so the Admin API is off.',
      );
    }
    const token = bearerOf(request.headers.authorization);
    const digest = secrets.digest(token);
    const shown = () => ({ token: secrets.fingerprint(digest) });
    if (isOperators(admin, digest) || isOperators(adminPrevious, digest))
      return { kind: 'admin', ...shown() };
    if (isOperators(verifier, digest)) return { kind: 'verifier', ...shown() };
    if (!secrets.isWellFormed('sab_', token)) throw invalid();
    const found = await findByBearer(reads, digest, clock());
    if (found === undefined) throw invalid();
    return { kind: 'service_account', account: found.account, givenBy: found.given_by, ...shown() };
  };
};

const keyRefused = (
  code: 'api-key.missing' | 'api-key.malformed' | 'api-key.unknown' | 'api-key.expired' | 'api-key.revoked',
  detail: string,
): RequestRefused =>
  new RequestRefused(code, detail, { headers: { 'WWW-Authenticate': 'ApiKey realm="workspace"' } });

/** Authentication of the workspace API by the header `X-API-Key`. */
export const createKeyAuthentication =
  ({ reads, secrets, clock }: Needs): Authenticate =>
  async ({ headers }) => {
    const sent = headers['x-api-key'];
    if (typeof sent !== 'string' || sent === '')
      throw keyRefused('api-key.missing', 'The header X-API-Key must carry an API key.');
    // A mistyped key is told by its checksum, without a look-up.
    if (!secrets.isWellFormed('svc_', sent))
      throw keyRefused('api-key.malformed', 'The header X-API-Key carries no API key: its form is wrong.');
    const digest = secrets.digest(sent);
    const found = await findByKey(reads, digest, clock());
    if (found === undefined) throw keyRefused('api-key.unknown', 'The API key is not known.');
    switch (found.standing) {
      case 'active':
        return {
          kind: 'api_key',
          key: found.secret,
          token: secrets.fingerprint(digest),
          givenBy: found.secret.given_by,
        };
      case 'expired':
        throw keyRefused('api-key.expired', 'The API key has expired.');
      case 'revoked':
        throw keyRefused('api-key.revoked', 'The API key is revoked.');
    }
  };

/** The actor that events name for a caller. */
export const actorOf = (caller: Caller): string => {
  switch (caller.kind) {
    case 'admin':
    case 'verifier':
      return caller.kind;
    case 'service_account':
      return `service_account:${caller.account.id}`;
    case 'api_key':
      return `api_key:${caller.key.api_key_id}`;
    case 'user':
      return `user:${caller.session.workspace_id}/${caller.session.username}`;
  }
};
