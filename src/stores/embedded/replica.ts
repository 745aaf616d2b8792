import { setTimeout as passed } from 'node:timers/promises';
import { startOfLog, toPosition, type Position, type StoredEvent } from '../../core/event.ts';
import {
  readPageEventsMax,
  StoreUnavailable,
  type EventStore,
  type Health,
  type ReadModels,
} from '../../core/ports.ts';
import { reachWithin } from '../reach.ts';
import { openEmbedded, replicaFileName } from './folder.ts';
import type { EmbeddedOptions } from './options.ts';

/** How long a write waits for the replica to have its events, in milliseconds. */
const settleTimeoutMs = 5_000;

/** Events that wait for the replica's next commit. */
const waitingEventsMax = 4 * readPageEventsMax;

/** How long is waited before what failed is tried again, in milliseconds. */
const retryAfterMs = 250;

/** Read models of a log that lies elsewhere. */
export type Replica = {
  readonly readModels: ReadModels;
  readonly health: () => Health;
  readonly lastEventTime: () => string | undefined;
  readonly close: () => Promise<void>;
};

type Waiter = {
  readonly position: Position;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
};

/** Those who wait until the replica has come to a position. */
const createWaiters = () => {
  const waiting = new Set<Waiter>();
  return {
    reached: (position: Position): void => {
      for (const waiter of waiting) if (waiter.position <= position) waiter.resolve();
    },
    wait: async (position: Position): Promise<void> => {
      let timer: NodeJS.Timeout | undefined;
      let waiter: Waiter | undefined;
      try {
        await new Promise<void>((resolve, reject) => {
          waiter = { position, resolve, reject };
          waiting.add(waiter);
          const late = new StoreUnavailable('The read models have not come to what was written.');
          timer = setTimeout(() => reject(late), settleTimeoutMs);
        });
      } finally {
        clearTimeout(timer);
        if (waiter !== undefined) waiting.delete(waiter);
      }
    },
  };
};

/**
 * Read models on SQLite of a log elsewhere: the folder keeps a copy of the log, and takes each event together with
 * its documents in one transaction. Resolves when it holds the whole log, which for a new folder takes as long as
 * reading all of it. A write settles when the copy has it, so that reads on this node see it.
 */
export const openReplica = async (
  options: EmbeddedOptions & { readonly source: EventStore },
): Promise<Replica> => {
  const { source } = options;
  const engine = await openEmbedded(options, replicaFileName);
  const waiters = createWaiters();
  const stop = new AbortController();
  let at = await engine.events.head();
  let fault: string | undefined;

  const take = async (events: readonly StoredEvent[]): Promise<void> => {
    await engine.replicate(events);
    at = events.at(-1)?.position ?? at;
    fault = undefined;
    waiters.reached(at);
  };

  /** Refuses a folder whose copy is of another log: its last event must stand at the same place there. */
  const compare = async (): Promise<void> => {
    if (at === startOfLog) return;
    const before = toPosition(BigInt(at) - 1n);
    const [there] = await source.readAll(before, 1);
    const [here] = await engine.events.readAll(before, 1);
    if (there?.id === here?.id) return;
    throw new Error(
      `${options.dir} holds a copy of another log: name an empty folder, and it is filled from this one.`,
    );
  };

  const catchUp = async (): Promise<void> => {
    for (;;) {
      const page = await source.readAll(at, readPageEventsMax);
      if (page.length > 0) await take(page);
      if (page.length < readPageEventsMax) return;
    }
  };

  /** Takes what has come; an event that can't be taken stops it there, and is tried again until it can. */
  const drain = async (arrived: StoredEvent[]): Promise<void> => {
    while (arrived.length > 0 && !stop.signal.aborted) {
      const batch = arrived.slice(0, readPageEventsMax);
      try {
        await take(batch);
        arrived.splice(0, batch.length);
      } catch (error) {
        fault = `The event behind position ${at} can't be taken: ${error instanceof Error ? error.message : String(error)}`;
        await passed(retryAfterMs);
      }
    }
  };

  const followOnce = async (): Promise<void> => {
    const arrived: StoredEvent[] = [];
    let draining: Promise<void> | undefined;
    for await (const event of source.subscribe(at, stop.signal)) {
      arrived.push(event);
      draining ??= drain(arrived).finally(() => (draining = undefined));
      if (arrived.length >= waitingEventsMax) await draining;
    }
    await draining;
  };

  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await catchUp();
        fault = undefined;
        await followOnce();
      } catch (error) {
        fault = `The log can't be followed: ${error instanceof Error ? error.message : String(error)}`;
      }
      if (!stop.signal.aborted) await passed(retryAfterMs);
    }
  };

  try {
    await compare();
    await catchUp();
  } catch (error) {
    await engine.close();
    throw error;
  }
  const following = follow();
  return {
    readModels: {
      ...engine.readModels,
      settle: async (events) => {
        const last = events.at(-1)?.position ?? startOfLog;
        if (last > at) await waiters.wait(last);
      },
      position: () => at,
      reach: (position) => reachWithin(position, () => at),
    },
    health: () => (fault === undefined ? engine.health() : { ready: false, reason: fault }),
    lastEventTime: engine.lastEventTime,
    close: async () => {
      stop.abort();
      await following;
      await engine.close();
    },
  };
};
