import { startOfLog, type Position, type StoredEvent } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { batches } from './batches.ts';
import { readRow } from './client.ts';
import { createReducer, write, type Effects, type Failed } from './effects.ts';
import { stoppedWaitMs, type Leading } from './leading.ts';
import { keyOf } from './registry.ts';
import { createBackOff, sleep } from '../retrying.ts';
import { LeaseLost } from './term.ts';

/** Events that are applied at once. */
const batchEventsMax = 1_000;

/** A read model as its follower has it: how far it is, and what it remembers of its documents. */
type Follower = {
  readonly projection: Projection;
  readonly reduce: ReturnType<typeof createReducer>;
  at: Position;
};

type Reduced = {
  readonly follower: Follower;
  readonly mine: readonly StoredEvent[];
  readonly effects: Effects;
  readonly failed?: Failed;
};

const reduceAll = (
  { server, registry, again, before, decodeOnce }: Leading,
  followers: readonly Follower[],
  batch: readonly StoredEvent[],
): Promise<readonly Reduced[]> => {
  const decode = decodeOnce();
  return Promise.all(
    followers.map(async (follower) => {
      const { projection, reduce, at } = follower;
      const row = (id: string) =>
        again(() => registry.forProjector(keyOf(projection), (from) => readRow(server, from, id)));
      const mine = batch.filter(({ position }) => position > at);
      return { follower, mine, ...(await reduce(mine, decode, { row, before })) };
    }),
  );
};

const writeAll = async ({ registry, writer, again }: Leading, reduced: readonly Reduced[]): Promise<void> => {
  // Asked after the events came: whoever registers a collection later than this reads them from the log.
  const known = await again(registry.fresh);
  await Promise.all(
    reduced.map(({ follower: { projection }, effects }) =>
      again(() => write(writer, known.get(keyOf(projection))?.targets ?? [], effects)),
    ),
  );
};

/** Applies a batch, documents first and then the checkpoints; answers those that can't take one of its events. */
const apply = async (
  leading: Leading,
  followers: readonly Follower[],
  batch: readonly StoredEvent[],
): Promise<readonly Follower[]> => {
  const { term, again, observe, stop } = leading;
  const began = performance.now();
  const reduced = await reduceAll(leading, followers, batch);
  await writeAll(leading, reduced);
  const passed = reduced.filter(({ failed }) => failed === undefined).map(({ follower }) => follower);
  const keys = passed.map(({ projection }) => keyOf(projection));
  const checkpoint = batch.at(-1)?.position ?? startOfLog;
  if (keys.length > 0) await again(() => term.set(keys, { checkpoint, stopped: null }));
  for (const follower of passed) follower.at = checkpoint;
  const stopped: Follower[] = [];
  for (const { follower, mine, failed } of reduced) {
    if (failed === undefined) continue;
    await stop(follower.projection, failed, mine[mine.indexOf(failed.event) - 1]?.position);
    stopped.push(follower);
  }
  const projections = passed.map(({ projection }) => projection.name);
  observe.projected?.({ projections, events: batch.length, ms: performance.now() - began });
  return stopped;
};

/**
 * Follows the log until the signal aborts or the subscription ends, or until the only member stops: `stopped`. A
 * member that stops beside others leaves them, and goes on alone.
 */
const followOnce = async (
  leading: Leading,
  members: Set<Projection>,
  moved: () => void,
): Promise<'stopped' | 'ended'> => {
  const { registry, events, signal, tasks, again } = leading;
  const known = await again(registry.fresh);
  let followers: readonly Follower[] = [...members].map((projection) => ({
    projection,
    reduce: createReducer(projection),
    at: known.get(keyOf(projection))?.checkpoint ?? startOfLog,
  }));
  const from = followers.map(({ at }) => at).toSorted()[0] ?? startOfLog;
  for await (const batch of batches(events.subscribe(from, signal), batchEventsMax)) {
    const stopped = await apply(leading, followers, batch);
    if (followers.length > stopped.length) moved();
    if (stopped.length === 0) continue;
    if (followers.length === 1) return 'stopped';
    followers = followers.filter((it) => !stopped.includes(it));
    for (const { projection } of stopped) {
      members.delete(projection);
      tasks.run(follow(leading, [projection], stoppedWaitMs.first));
    }
    if (members.size === 0) break;
  }
  return 'ended';
};

/** Keeps these read models at the head of the log, from their checkpoints on, until the signal aborts. */
export const follow = async (leading: Leading, group: readonly Projection[], waitMs = 0): Promise<void> => {
  const { signal, told } = leading;
  const members = new Set(group);
  const whenStopped = createBackOff(signal, stoppedWaitMs.first, stoppedWaitMs.max);
  const whenAway = createBackOff(signal);
  const moved = (): void => {
    whenStopped.reset();
    whenAway.reset();
  };
  await sleep(waitMs, signal);
  while (!signal.aborted && members.size > 0) {
    try {
      const how = await followOnce(leading, members, moved);
      await (how === 'stopped' ? whenStopped : whenAway).wait();
    } catch (error) {
      if (signal.aborted || error instanceof LeaseLost) throw error;
      told('following the log', error);
      await whenAway.wait();
    }
  }
};
