import { accept, command, refuse, type Fold } from '../core/command.ts';
import type { CredentialFact } from '../events/credential.ts';
import { roles, type Role } from '../events/fields.ts';

/** A credential's life, as far as deciding needs it. */
type Credential =
  | { readonly status: 'none' }
  | {
      readonly status: 'minted' | 'revoked';
      readonly tenant_id: string;
      readonly incarnation: string;
      readonly service_account_id: string;
    };

/** The service account that mints, with the limits it was given. */
export type Minter = {
  readonly service_account_id: string;
  readonly tenant_id: string;
  readonly incarnation: string;
  readonly max_role: Role;
  readonly max_ttl_secs: number;
};

/** Asks for a credential at `atMs`; username and password are fresh, and of the password only the digest comes here. */
export type MintCredential = {
  readonly username: string;
  readonly password_digest: string;
  readonly subject: string;
  readonly role: Role;
  readonly ttl_secs: number;
  readonly write_schemas?: readonly string[] | undefined;
  readonly minter: Minter;
  readonly atMs: number;
};

/** Asks that a credential of this tenant end. `by` is the service account that asks; absent, it is the operator. */
export type RevokeCredential = {
  readonly username: string;
  readonly tenant_id: string;
  readonly incarnation: string;
  readonly by?: string | undefined;
};

const stream = (wish: { username: string }): string => `credential-${wish.username}`;

const credential: Fold<Credential, CredentialFact> = {
  initial: { status: 'none' },
  on: {
    CredentialMinted: (_, { tenant_id, incarnation, service_account_id }) => ({
      status: 'minted',
      tenant_id,
      incarnation,
      service_account_id,
    }),
    CredentialRevoked: (state) => (state.status === 'none' ? state : { ...state, status: 'revoked' }),
  },
};

/** Mints a credential within the account's limits: no higher role, no longer life. */
export const mintCredential = command({
  name: 'MintCredential',
  stream,
  startsStream: true,
  fold: credential,
  decide: (wish: MintCredential, state) => {
    const { minter, role, ttl_secs, write_schemas } = wish;
    if (state.status !== 'none') return refuse('credential.exists', 'The generated username is taken.');
    if (roles.indexOf(role) > roles.indexOf(minter.max_role)) {
      return refuse('credential.role-above-max', `This account may mint up to the role ${minter.max_role}.`);
    }
    if (ttl_secs > minter.max_ttl_secs) {
      return refuse(
        'credential.ttl-above-max',
        `This account may mint for up to ${minter.max_ttl_secs} seconds.`,
        '/ttl_secs',
      );
    }
    return accept({
      type: 'CredentialMinted',
      data: {
        username: wish.username,
        tenant_id: minter.tenant_id,
        incarnation: minter.incarnation,
        service_account_id: minter.service_account_id,
        subject: wish.subject,
        role,
        ...(write_schemas === undefined ? {} : { write_schemas: [...write_schemas] }),
        expires_at: new Date(wish.atMs + ttl_secs * 1000).toISOString(),
        password_digest: wish.password_digest,
      },
    });
  },
});

/** Ends a credential; asking twice is the same wish. */
export const revokeCredential = command({
  name: 'RevokeCredential',
  stream,
  fold: credential,
  decide: ({ username, tenant_id, incarnation, by }: RevokeCredential, state) => {
    // A credential of another tenant, or of an earlier life of this one, is none of this tenant's.
    if (state.status === 'none' || state.incarnation !== incarnation) {
      return refuse('credential.unknown', `There is no credential ${username} in ${tenant_id}.`);
    }
    const { service_account_id } = state;
    if (by !== undefined && by !== service_account_id) {
      return refuse('credential.not-yours', 'Another service account minted it.');
    }
    if (state.status === 'revoked') return accept();
    return accept({
      type: 'CredentialRevoked',
      data: { username, tenant_id, incarnation, service_account_id },
    });
  },
});
