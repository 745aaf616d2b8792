import { setImmediate as nextTurn, setTimeout as passed } from 'node:timers/promises';
import { startOfLog, type Position } from '../core/event.ts';
import type { Clock, EventStore } from '../core/ports.ts';
import type { CheckpointFact } from '../events/checkpoint.ts';
import { BrokenSeal } from './blocks.ts';
import { digestOf, originOf, textOf } from './checkpoint.ts';
import { createPart, type Part } from './part.ts';
import type { Sealed, SealedLog } from './sealed-log.ts';
import type { Signer } from './signed-note.ts';

/** The most events that one checkpoint covers and the one before did not: their fingerprints stand in one event. */
export const sealedAtOnceMax = 10_000;

/** Events that are read and hashed in one turn of the loop. */
const pageEvents = 200;

/** How often it is looked whether a checkpoint is due, in milliseconds. */
const lookEveryMs = 1_000;

/** How long is waited after a failure, in milliseconds. */
const retryAfterMs = 10_000;

/** How long after the start it is looked at the latest what was left uncovered, in milliseconds. */
const firstMsMax = 60_000;

/** How long the last checkpoint may take when the service stops, in milliseconds. */
const lastMsMax = 2_000;

/** What the sealer needs around it. */
export type SealerNeeds = {
  readonly log: Pick<EventStore, 'readAll'>;
  readonly sealedLog: SealedLog;
  readonly signer: Signer;
  readonly clock: Clock;
  /** States a checkpoint; answers false where another node has stated the one of this number first. */
  readonly state: (checkpoint: CheckpointFact['data']) => Promise<boolean>;
  /** A checkpoint is due after so many events of this node, or when the oldest that is not covered has waited so long. */
  readonly everyEvents: number;
  readonly everyMs: number;
  /** Told of what stands against a checkpoint; it is tried again. */
  readonly failed: (error: unknown) => void;
};

/** Seals the log now and then. */
export type Sealer = {
  /** Counts events that this node has written. */
  readonly wrote: (events: number) => void;
  /** Covers all that stands in the log now; answers the last checkpoint, absent where the log is empty. */
  readonly seal: () => Promise<Sealed | undefined>;
  /** What stands against the next checkpoint, where something does. */
  readonly warning: () => string | undefined;
  /** Seals what is left, for two seconds at most, and rests; never rejects. */
  readonly stop: () => Promise<void>;
};

/** Goes through the part that the last checkpoint does not cover, and states checkpoints up to the log's end. */
const createSealing = ({ log, sealedLog, signer, clock, state }: SealerNeeds) => {
  const { blocks } = sealedLog;

  /** Takes the block that is not whole up to the checkpoint's end again, and holds it against the root. */
  const resume = async (sealed: Sealed | undefined): Promise<[Part, Position]> => {
    const part = createPart(blocks.tree());
    let at = await blocks.beforeBlock(blocks.count());
    const left = (sealed?.tree_size ?? 0) - part.size();
    if (left > 0) {
      const events = await log.readAll(at, left);
      for (const event of events) part.put(event);
      at = events.at(-1)?.position ?? at;
    }
    if (sealed !== undefined && part.root() !== sealed.root_hash)
      throw new BrokenSeal(`The log is not what checkpoint ${sealed.number} has sealed.`);
    return [part, at];
  };

  /** Reads on until the end, or until there is enough; answers whether it was the end. */
  const read = async (part: Part, from: Position): Promise<boolean> => {
    for (let at = from; part.fresh() < sealedAtOnceMax;) {
      const limit = Math.min(pageEvents, sealedAtOnceMax - part.fresh());
      const page = await log.readAll(at, limit);
      for (const event of page) part.putFresh(event);
      if (page.length < limit) return true;
      at = page.at(-1)?.position ?? at;
      await nextTurn();
    }
    return false;
  };

  const sign = async (part: Part, sealed: Sealed | undefined): Promise<CheckpointFact['data']> => {
    const [firstOfLog] = sealed === undefined ? await log.readAll(startOfLog, 1) : [];
    const covered = part.covered();
    const text = textOf({
      origin: sealed?.origin ?? originOf(firstOfLog?.id ?? ''),
      tree_size: part.size(),
      root_hash: part.root(),
      time: new Date(clock()).toISOString(),
      previous: sealed === undefined ? null : digestOf(sealed.note),
      fingerprints: digestOf(covered.fingerprints),
    });
    return { number: (sealed?.number ?? 0) + 1, note: signer.sign(text), ...covered };
  };

  /** Answers whether something may be left: more than one checkpoint covers, or what another node did not cover. */
  return async (): Promise<boolean> => {
    const sealed = await sealedLog.advance();
    const [part, at] = await resume(sealed);
    const isEnd = await read(part, at);
    if (!part.hasNews()) return false;
    const isStated = await state(await sign(part, sealed));
    return !isStated || !isEnd;
  };
};

/** Begins to seal what is due. */
export const createSealer = (needs: SealerNeeds): Sealer => {
  const { clock, everyEvents, everyMs, failed, sealedLog } = needs;
  const sealOnce = createSealing(needs);
  /** Events of this node that no checkpoint covers, at most; at the start nobody knows of any. */
  let uncovered = 1;
  // One that is killed again and again must not wait each time as long as one that goes on.
  let dueMs = clock() + Math.min(everyMs, firstMsMax);
  const stopped = new AbortController();
  let running: Promise<void> | undefined;
  let warning: string | undefined;

  const sealAll = async (): Promise<void> => {
    const before = uncovered;
    try {
      while ((await sealOnce()) && !stopped.signal.aborted) await nextTurn();
      uncovered -= before;
      dueMs = clock() + everyMs;
      warning = undefined;
    } catch (error) {
      dueMs = clock() + retryAfterMs;
      warning = `The log can't be sealed: ${error instanceof Error ? error.message : String(error)}`;
      throw error;
    }
  };
  const seal = (): Promise<void> => (running ??= sealAll().finally(() => (running = undefined)));
  const sealOrTell = (): Promise<void> =>
    seal().catch((error: unknown) => {
      // What was given up when the service stopped has no news.
      if (!stopped.signal.aborted) failed(error);
    });

  // What failed is tried again whoever wrote what it was about, else the warning of it would stay.
  const isDue = (): boolean =>
    warning === undefined
      ? uncovered > 0 && (uncovered >= everyEvents || clock() >= dueMs)
      : clock() >= dueMs;
  const looking = setInterval(() => {
    if (running === undefined && isDue()) void sealOrTell();
  }, lookEveryMs);
  looking.unref();

  const sealLeft = async (): Promise<void> => {
    await running?.catch(() => undefined);
    if (uncovered > 0 && !stopped.signal.aborted) await sealOrTell();
  };

  return {
    wrote: (events) => {
      if (uncovered === 0) dueMs = clock() + everyMs;
      uncovered += events;
    },
    warning: () => warning,
    seal: async () => {
      // What runs already may have read the log before the last event came.
      await running?.catch(() => undefined);
      await seal();
      return sealedLog.advance();
    },
    stop: async () => {
      clearInterval(looking);
      const late = passed(lastMsMax, undefined, { ref: false });
      await Promise.race([sealLeft(), late]);
      stopped.abort();
    },
  };
};
