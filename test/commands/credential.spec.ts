import { mintCredential, revokeCredential } from '../../src/commands/credential.ts';
import { roles } from '../../src/events/fields.ts';
import {
  accountCreated,
  acme,
  acmeAgain,
  credentialMinted as minted,
  credentialRevoked as revoked,
  timeMs,
  timePlus,
} from '../support/examples.ts';
import { given } from '../support/given.ts';

const { username, subject, role, write_schemas, password_digest } = minted.data;
const minter = accountCreated.data;
const mint = { username, subject, role, write_schemas, password_digest, ttl_secs: 60, minter, atMs: timeMs };
const { write_schemas: _, ...unscoped } = minted.data;

describe('mint a credential', () => {
  it('records whom it is for, what it may and when it ends, and of the password the digest alone', () =>
    given(mintCredential).when(mint).then(minted));
  it('leaves the schemas out where none were asked for', () =>
    given(mintCredential)
      .when({ ...mint, write_schemas: undefined })
      .then({ ...minted, data: unscoped }));
  it('is refused where the username is taken', () =>
    given(mintCredential, minted).when(mint).thenRefused('credential.exists'));
  it('is refused where the username was taken by one that is revoked', () =>
    given(mintCredential, minted, revoked).when(mint).thenRefused('credential.exists'));

  for (const [highest, max_role] of roles.entries()) {
    for (const [wanted, asked] of roles.entries()) {
      const wish = { ...mint, role: asked, write_schemas: undefined, minter: { ...minter, max_role } };
      if (wanted <= highest) {
        it(`grants ${asked} to an account of at most ${max_role}`, () =>
          given(mintCredential)
            .when(wish)
            .then({ ...minted, data: { ...unscoped, role: asked } }));
      } else {
        it(`refuses ${asked} to an account of at most ${max_role}`, () =>
          given(mintCredential).when(wish).thenRefused('credential.role-above-max'));
      }
    }
  }

  it('grants a life as long as the account may give', () =>
    given(mintCredential)
      .when({ ...mint, ttl_secs: 3_600 })
      .then({ ...minted, data: { ...minted.data, expires_at: timePlus(3_600_000) } }));
  it('refuses a life one second longer than the account may give', () =>
    given(mintCredential)
      .when({ ...mint, ttl_secs: 3_601 })
      .thenRefused('credential.ttl-above-max'));
});

describe('revoke a credential', () => {
  const wish = { username, ...acme };

  it('is refused where there was never one', () =>
    given(revokeCredential).when(wish).thenRefused('credential.unknown'));
  it('ends it for the operator', () => given(revokeCredential, minted).when(wish).then(revoked));
  it('ends it for the account that minted it', () =>
    given(revokeCredential, minted)
      .when({ ...wish, by: 'sa_1' })
      .then(revoked));
  it('is refused to another account', () =>
    given(revokeCredential, minted)
      .when({ ...wish, by: 'sa_2' })
      .thenRefused('credential.not-yours'));
  it('is refused in another life of the tenant, as if there were none', () =>
    given(revokeCredential, minted)
      .when({ ...wish, ...acmeAgain })
      .thenRefused('credential.unknown'));
  it('is refused in another tenant, as if there were none', () =>
    given(revokeCredential, minted)
      .when({ ...wish, tenant_id: 'other', incarnation: 'other~1' })
      .thenRefused('credential.unknown'));
  it('records nothing when already revoked', () =>
    given(revokeCredential, minted, revoked).when(wish).thenNothing());
  it('records nothing when already revoked and its own account asks', () =>
    given(revokeCredential, minted, revoked)
      .when({ ...wish, by: 'sa_1' })
      .thenNothing());
  it('is refused to another account when already revoked', () =>
    given(revokeCredential, minted, revoked)
      .when({ ...wish, by: 'sa_2' })
      .thenRefused('credential.not-yours'));
});
