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

const key = { ...acme, api_key_id: 'key_1' };

export const apiKeyCreated: Example<'ApiKeyCreated'> = {
  type: 'ApiKeyCreated',
  data: {
    ...key,
    name: 'reports',
    created_by: 'user:acme/Alice',
    created_by_user_id: alice.user_id,
    key_digest: digestOf('K'),
    prefix: 'svc_abcdef',
    role: 'writer',
    expires_at: timePlus(86_400_000),
  },
};

export const apiKeyRolled: Example<'ApiKeyRolled'> = {
  type: 'ApiKeyRolled',
  data: {
    ...key,
    generation: 2,
    overlap_secs: 60,
    ends: [{ generation: 1, until: timePlus(60_000) }],
    key_digest: digestOf('L'),
    prefix: 'svc_ghijkl',
    role: 'writer',
    expires_at: timePlus(86_400_000),
  },
};

export const apiKeyRevoked: Example<'ApiKeyRevoked'> = { type: 'ApiKeyRevoked', data: key };

export const apiKeyUsed: Example<'ApiKeyUsed'> = { type: 'ApiKeyUsed', data: { ...key, used_at: time } };

export const userSignedIn: Example<'UserSignedIn'> = {
  type: 'UserSignedIn',
  data: {
    ...alice,
    session_id: '019a0000-0000-7000-8000-00000000000a',
    role: 'writer',
    session_digest: digestOf('S'),
    expires_at: timePlus(43_200_000),
  },
};

export const operatorSignedIn: Example<'OperatorSignedIn'> = {
  type: 'OperatorSignedIn',
  data: {
    session_id: '019a0000-0000-7000-8000-00000000000b',
    session_digest: digestOf('T'),
    admin_token_digest: digestOf('U'),
    expires_at: timePlus(43_200_000),
  },
};

export const signedOut: Example<'SignedOut'> = {
  type: 'SignedOut',
  data: { session_id: userSignedIn.data.session_id, tenant_id: 'acme' },
};

const described = { description: 'Writes reports', metadata: { team: 'finance', tags: ['weekly'] } };

export const agentCreated: Example<'AgentCreated'> = {
  type: 'AgentCreated',
  data: { id: 'agent_1', ...acme, content: { name: 'Reporter', ...described } },
};

export const agentChanged: Example<'AgentChanged'> = {
  type: 'AgentChanged',
  data: { id: 'agent_1', ...acme, content: { name: 'Chief reporter', ...described } },
};

export const agentDeleted: Example<'AgentDeleted'> = {
  type: 'AgentDeleted',
  data: { id: 'agent_1', ...acme },
};

export const threadCreated: Example<'ThreadCreated'> = {
  type: 'ThreadCreated',
  data: { id: 'thread_1', ...acme, content: { title: 'March', ...described, agent_id: 'agent_1' } },
};

export const threadChanged: Example<'ThreadChanged'> = {
  type: 'ThreadChanged',
  data: { id: 'thread_1', ...acme, content: { title: 'April', ...described } },
};

export const threadDeleted: Example<'ThreadDeleted'> = {
  type: 'ThreadDeleted',
  data: { id: 'thread_1', ...acme },
};

export const workflowCreated: Example<'WorkflowCreated'> = {
  type: 'WorkflowCreated',
  data: { id: 'workflow_1', ...acme, content: { name: 'Close the books', ...described } },
};

export const workflowChanged: Example<'WorkflowChanged'> = {
  type: 'WorkflowChanged',
  data: { id: 'workflow_1', ...acme, content: { name: 'Close all books', ...described } },
};

export const workflowDeleted: Example<'WorkflowDeleted'> = {
  type: 'WorkflowDeleted',
  data: { id: 'workflow_1', ...acme },
};

export const requestsRefused: Example<'RequestsRefused'> = {
  type: 'RequestsRefused',
  data: {
    refused: 'anonymous',
    minute: '2026-03-04T05:06:00.000Z',
    total: 3,
    codes: { 'authentication.missing': 2, 'authentication.invalid': 1 },
    routes: ['/admin/v1/tenants'],
    addresses: ['192.0.2.1'],
  },
};

export const logSealed: Example<'LogSealed'> = {
  type: 'LogSealed',
  data: {
    number: 1,
    note: 'keyledger/019a0000-0000-7000-8000-000000000001\n1\nroot\n\n— keyledger signature\n',
    last: '019a0000-0000-7000-8000-000000000001',
    blocks: [],
    fingerprints: 'AAAAAAAAAAA=',
  },
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
  apiKeyCreated,
  apiKeyRolled,
  apiKeyRevoked,
  apiKeyUsed,
  userSignedIn,
  operatorSignedIn,
  signedOut,
  requestsRefused,
  logSealed,
  agentCreated,
  agentChanged,
  agentDeleted,
  threadCreated,
  threadChanged,
  threadDeleted,
  workflowCreated,
  workflowChanged,
  workflowDeleted,
];

/** The same fact with some of its data another. */
export const but = <F extends Fact>(fact: F, data: Partial<F['data']>): F => ({
  ...fact,
  data: { ...fact.data, ...data },
});
