import { startOfLog, type Position, type StoredEvent } from '../../core/event.ts';
import { readPageEventsMax } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import { readRow } from './client.ts';
import { createReducer, write, type Failed } from './effects.ts';
import type { Leading } from './leading.ts';
import { keepsPast } from './past.ts';
import { keyOf } from './registry.ts';
import { sleep } from '../retrying.ts';

/** How long a build waits where the log answers less than its head promised, in milliseconds. */
const pauseMs = 50;

/** An event that can't be projected, as an error. */
export class Unprojectable extends Error {
  override readonly name = 'Unprojectable';
  readonly projection: Projection;
  readonly failed: Failed;

  constructor(projection: Projection, failed: Failed) {
    const { type, id, position } = failed.event;
    const why = failed.error instanceof Error ? failed.error.message : String(failed.error);
    super(`${projection.name} can't take ${type} ${id} at ${position}: ${why}`, { cause: failed.error });
    this.projection = projection;
    this.failed = failed;
  }
}

/** A read model on its way into a collection. */
type Part = {
  readonly projection: Projection;
  /** What answers until it is swapped; absent where it is filled for the first time. */
  readonly live: string | undefined;
  readonly target: string;
  readonly reduce: ReturnType<typeof createReducer>;
};

const createParts = async (
  { term, again }: Leading,
  projections: readonly Projection[],
  liveOf: (projection: Projection) => string | undefined,
): Promise<readonly Part[]> => {
  const parts: Part[] = [];
  for (const projection of projections) {
    const live = liveOf(projection);
    // Tombstones are merged into what there is, which so is never empty or behind.
    const merges = projection.kind === 'tombstones' && live !== undefined && keepsPast(live);
    const target = merges ? live : await again(() => term.addTarget(projection));
    parts.push({ projection, live, target, reduce: createReducer(projection) });
  }
  return parts;
};

const take = async (
  leading: Leading,
  parts: readonly Part[],
  page: readonly StoredEvent[],
): Promise<void> => {
  const { server, writer, again, before } = leading;
  const decode = leading.decodeOnce();
  await Promise.all(
    parts.map(async ({ projection, target, reduce }) => {
      const row = (id: string) => again(() => readRow(server, target, id));
      const { effects, failed } = await reduce(page, decode, { row, before });
      await again(() => write(writer, [target], effects));
      if (failed !== undefined) throw new Unprojectable(projection, failed);
    }),
  );
};

/** Feeds the whole log; resolves with the last position, which is not before the head as it was at the start. */
const feed = async (leading: Leading, parts: readonly Part[]): Promise<Position> => {
  const { events, term, signal, again } = leading;
  const keys = parts.map(({ projection }) => keyOf(projection));
  const head = await again(() => events.head());
  let at = startOfLog;
  let next = again(() => events.readAll(startOfLog));
  for (;;) {
    const page = await next;
    const last = page.at(-1)?.position ?? at;
    const isLast = page.length < readPageEventsMax && last >= head;
    // The next page comes while this one is written.
    if (!isLast) next = again(() => events.readAll(last));
    next.catch(() => {});
    await take(leading, parts, page);
    at = last;
    await again(() => term.set(keys, { building: { checkpoint: at } }));
    if (isLast) return at;
    if (page.length === 0) await sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
};

/**
 * Fills collections from the whole log, in one pass for all of them, and makes them live. Commands write to them too
 * from the moment they are registered, and the head that is then read is the last that may be missing from them: so
 * a build that has come to it holds everything. Throws `Unprojectable`; what it made is then left.
 */
export const build = async (
  leading: Leading,
  projections: readonly Projection[],
  liveOf: (projection: Projection) => string | undefined,
): Promise<void> => {
  const { term, signal, told, again } = leading;
  const parts = await createParts(leading, projections, liveOf);
  const leave = (key: string, collection: string | undefined): void => {
    if (collection === undefined) return;
    term.retire(key, collection).catch((error: unknown) => told('leaving a collection', error));
  };
  try {
    const at = await feed(leading, parts);
    for (const { projection, live, target } of parts) {
      // One that was live goes on from where its own follower is.
      await again(() => term.swap(keyOf(projection), target, live === undefined ? at : undefined));
    }
  } catch (error) {
    if (!signal.aborted) await again(() => term.set(projections.map(keyOf), { building: null }));
    for (const { projection, live, target } of parts) if (target !== live) leave(keyOf(projection), target);
    throw error;
  }
  for (const { projection, live, target } of parts) if (target !== live) leave(keyOf(projection), live);
};
