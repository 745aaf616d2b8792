import type { Projection } from '../../core/projection.ts';
import { build, Unprojectable } from './build.ts';
import { follow } from './following.ts';
import { createLeading, createTasks, stoppedWaitMs, type Leading, type ProjectorInput } from './leading.ts';
import type { Lease } from './lease.ts';
import { keepsPast } from './past.ts';
import { rebuildWishes } from './rebuilds.ts';
import { keyOf } from './registry.ts';
import { createBackOff, sleep } from '../retrying.ts';
import { beginTerm, tidy } from './term.ts';

/** How often it looks whether a rebuild is wanted, in milliseconds. */
const wishesEveryMs = 500;

/**
 * Fills read models all in one pass, and then does what is next for them. One that can't take an event is filled alone,
 * again and again until it can.
 */
const fillEach = async (
  leading: Leading,
  group: readonly Projection[],
  liveOf: (projection: Projection) => string | undefined,
  next: (filled: readonly Projection[]) => Promise<void>,
): Promise<void> => {
  const { signal, stop, told, tasks } = leading;
  const backOff = createBackOff(signal, stoppedWaitMs.first, stoppedWaitMs.max);
  let rest = group;
  while (!signal.aborted && rest.length > 0) {
    try {
      await build(leading, rest, liveOf);
      return await next(rest);
    } catch (error) {
      if (signal.aborted || !(error instanceof Unprojectable)) throw error;
      // Where one answers meanwhile, its follower alone says whether that stands.
      if (liveOf(error.projection) === undefined) await stop(error.projection, error.failed);
      else told('filling the past', error);
      if (rest.length === 1) await backOff.wait();
      else {
        rest = rest.filter((it) => it !== error.projection);
        tasks.run(fillEach(leading, [error.projection], liveOf, next));
      }
    }
  }
};

/** Rebuilds one read model beside the live one, and says how it ended. */
const rebuild = async (leading: Leading, projection: Projection, id: string): Promise<void> => {
  const { registry, term, signal, again } = leading;
  const key = keyOf(projection);
  const liveNow = async (): Promise<string | undefined> => (await again(registry.fresh)).get(key)?.live;
  let live = await liveNow();
  const isFilled = (): boolean => live !== undefined && keepsPast(live);
  // While it is filled for the first time, or for its past, that is the rebuild.
  const isFilling = !isFilled();
  while (!isFilled() && !signal.aborted) {
    await sleep(wishesEveryMs, signal);
    live = await liveNow();
  }
  let error: string | null = null;
  try {
    if (!isFilling) await build(leading, [projection], () => live);
  } catch (cause) {
    if (signal.aborted || !(cause instanceof Unprojectable)) throw cause;
    error = cause.message;
  }
  await again(() => term.set([key], { rebuilt: { id, error } }));
};

/** Does the rebuilds that any node asks for. */
const serveWishes = async (leading: Leading): Promise<void> => {
  const { server, projections, signal, tasks, again } = leading;
  const wishes = rebuildWishes(server);
  const underWay = new Set<string>();
  while (!signal.aborted) {
    for (const { _id, id } of await again(wishes.all)) {
      const projection = projections.find((it) => keyOf(it) === _id);
      if (projection === undefined || underWay.has(_id)) continue;
      underWay.add(_id);
      tasks.run(
        rebuild(leading, projection, id)
          .then(() => again(() => wishes.remove(_id)))
          .finally(() => underWay.delete(_id)),
      );
    }
    await sleep(wishesEveryMs, signal);
  }
};

/** Follows the log for all read models under a lease, and fills and refills them; resolves when the lease is lost. */
export const createProjector =
  (input: ProjectorInput) =>
  async ({ token, lost }: Lease): Promise<void> => {
    const { server, registry, projections } = input;
    const tasks = createTasks(lost);
    const told = (task: string, error: unknown): void => input.observe.failed?.({ task, error });
    const termInput = { server, registry, projections, token, signal: tasks.signal, told };
    const term = await beginTerm(termInput);
    const leading = createLeading(input, term, tasks);
    const liveOf = (it: Projection): string | undefined => term.begun.get(keyOf(it))?.live;
    const answering = projections.filter((it) => liveOf(it) !== undefined);
    const empty = projections.filter((it) => liveOf(it) === undefined);
    // What an earlier version of the program has left answers while the same is filled beside it, with its past.
    const pastless = answering.filter((it) => !keepsPast(liveOf(it) ?? ''));
    if (answering.length > 0) tasks.run(follow(leading, answering));
    if (empty.length > 0) tasks.run(fillEach(leading, empty, liveOf, (filled) => follow(leading, filled)));
    if (pastless.length > 0) tasks.run(fillEach(leading, pastless, liveOf, async () => {}));
    tasks.run(serveWishes(leading));
    tasks.run(tidy(termInput, term).catch((error: unknown) => told('tidying up', error)));
    await tasks.done();
  };
