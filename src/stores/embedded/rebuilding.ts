import type { Writing } from './batch.ts';
import { build, merge, sweep, type FeedOptions } from './build.ts';
import { toWireError, type FromWriter } from './protocol.ts';
import { Unwritable } from './transaction.ts';

/** Events per transaction of a rebuild: a few milliseconds, which is what an append then waits at most. */
const chunkEventsMin = 300;

/** What the rebuilds need around them. */
export type RebuildingInput = {
  /** The position of the last event. */
  readonly head: () => number;
  readonly post: (message: FromWriter) => void;
  /** Called after each step, whose writes have grown the WAL. */
  readonly stepped: () => void;
  /** Told where the disk fails. */
  readonly broken: (error: unknown) => void;
};

/** The writer's work between batches: rebuilds and the removal of what they leave, one small step at a time. */
export const createRebuilding = (writing: Writing, { head, post, stepped, broken }: RebuildingInput) => {
  const { live } = writing;
  const jobs: Generator<unknown, void>[] = [];
  /** Tables that are live no more but that the readers have not left yet. */
  const read = new Set<string>();

  const chunks = (): (() => number) => {
    let before = head();
    return () => {
      // Twice what came in since: under any load the rebuild gains on the head.
      const events = Math.max(chunkEventsMin, 2 * (head() - before));
      before = head();
      return events;
    };
  };

  function* refill(index: number, name: string): Generator<unknown, void> {
    const target = live[index];
    if (target === undefined) throw new Error(`There is no read model ${name}.`);
    const tell = (checkpoint: number): void => post({ kind: 'rebuilding', name, checkpoint });
    if (target.projection.kind === 'tombstones') {
      const progress: FeedOptions['progress'] = (checkpoint, [written = []]) => {
        post({ kind: 'touched', touched: live.map((it) => (it === target ? written : [])) });
        tell(checkpoint);
      };
      yield* merge(writing, target, { chunkEvents: chunks(), progress });
      return;
    }
    for (const built of yield* build(writing, [target.projection], {
      chunkEvents: chunks(),
      progress: tell,
      isServing: true,
    })) {
      live[index] = built.target;
      const { version } = target.projection;
      read.add(target.table);
      post({ kind: 'swapped', model: { name, version, table: built.target.table }, left: target.table });
    }
  }

  function* rebuild(name: string): Generator<unknown, void> {
    try {
      yield* refill(
        live.findIndex(({ projection }) => projection.name === name),
        name,
      );
      post({ kind: 'rebuilt', name });
    } catch (error) {
      if (error instanceof Unwritable && error.reason === 'broken') throw error;
      post({ kind: 'rebuilt', name, error: toWireError(error), refused: error instanceof Unwritable });
      yield* tidy();
    }
  }

  function* tidy(): Generator<unknown, void> {
    try {
      yield* sweep(writing, (table) => read.has(table));
    } catch (error) {
      // A full disk: the leftovers go with the next rebuild, or at the next start.
      if (!(error instanceof Unwritable) || error.reason === 'broken') throw error;
    }
  }

  const step = (): void => {
    try {
      if (jobs[0]?.next().done === true) jobs.shift();
      stepped();
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      return broken(error);
    }
    // Messages come in between two immediates, so a batch of appends waits for one step at most.
    if (jobs.length > 0) setImmediate(step);
  };
  const start = (job: Generator<unknown, void>): void => {
    if (jobs.push(job) === 1) setImmediate(step);
  };

  return {
    start: (name: string): void => start(rebuild(name)),
    leave: (table: string): void => {
      read.delete(table);
      start(tidy());
    },
    /** Drops what is under way; a shadow table that stays behind is removed at the next start. */
    stop: (): void => void jobs.splice(0),
  };
};
