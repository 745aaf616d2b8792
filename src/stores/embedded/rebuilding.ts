import type { Writing } from './batch.ts';
import { build, merge, sweep, type BuildOptions, type FeedOptions } from './build.ts';
import { toWireError, type FromWriter } from './protocol.ts';
import type { Target } from './target.ts';
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
  /** Read models that somebody wants rebuilt and that no job has begun with. */
  const wanted: string[] = [];
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

  const indexOf = (name: string): number => {
    const index = live.findIndex(({ projection }) => projection.name === name);
    if (index === -1) throw new Error(`There is no read model ${name}.`);
    return index;
  };
  const isMerged = (name: string): boolean =>
    live.some(({ projection }) => projection.name === name && projection.kind === 'tombstones');

  function* remerge(target: Target): Generator<unknown, void> {
    const { name } = target.projection;
    const progress: FeedOptions['progress'] = (checkpoint, [written = []]) => {
      post({ kind: 'touched', touched: live.map((it) => (it === target ? written : [])) });
      post({ kind: 'rebuilding', names: [name], checkpoint });
    };
    yield* merge(writing, target, { chunkEvents: chunks(), progress });
  }

  function* refill(names: readonly string[]): Generator<unknown, void> {
    const targets = names.map((name) => live[indexOf(name)]).filter((it) => it !== undefined);
    const [first] = targets;
    if (first?.projection.kind === 'tombstones') return yield* remerge(first);
    const options: BuildOptions = {
      chunkEvents: chunks(),
      progress: (checkpoint) => post({ kind: 'rebuilding', names, checkpoint }),
      isServing: true,
    };
    const projections = targets.map(({ projection }) => projection);
    for (const [n, { target }] of (yield* build(writing, projections, options)).entries()) {
      const { name, version } = target.projection;
      const left = targets[n]?.table ?? '';
      live[indexOf(name)] = target;
      read.add(left);
      post({ kind: 'swapped', model: { name, version, table: target.table }, left });
    }
  }

  function* rebuild(names: readonly string[]): Generator<unknown, void> {
    try {
      yield* refill(names);
      for (const name of names) post({ kind: 'rebuilt', name });
    } catch (error) {
      const refused = error instanceof Unwritable;
      if (refused && error.reason === 'broken') throw error;
      if (names.length > 1 && !refused) {
        // One of them is at fault: by itself each is told what it is, and the others are rebuilt.
        yield* tidy();
        for (const name of names) yield* rebuild([name]);
        return;
      }
      for (const name of names) post({ kind: 'rebuilt', name, error: toWireError(error), refused });
      yield* tidy();
    }
  }

  /** All that are wanted by now: one pass over the log fills them, and those that are merged have one each. */
  function* rebuildWanted(): Generator<unknown, void> {
    const names = wanted.splice(0);
    for (const name of names.filter(isMerged)) yield* rebuild([name]);
    const filled = names.filter((name) => !isMerged(name));
    if (filled.length > 0) yield* rebuild(filled);
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
    start: (name: string): void => {
      wanted.push(name);
      start(rebuildWanted());
    },
    leave: (table: string): void => {
      read.delete(table);
      start(tidy());
    },
    /** Drops what is under way; a shadow table that stays behind is removed at the next start. */
    stop: (): void => void jobs.splice(0),
  };
};
