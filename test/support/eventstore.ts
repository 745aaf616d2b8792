import type { StoredEvent } from '../../src/core/event.ts';
import type { EventStore } from '../../src/core/ports.ts';
import {
  openEventStoreDb,
  type EventStoreDb,
  type EventStoreDbOptions,
} from '../../src/stores/eventstoredb/index.ts';
import { startEventStoreDouble, type EventStoreDouble } from './eventstore-double/index.ts';

/** The adapter, and the double that it speaks to. */
export type OnDouble = EventStoreDb & { readonly double: EventStoreDouble };

/** The adapter on a new double that goes with it. */
export const openOnDouble = async (options: Partial<EventStoreDbOptions> = {}): Promise<OnDouble> => {
  const double = await startEventStoreDouble();
  const store = openEventStoreDb({ connectionString: double.connectionString, ...options });
  return { ...store, double, close: () => store.close().then(double.close) };
};

/** What the promise failed with; `undefined` where it did not. */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Follows the log from its start; `stop` ends that and waits for the end. */
export const followLog = (events: EventStore) => {
  const abort = new AbortController();
  const seen: StoredEvent[] = [];
  const read = async (): Promise<void> => {
    for await (const event of events.subscribe('0', abort.signal)) seen.push(event);
  };
  const ended = read();
  ended.catch(() => undefined);
  return {
    seen: seen as readonly StoredEvent[],
    ended,
    stop: async (): Promise<void> => {
      abort.abort();
      await ended;
    },
  };
};

/** Every event of the log, in pages. */
export const wholeLog = async (events: EventStore): Promise<readonly StoredEvent[]> => {
  const all: StoredEvent[] = [];
  for (let page = await events.readAll('0'); page.length > 0;) {
    all.push(...page);
    page = await events.readAll(all.at(-1)?.position ?? '0');
  }
  return all;
};
