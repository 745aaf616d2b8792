import { setImmediate as nextTurn } from 'node:timers/promises';
import { startOfLog, toPosition, type Position, type StoredEvent } from '../../core/event.ts';
import { readPageEventsMax, StoreUnavailable } from '../../core/ports.ts';
import { prepareEvents } from './event-row.ts';
import type { Database } from './sqlite.ts';

/** Events a subscription holds at a time. */
const subscribePageEvents = 256;

const within = (limit: number): number => Math.max(1, Math.min(limit, readPageEventsMax));

/** Runs a read; what SQLite throws becomes `StoreUnavailable`. */
export const reading = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw new StoreUnavailable('The data file could not be read.', { cause: error });
  }
};

/** The reading side of the log, on the main thread: every read is one short synchronous statement. */
export const createLog = (db: Database) => {
  const ofStream = prepareEvents(db, 'WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?');
  const ofAll = prepareEvents(db, 'WHERE position > ? ORDER BY position LIMIT ?');
  const ofAllBack = prepareEvents(db, 'WHERE position < ? ORDER BY position DESC LIMIT ?');
  const last = db.prepare<{ position: number; time: string }>(
    'SELECT position, time FROM events ORDER BY position DESC LIMIT 1',
  );
  const sleepers = new Set<() => void>();
  /** The head as it was read last; forgotten with each commit, for every answer tells it. */
  let known: Position | undefined;
  let ended: string | undefined;

  const readStream = (stream: string, from: number, limit = readPageEventsMax): readonly StoredEvent[] =>
    reading(() => ofStream(stream, from, within(limit)));
  const readAll = (after: Position, limit = readPageEventsMax): readonly StoredEvent[] =>
    reading(() => ofAll(Number(after), within(limit)));
  // A position with more digits than the engine counts is behind every event, whatever is lost of it here.
  const readAllBack = (before: Position, limit = readPageEventsMax): readonly StoredEvent[] =>
    reading(() => ofAllBack(Math.min(Number(before), Number.MAX_SAFE_INTEGER), within(limit)));

  /** Resolves at the next commit, or when the signal aborts or the log ends. */
  const sleep = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        sleepers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      sleepers.add(wake);
      signal.addEventListener('abort', wake);
    });

  async function* subscribe(after: Position, signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
    let from = after;
    while (!signal.aborted) {
      if (ended !== undefined) throw new StoreUnavailable(ended);
      const page = readAll(from, subscribePageEvents);
      for (const event of page) {
        if (signal.aborted) return;
        yield event;
        from = event.position;
      }
      // No commit can be missed in between: its news comes as a later turn of the loop than this read.
      if (page.length === 0) await sleep(signal);
      // A long past must not keep the loop to itself.
      else await nextTurn();
    }
  }

  const wake = (): void => {
    known = undefined;
    for (const sleeper of sleepers) sleeper();
  };
  const readHead = (): Position => {
    const event = reading(() => last.get());
    return event === undefined ? startOfLog : toPosition(event.position);
  };
  return {
    readStream,
    readAll,
    readAllBack,
    subscribe,
    /** The position of the last event. */
    head: (): Position => (known ??= readHead()),
    lastEventTime: (): string | undefined => reading(() => last.get()?.time),
    /** Tells the subscriptions of a commit. */
    wake,
    /** Ends the subscriptions with `StoreUnavailable`. */
    end: (reason: string): void => {
      ended = reason;
      wake();
    },
  };
};
