import type { Cause, Fact } from '../../src/core/event.ts';
import type { DomainFact } from '../../src/events/index.ts';

type Example<T extends DomainFact['type']> = Extract<DomainFact, { type: T }>;

/** The instant at which examples happen. */
export const time = '2026-03-04T05:06:07.890Z';

/** The same in milliseconds. */
export const timeMs = Date.parse(time);

/** An instant so many milliseconds after (or before) `time`. */
export const timePlus = (ms: number): string => new Date(timeMs + ms).toISOString();

/** Who does things in examples. */
export const cause: Cause = {
  actor: 'admin',
  address: '192.0.2.1',
  user_agent: 'examples/1',
  reason: 'because',
  correlation_id: 'request-1',
  causation_id: null,
};

/** The first life of the tenant `acme`. */
export const acme = { tenant_id: 'acme', incarnation: 'acme~1' };

/** Another life of it. */
export const acmeAgain = { tenant_id: 'acme', incarnation: 'acme~2' };

/** Something that looks like a digest, told apart by a letter. */
export const digestOf = (letter: string): string => letter.repeat(43);

export const tenantCreated: Example<'TenantCreated'> = { type: 'TenantCreated', data: acme };

export const tenantDeleted: Example<'TenantDeleted'> = { type: 'TenantDeleted', data: acme };

const alice = { ...acme, user_id: '019a0000-0000-7000-8000-000000000001', username: 'Alice' };

export const userCreated: Example<'UserCreated'> = {
  type: 'UserCreated',
  data: { ...alice, role: 'writer', password_hash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA' },
};

export const userDeleted: Example<'UserDeleted'> = { type: 'UserDeleted', data: alice };

const robot = { ...acme, service_account_id: 'sa_1' };

export const accountCreated: Example<'ServiceAccountCreated'> = {
  type: 'ServiceAccountCreated',
  data: { ...robot, name: 'robot', max_role: 'writer', max_ttl_secs: 3_600, bearer_digest: digestOf('A') },
};

export const bearerRotated: Example<'ServiceAccountBearerRotated'> = {
  type: 'ServiceAccountBearerRotated',
  data: {
    ...robot,
    generation: 2,
    bearer_digest: digestOf('B'),
    grace_secs: 60,
    ends: [{ generation: 1, until: timePlus(60_000) }],
  },
};

export const accountDeleted: Example<'ServiceAccountDeleted'> = {
  type: 'ServiceAccountDeleted',
  data: { ...robot, credentials: 'revoke' },
};

export const credentialMinted: Example<'CredentialMinted'> = {
  type: 'CredentialMinted',
  data: {
    ...robot,
    username: 'cred_1',
    subject: 'ci',
    role: 'writer',
    write_schemas: ['public'],
    expires_at: timePlus(60_000),
    password_digest: digestOf('C'),
  },
};

export const credentialRevoked: Example<'CredentialRevoked'> = {
  type: 'CredentialRevoked',
  data: { ...robot, username: 'cred_1' },
};

/** One fact of every type. */
export const everyFact: readonly DomainFact[] = [
  tenantCreated,
  tenantDeleted,
  userCreated,
  userDeleted,
  accountCreated,
  bearerRotated,
  accountDeleted,
  credentialMinted,
  credentialRevoked,
];

/** The same fact with some of its data another. */
export const but = <F extends Fact>(fact: F, data: Partial<F['data']>): F => ({
  ...fact,
  data: { ...fact.data, ...data },
});
