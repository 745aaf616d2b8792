import type { VNode } from 'preact';
import { ActivityPage, type ActRecord } from '../../src/http/pages/console/activity.tsx';
import { EventsPage } from '../../src/http/pages/console/events.tsx';
import { act, acts } from './console-pages.tsx';
import { timeMs, timePlus } from './examples.ts';

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
  return [
    <EventsPage
      acts={hostileActs}
      filter={hostileFilter}
      errors={errors}
      olderHref={hostile}
      nowMs={nowMs}
    />,
  ];
};
