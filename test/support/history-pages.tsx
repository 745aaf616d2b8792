import type { VNode } from 'preact';
import type { Access } from '../../src/projections/access.ts';
import { ActivityPage, type ActRecord } from '../../src/http/pages/console/activity.tsx';
import type { ChainEventRecord, ChainRecord } from '../../src/http/pages/console/chain.tsx';
import { EventPage, type EventRecord } from '../../src/http/pages/console/event.tsx';
import { AccessPage, PrincipalAccessPage } from '../../src/http/pages/console/access.tsx';
import { EventsPage } from '../../src/http/pages/console/events.tsx';
import {
  CheckpointsPage,
  type CheckpointRecord,
  type ProofRecord,
} from '../../src/http/pages/console/proof.tsx';
import { CredentialsPage } from '../../src/http/pages/console/credentials.tsx';
import type { Moment } from '../../src/http/pages/console/moment.tsx';
import { NoPastPage } from '../../src/http/pages/console/no-past.tsx';
import { ServiceAccountsPage } from '../../src/http/pages/console/service-accounts.tsx';
import { TenantOverviewPage } from '../../src/http/pages/console/tenant.tsx';
import { TenantsPage } from '../../src/http/pages/console/tenants.tsx';
import { UsersPage } from '../../src/http/pages/console/users.tsx';
import { TenantApiKeysPage } from '../../src/http/pages/console/api-keys.tsx';
import { account as serviceAccount, act, acts, credential, key } from './console-pages.tsx';
import { time, timeMs, timePlus } from './examples.ts';

const hourMs = 3_600_000;
const nowMs = timeMs;

const ofLog: readonly ActRecord[] = [
  act(
    'RequestsRefused',
    { refused: 'anonymous', total: 7, codes: { 'authentication.invalid': 5, 'authentication.missing': 2 } },
    { actor: 'system', address: null, tenant_id: null },
  ),
  ...acts.slice(0, 6).map((one): ActRecord => ({ ...one, tenant_id: 'acme' })),
  act('OperatorSignedIn', { session_id: 's_2' }, { time: timePlus(-30 * hourMs), tenant_id: null }),
  act(
    'ApiKeyUsed',
    { api_key_id: 'key_019a1b2c' },
    { time: timePlus(-31 * hourMs), tenant_id: 't'.repeat(63) },
  ),
];

const filter = { actor: 'user:acme/alice', type: 'ApiKeyCreated', since: timePlus(-72 * hourMs) } as const;

const hashOf = (letter: string): string => `${letter.repeat(43)}=`;

const event: EventRecord = {
  ...act(
    'WorkflowChanged',
    {
      id: 'workflow_1',
      content: {
        name: 'Close the month',
        description: null,
        metadata: { steps: ['book', 'check'], owner: 'bob' },
      },
    },
    { actor: 'api_key:key_019a1b2c', reason: 'The month is over.' },
  ),
  position: '00000000000000000042',
  stream: 'workflow-acme~1/workflow_1',
  revision: 3,
  version: 1,
  tenant_id: 'acme',
  user_agent: 'curl/8.5.0',
  causation_id: null,
  token: 'fp_4b7d1a90c2e3',
  hash: hashOf('h'),
  previous: hashOf('p'),
};

const chainEvent = (
  id: string,
  type: string,
  effects: readonly ChainEventRecord[] = [],
): ChainEventRecord => ({
  ...act(type, { username: 'alice', role: 'writer' }, { id }),
  tenant_id: 'acme',
  effects,
});

const chain: ChainRecord = {
  correlation_id: event.correlation_id,
  is_complete: true,
  events: [
    {
      ...event,
      effects: [
        chainEvent('e1', 'UserCreated', [chainEvent('e2', 'UserSignedIn')]),
        chainEvent('e3', 'SignedOut'),
      ],
    },
  ],
};

/** More than one page shows. */
export const longChain: ChainRecord = {
  ...chain,
  is_complete: false,
  events: [{ ...event, effects: Array.from({ length: 60 }, (_, at) => chainEvent(`e${at}`, 'UserCreated')) }],
};

const checkpoint: CheckpointRecord = {
  number: 7,
  tree_size: 64,
  root_hash: hashOf('r'),
  time: timePlus(-60_000),
  note: `keyledger.example.com\n64\n${hashOf('r')}\n\n— keyledger.example.com ${'aB3dE5gH7k'.repeat(9)}=\n`,
  event_id: '019a0000-0000-7000-8000-000000000064',
  position: '00000000000000000064',
};

/** A proof of an event that a checkpoint covers. */
export const proof: ProofRecord = {
  event_id: event.id,
  index: 41,
  hash: hashOf('h'),
  leaf_hash: hashOf('l'),
  hashes: ['a', 'b', 'c', 'd', 'e', 'f'].map(hashOf),
  checkpoint,
};

const by = (type: string, actor = 'admin') => ({
  id: '019a0000-0000-7000-8000-000000000007',
  position: '00000000000000000007',
  type,
  actor,
  time,
});

const dayMs = 24 * hourMs;

const alice: Access = {
  principal: 'user:acme/alice',
  kind: 'user',
  tenant: 'acme',
  name: 'alice',
  role: 'writer',
  from: timePlus(-20 * dayMs),
  until: null,
  granted_by: by('UserCreated'),
  ended_by: null,
};

const account: Access = {
  ...alice,
  principal: 'service_account:sa_1',
  kind: 'service_account',
  name: 'Deploys',
  generation: 1,
  from: timePlus(-15 * dayMs),
  until: timePlus(-9 * dayMs),
  granted_by: by('ServiceAccountCreated'),
  ended_by: { kind: 'event', ...by('ServiceAccountBearerRotated') },
};

/** What let somebody in, with every way of ending, the latest first. */
export const accessList: readonly Access[] = [
  {
    ...alice,
    principal: 'credential:cred_1',
    kind: 'credential',
    name: 'build 42',
    write_schemas: ['staging'],
    from: timePlus(-hourMs),
    until: timePlus(hourMs),
    granted_by: by('CredentialMinted', 'service_account:sa_1'),
    ended_by: { kind: 'expiry' },
  },
  { ...account, generation: 2, from: timePlus(-9 * dayMs), until: null, ended_by: null },
  {
    ...alice,
    principal: 'api_key:key_1',
    kind: 'api_key',
    name: 'n'.repeat(128),
    role: 'admin',
    generation: 1,
    from: timePlus(-12 * dayMs),
    until: timePlus(-2 * dayMs),
    granted_by: by('ApiKeyCreated', 'user:acme/alice'),
    ended_by: { kind: 'expiry' },
  },
  account,
  alice,
  {
    ...alice,
    principal: 'user:acme/bob',
    name: 'bob',
    from: timePlus(-30 * dayMs),
    until: timePlus(-20.5 * dayMs),
    ended_by: { kind: 'cascade', ...by('TenantDeleted') },
  },
];

const accessPage = { tenant: 'acme', gone: false, list: accessList, filter: {}, nowMs } as const;

const now: Moment = { path: '/console/tenants/acme/users', firstMs: timeMs - 90 * dayMs, nowMs };
const past: Moment = { ...now, asOf: timePlus(-30 * dayMs) };
const user = { username: 'alice', role: 'writer', created_at: timePlus(-33 * dayMs) } as const;
const tenant = { id: 'acme', created_at: timePlus(-40 * dayMs) };
const then = { nowMs: timeMs - 30 * dayMs, moment: past };

/** Every page of the console that shows what was, in each of the states that look different. */
export const historyPages: Readonly<Record<string, VNode>> = {
  'console-events': <EventsPage acts={ofLog} olderHref="?before=2" nowMs={nowMs} />,
  'console-events-filtered': (
    <EventsPage
      acts={ofLog.slice(3, 4)}
      filter={filter}
      olderHref="?before=2"
      newerHref="?after=9"
      nowMs={nowMs}
    />
  ),
  'console-events-none-so-far': (
    <EventsPage acts={[]} filter={{ ...filter, order: 'asc' }} newerHref="?after=9" nowMs={nowMs} />
  ),
  'console-events-wrong': (
    <EventsPage
      acts={[]}
      filter={{ tenant: 'a b', since: 'soon' }}
      errors={[
        { pointer: '/tenant', detail: 'Must be 1 to 63 ASCII letters, digits, `_` or `-`.' },
        { pointer: '/since', detail: 'Must be an instant.' },
      ]}
      nowMs={nowMs}
    />
  ),
  'console-event': <EventPage event={event} chain={chain} proof={proof} nowMs={nowMs} />,
  'console-event-sealed': <EventPage event={event} chain={longChain} proof={proof} nowMs={nowMs} />,
  'console-event-unsealed': (
    <EventPage
      event={{
        ...event,
        actor: 'system',
        causation_id: 'e1',
        address: null,
        token: null,
        reason: null,
        hash: null,
        previous: null,
      }}
      chain={{ ...chain, events: chain.events.slice(0, 1).map((one) => ({ ...one, effects: [] })) }}
      proof="unsealed"
      nowMs={nowMs}
    />
  ),
  'console-checkpoints': (
    <CheckpointsPage
      checkpoints={[checkpoint, { ...checkpoint, number: 6, tree_size: 32 }]}
      nextHref="?cursor=2"
      nowMs={nowMs}
    />
  ),
  'console-checkpoints-empty': <CheckpointsPage checkpoints={[]} nowMs={nowMs} />,
  'console-access': <AccessPage {...accessPage} nextHref="?cursor=2" />,
  'console-access-hours': (
    <AccessPage
      {...accessPage}
      gone
      list={[
        ...accessList.slice(0, 1),
        {
          ...alice,
          from: timePlus(-2 * hourMs),
          until: timePlus(-hourMs),
          ended_by: { kind: 'event', ...by('UserDeleted') },
        },
      ]}
      filter={{ kind: 'user', from: timePlus(-5 * hourMs), to: timePlus(3 * hourMs) }}
    />
  ),
  'console-access-none': <AccessPage {...accessPage} list={[]} />,
  'console-access-none-so-far': <AccessPage {...accessPage} list={[]} nextHref="?cursor=2" />,
  'console-access-wrong': (
    <AccessPage
      {...accessPage}
      list={[]}
      filter={{ kind: 'king', from: 'soon' }}
      errors={[
        { pointer: '/kind', detail: 'Must be one of those.' },
        { pointer: '/from', detail: 'Must be an instant.' },
      ]}
    />
  ),
  'console-access-of-principal': (
    <PrincipalAccessPage principal="user:acme/alice" list={[alice]} filter={{}} nowMs={nowMs} />
  ),
  'console-users-now': <UsersPage tenant="acme" users={[user]} nowMs={nowMs} moment={now} />,
  'console-past-tenants': <TenantsPage tenants={[tenant]} {...then} />,
  'console-past-tenants-empty': (
    <TenantsPage tenants={[]} {...then} moment={{ ...past, firstMs: undefined }} />
  ),
  'console-past-tenant': <TenantOverviewPage tenant={tenant} acts={acts.slice(-1)} {...then} />,
  'console-past-users': <UsersPage tenant="acme" users={[user]} {...then} />,
  'console-past-users-empty': <UsersPage tenant="acme" users={[]} {...then} />,
  'console-past-accounts': <ServiceAccountsPage accounts={[serviceAccount]} {...then} />,
  'console-past-accounts-empty': <ServiceAccountsPage tenant="acme" accounts={[]} {...then} />,
  'console-past-credentials': (
    <CredentialsPage tenant="acme" accounts={new Map()} credentials={[credential]} {...then} />
  ),
  'console-past-credentials-empty': (
    <CredentialsPage tenant="acme" accounts={new Map()} credentials={[]} {...then} />
  ),
  'console-past-keys': <TenantApiKeysPage tenant="acme" keys={[key]} {...then} />,
  'console-past-keys-empty': <TenantApiKeysPage tenant="acme" keys={[]} {...then} />,
  'console-past-access': <AccessPage {...accessPage} moment={past} />,
  'console-past-activity': <ActivityPage tenant="acme" gone={false} acts={acts} filter={filter} {...then} />,
  'console-past-absent': <NoPastPage why="absent" detail="There is no tenant acme." moment={past} />,
  'console-past-wrong': (
    <NoPastPage
      why="wrong"
      detail="The request is not valid."
      moment={{ ...past, asOf: timePlus(dayMs) }}
      errors={[{ pointer: '/as_of', detail: 'Must not lie in the future.' }]}
    />
  ),
  'console-activity-filtered': (
    <ActivityPage
      tenant="acme"
      gone={false}
      acts={acts.slice(3, 4)}
      filter={filter}
      newerHref="?after=9"
      nowMs={nowMs}
    />
  ),
  'console-activity-none': (
    <ActivityPage tenant="acme" gone={false} acts={[]} filter={filter} nowMs={nowMs} />
  ),
};

/** The same with every text that comes from elsewhere being this one. */
export const hostileHistoryPages = (hostile: string): readonly VNode[] => {
  const errors = [{ pointer: `/${hostile}`, detail: hostile }];
  const hostileFilter = { tenant: hostile, type: hostile, actor: hostile, stream: hostile, since: hostile };
  const hostileActs = ofLog.map((one) => ({
    ...one,
    type: one.type === 'OperatorSignedIn' ? hostile : one.type,
    actor: hostile,
    address: hostile,
    reason: hostile,
    correlation_id: hostile,
    tenant_id: hostile,
    data: Object.fromEntries([...Object.keys(one.data), hostile].map((name) => [name, hostile])),
  }));
  const hostileCheckpoint = { ...checkpoint, note: hostile, root_hash: hostile, event_id: hostile };
  const hostileAccess: Access = {
    ...account,
    principal: hostile,
    tenant: hostile,
    name: hostile,
    write_schemas: [hostile],
    granted_by: by(hostile, hostile),
    ended_by: { kind: 'event', ...by(hostile, hostile) },
  };
  const hostileList = { list: [hostileAccess], filter: { kind: hostile, from: hostile }, nowMs };
  const hostileMoment = { ...past, asOf: hostile };
  return [
    <TenantsPage tenants={[{ ...tenant, id: hostile }]} nowMs={nowMs} moment={hostileMoment} />,
    <NoPastPage why="wrong" detail={hostile} moment={hostileMoment} errors={errors} />,
    <AccessPage {...hostileList} tenant={hostile} gone={false} filter={{}} nextHref={hostile} />,
    <AccessPage {...hostileList} tenant={hostile} gone={false} errors={errors} />,
    <PrincipalAccessPage {...hostileList} principal={hostile} filter={{}} />,
    <EventPage
      event={{
        ...event,
        type: hostile,
        actor: hostile,
        token: hostile,
        user_agent: hostile,
        stream: hostile,
        causation_id: hostile,
        tenant_id: hostile,
        data: { [hostile]: { [hostile]: hostile }, list: [hostile] },
        hash: hostile,
        previous: hostile,
      }}
      chain={{ ...chain, correlation_id: hostile, events: [chainEvent(hostile, hostile)] }}
      proof={{ ...proof, leaf_hash: hostile, hashes: [hostile], checkpoint: hostileCheckpoint }}
      nowMs={nowMs}
    />,
    <CheckpointsPage checkpoints={[hostileCheckpoint]} nextHref={hostile} nowMs={nowMs} />,
    <EventsPage
      acts={hostileActs}
      filter={hostileFilter}
      errors={errors}
      olderHref={hostile}
      nowMs={nowMs}
    />,
  ];
};
