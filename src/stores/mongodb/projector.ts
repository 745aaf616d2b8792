import type { Projection } from '../../core/projection.ts';
import { build, Unprojectable } from './build.ts';
import { follow } from './following.ts';
import { createLeading, createTasks, stoppedWaitMs, type Leading, type ProjectorInput } from './leading.ts';
import type { Lease } from './lease.ts';
import { rebuildWishes } from './rebuilds.ts';
import { keyOf } from './registry.ts';
import { createBackOff, sleep } from '../retrying.ts';
import { beginTerm, tidy } from './term.ts';

/** How often it looks whether a rebuild is wanted, in milliseconds. */
const wishesEveryMs = 500;

/**
 * Fills read models for the first time, all in one pass, and then follows the log for them. One that can't take an
 * event is filled alone, again and again until it can.
 */
const fill = async (leading: Leading, group: readonly Projection[]): Promise<void> => {
  const { signal, stop, tasks } = leading;
  const backOff = createBackOff(signal, stoppedWaitMs.first, stoppedWaitMs.max);
  let rest = group;
  while (!signal.aborted && rest.length > 0) {
    try {
      await build(leading, rest, () => undefined);
      return await follow(leading, rest);
    } catch (error) {
      if (signal.aborted || !(error instanceof Unprojectable)) throw error;
      await stop(error.projection, error.failed);
      if (rest.length === 1) await backOff.wait();
      else {
        rest = rest.filter((it) => it !== error.projection);
        tasks.run(fill(leading, [error.projection]));
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
  // While it is filled for the first time, that is the rebuild.
  const isFilling = live === undefined;
  while (live === undefined && !signal.aborted) {
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
    const isLive = (it: Projection): boolean => term.begun.get(keyOf(it))?.live !== undefined;
    const filled = projections.filter(isLive);
    const empty = projections.filter((it) => !isLive(it));
    if (filled.length > 0) tasks.run(follow(leading, filled));
    if (empty.length > 0) tasks.run(fill(leading, empty));
    tasks.run(serveWishes(leading));
    tasks.run(tidy(termInput, term).catch((error: unknown) => told('tidying up', error)));
    await tasks.done();
  };
