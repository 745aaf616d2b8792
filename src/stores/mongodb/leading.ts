import type { Position, RecordedEvent, StoredEvent } from '../../core/event.ts';
import { StoreUnavailable, type EventStore } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import type { Server } from './client.ts';
import type { Decode, Failed } from './effects.ts';
import type { Observe } from './options.ts';
import { keyOf, type Registry } from './registry.ts';
import { retrying } from '../retrying.ts';
import { LeaseLost, type Term } from './term.ts';
import type { Writer } from './writer.ts';

/** How long a projection that has stopped waits before it tries its event again, first and at most, in milliseconds. */
export const stoppedWaitMs = { first: 500, max: 15_000 };

export type ProjectorInput = {
  readonly server: Server;
  readonly registry: Registry;
  readonly writer: Writer;
  readonly projections: readonly Projection[];
  readonly decode: Decode;
  readonly events: EventStore;
  readonly observe: Observe;
};

/** Pieces of work that belong to one term: the first that fails, in a way that nobody waits out, ends it. */
export const createTasks = (lost: AbortSignal) => {
  const failing = new AbortController();
  const running = new Set<Promise<void>>();
  let failure: unknown;
  return {
    signal: AbortSignal.any([lost, failing.signal]),
    run: (work: Promise<void>): void => {
      const task = work
        .catch((error: unknown) => {
          if (!lost.aborted) failure ??= error;
          failing.abort();
        })
        .finally(() => running.delete(task));
      running.add(task);
    },
    /** Resolves when all have ended; rejects with what failed first. */
    done: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
      if (failure !== undefined && !(failure instanceof LeaseLost)) throw failure;
    },
  };
};

/** What the projector's parts share while its node has the lease. */
export type Leading = ProjectorInput & {
  readonly term: Term;
  readonly tasks: ReturnType<typeof createTasks>;
  readonly signal: AbortSignal;
  readonly told: (task: string, error: unknown) => void;
  /** Does it again, with growing waits, as long as an engine is away. */
  readonly again: <T>(work: () => Promise<T>) => Promise<T>;
  /** A `decode` that decodes each event once, however many read models take it. */
  readonly decodeOnce: () => Decode;
  /** The events of this one's stream before it. */
  readonly before: (event: RecordedEvent) => Promise<readonly StoredEvent[]>;
  /** Says for all to see that a read model stands before this event, and moves its checkpoint up to there. */
  readonly stop: (projection: Projection, failed: Failed, checkpoint?: Position) => Promise<void>;
};

const once = (decode: Decode): Decode => {
  const decoded = new Map<StoredEvent, ReturnType<Decode>>();
  return (event) => {
    const known = decoded.get(event) ?? decode(event);
    decoded.set(event, known);
    return known;
  };
};

const eventsBefore = async (
  events: EventStore,
  { stream, revision }: RecordedEvent,
): Promise<readonly StoredEvent[]> => {
  const all: StoredEvent[] = [];
  while (all.length < revision) {
    const page = await events.readStream(stream, all.length);
    if (page.length === 0) throw new StoreUnavailable(`The log does not answer all of ${stream}.`);
    all.push(...page);
  }
  return all.slice(0, revision);
};

export const createLeading = (
  input: ProjectorInput,
  term: Term,
  tasks: ReturnType<typeof createTasks>,
): Leading => {
  const { observe, decode, events } = input;
  const { signal } = tasks;
  const told = (task: string, error: unknown): void => observe.failed?.({ task, error });
  const again = <T>(work: () => Promise<T>): Promise<T> =>
    retrying(signal, work, (error) => told('projecting', error));
  return {
    ...input,
    term,
    tasks,
    signal,
    told,
    again,
    decodeOnce: () => once(decode),
    before: (event) => again(() => eventsBefore(events, event)),
    stop: async (projection, { event, error }, checkpoint) => {
      observe.stopped?.({ projection: projection.name, event: event.id, error });
      const reason = error instanceof Error ? error.message : String(error);
      const stopped = { position: event.position, event: event.id, reason };
      await again(() =>
        term.set([keyOf(projection)], { stopped, ...(checkpoint !== undefined && { checkpoint }) }),
      );
    },
  };
};
