import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { StoreUnavailable, type EventStore, type Health } from '../../core/ports.ts';
import { createCalls } from './calls.ts';
import { createClient } from './client.ts';
import { createClients } from './clients.ts';
import { createCondition } from './condition.ts';
import { readConnectionString } from './connection-string.ts';
import { createLog } from './log.ts';
import type { EventStoreDbOptions } from './options.ts';
import { pause } from './pause.ts';
import { createSubscribe } from './subscription.ts';

export { AppendTooLarge } from './failure.ts';
export type { EventStoreDbOptions, Observe } from './options.ts';

/** How long one try of one call may take unless told, in milliseconds. */
const usualCallMs = 3_000;

/** How long a subscription may be quiet before it is held against the log's end, in milliseconds. */
const usualQuietMs = 10_000;

/** How long `close` waits for the connection to end, in milliseconds. */
const closeWaitMs = 2_000;

/** An append that is always refused, since no stream is that long: only a leader that can write refuses it so. */
const writeCheck = {
  stream: 'write-check',
  expected: BigInt(Number.MAX_SAFE_INTEGER),
  events: [{ id: '00000000-0000-4000-8000-000000000000', type: 'WriteChecked', data: '{}', metadata: '{}' }],
} as const;

/** The log on EventStoreDB or KurrentDB. */
export type EventStoreDb = {
  readonly events: EventStore;
  /** Answers at once, from what the last calls showed. */
  readonly health: () => Health;
  /** When the last event of the log happened, for the clock; `undefined` where the log is empty. */
  readonly lastEventTime: () => Promise<string | undefined>;
  /** Ends the subscriptions with `StoreUnavailable`, and the connection. */
  readonly close: () => Promise<void>;
};

/**
 * Opens the log on a server of EventStoreDB 22.6 or newer, or KurrentDB. Throws where the connection string can't be
 * read; a server that is away is no error here: calls throw `StoreUnavailable` until it is there.
 */
export const openEventStoreDb = (options: EventStoreDbOptions): EventStoreDb => {
  const { connectionString, observe = {}, quietMs = usualQuietMs } = options;
  const settings = readConnectionString(connectionString);
  const ms = options.callMs ?? Number(settings.options.get('defaultdeadline') ?? usualCallMs);
  const closing = new AbortController();
  // Every call that waits to be tried again listens, and calls are bounded in number.
  setMaxListeners(0, closing.signal);
  const clients = createClients((nth) => createClient(settings, nth));
  const condition = createCondition(async () => {
    if (closing.signal.aborted) throw new StoreUnavailable('it is closed');
    await calls.once((client) => client.append(writeCheck, ms));
  });
  const calls = createCalls({ clients, observe, learn: condition.learn, closing: closing.signal });
  const log = createLog(calls, ms);
  const subscribe = createSubscribe({ clients, observe, head: log.head, quietMs, closing: closing.signal });

  const append: EventStore['append'] = async (wish) => {
    const startedAt = performance.now();
    const result = await log.append(wish);
    condition.learn(undefined);
    if (result.appended)
      observe.committed?.({ appends: 1, events: wish.events.length, ms: performance.now() - startedAt });
    else observe.conflict?.();
    return result;
  };

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    const late = new AbortController();
    await Promise.race([clients.close(), pause(closeWaitMs, late.signal)]);
    late.abort();
  };
  condition.health();
  return {
    events: {
      append,
      readStream: log.readStream,
      readAll: log.readAll,
      readAllBack: log.readAllBack,
      subscribe,
      head: log.head,
    },
    health: condition.health,
    lastEventTime: async () => (await log.lastEvent())?.time,
    close: () => (closed ??= close()),
  };
};
