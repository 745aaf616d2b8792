import type { Position, StoredEvent } from '../../core/event.ts';
import { StoreUnavailable } from '../../core/ports.ts';
import type { Clients } from './clients.ts';
import { isOfLog, toStoredEvent, type ServerEvent } from './envelope.ts';
import type { Observe } from './options.ts';
import { pause, pauseMs } from './pause.ts';

/** The pause before a subscription is first made anew, and the longest one, in milliseconds. */
const firstPauseMs = 100;
const longestPauseMs = 5_000;

type Needs = {
  readonly clients: Clients;
  readonly observe: Observe;
  readonly head: () => Promise<Position>;
  /** How long a subscription may be quiet before it is held against the head. */
  readonly quietMs: number;
  readonly closing: AbortSignal;
};

/** Aborts when one of them does, until it is let go of. */
const either = (signals: readonly AbortSignal[]) => {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  }
  return {
    signal: controller.signal,
    abort,
    release: (): void => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
    },
  };
};

/** The place in the log that a reader has come to, and whether it waits for more. */
type Progress = { last: Position; isWaiting: boolean };

/**
 * Calls `cut` where the reader has waited for `quietMs` and the log had an event for it all that time, or can't be
 * asked: a subscription can be dropped without a word, and its connection live.
 */
const watch = (progress: Progress, head: () => Promise<Position>, quietMs: number, cut: () => void) => {
  let due: Position | undefined;
  let isAsking = false;
  const look = async (): Promise<void> => {
    if (!progress.isWaiting) due = undefined;
    else if (due !== undefined && progress.last < due) cut();
    else due = await head();
  };
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    look()
      .catch(cut)
      .finally(() => (isAsking = false));
  }, quietMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
};

/** Subscriptions that last: what the server drops is made anew behind the last event that was given. */
export const createSubscribe = ({ clients, observe, head, quietMs, closing }: Needs) => {
  /** One subscription of the server's, until it ends or fails. */
  async function* one(progress: Progress, outer: AbortSignal): AsyncGenerator<StoredEvent, void> {
    const cut = either([outer]);
    const watching = watch(progress, head, quietMs, cut.abort);
    const lease = clients.take();
    try {
      progress.isWaiting = true;
      const events: AsyncIterable<ServerEvent> = lease.client.subscribe(BigInt(progress.last), cut.signal);
      for await (const event of events) {
        if (!isOfLog(event)) continue;
        const stored = toStoredEvent(event);
        if (stored.position <= progress.last) continue;
        progress.isWaiting = false;
        progress.last = stored.position;
        yield stored;
        progress.isWaiting = true;
      }
    } catch (error) {
      lease.failed(error);
      throw error;
    } finally {
      watching.stop();
      cut.release();
      lease.release();
    }
  }

  return async function* subscribe(after: Position, signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
    const progress: Progress = { last: after, isWaiting: false };
    const ending = either([signal, closing]);
    let failures = 0;
    try {
      while (!ending.signal.aborted) {
        let reason = 'it ended';
        try {
          for await (const event of one(progress, ending.signal)) {
            failures = 0;
            if (ending.signal.aborted) break;
            yield event;
          }
        } catch (error) {
          reason = error instanceof Error ? error.message : String(error);
        }
        if (ending.signal.aborted) break;
        failures += 1;
        observe.resubscribed?.({ reason });
        await pause(pauseMs(failures, firstPauseMs, longestPauseMs), ending.signal);
      }
    } finally {
      ending.release();
    }
    if (!signal.aborted) throw new StoreUnavailable('The event store is closed.');
  };
};
