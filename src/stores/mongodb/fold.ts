import { LRUCache } from 'lru-cache';
import type { RecordedEvent } from '../../core/event.ts';
import type { Change, Projection } from '../../core/projection.ts';
import type { RowState } from './client.ts';

/** Documents that a fold remembers, so that a stream's next event need not read them again. */
const rememberedMax = 10_000;

/** Documents that are read at once. */
const readsAtOnce = 16;

/** A document on its way: its row, and the value that the row's text stands for. */
type Held = RowState & { readonly document: unknown };

const none: Held = { r: -1, document: undefined };

/** What an event does to a read model's documents. */
export type Planned = { readonly event: RecordedEvent; readonly changes: readonly Change<unknown>[] };

/** Asks the reducer; throws what it throws. */
export const plan = (projection: Projection, event: RecordedEvent): Planned => ({
  event,
  changes: projection.on[event.type]?.(event) ?? [],
});

const after = (
  held: Held,
  { id, to }: Change<unknown>,
  { revision, position }: RecordedEvent,
  it: Projection,
): Held => {
  const document = to(held.document);
  if (document === undefined) {
    // What never was needs no row.
    return held.r === -1 ? held : { r: revision, document };
  }
  const isBorn = held.document === undefined;
  const group = isBorn ? it.group?.(document, id) : held.g;
  const subgroup = isBorn ? it.subgroup?.(document, id) : held.u;
  return {
    r: revision,
    c: isBorn ? position : (held.c ?? position),
    ...(group === undefined ? {} : { g: group }),
    ...(subgroup === undefined ? {} : { u: subgroup }),
    b: JSON.stringify(document),
    document,
  };
};

const take = (projection: Projection, held: Map<string, Held>, { event, changes }: Planned): void => {
  let born = 0;
  for (const change of changes) {
    const before = held.get(change.id) ?? none;
    if (event.revision <= before.r) continue;
    const now = after(before, change, event, projection);
    held.set(change.id, now);
    // Pages are cut by `created`: a page's end could not stand between two that have the same one.
    if (before.document === undefined && now.document !== undefined && ++born > 1)
      throw new Error(`${event.type} makes more than one document of ${projection.name}.`);
  }
};

const toRow = ({ r, c, g, u, b }: Held): RowState => ({
  r,
  ...(c === undefined ? {} : { c }),
  ...(g === undefined ? {} : { g }),
  ...(u === undefined ? {} : { u }),
  ...(b === undefined ? {} : { b }),
});

const rowsOf = (held: ReadonlyMap<string, Held>, ids: Iterable<string>): Map<string, RowState> => {
  const rows = new Map<string, RowState>();
  for (const id of ids) {
    const it = held.get(id);
    if (it !== undefined && it.r >= 0) rows.set(id, toRow(it));
  }
  return rows;
};

/** The rows of a stream's documents from all its events, without reading any. Throws what a reducer throws. */
export const foldStream = (
  projection: Projection,
  events: readonly RecordedEvent[],
): Map<string, RowState> => {
  const held = new Map<string, Held>();
  for (const event of events) take(projection, held, plan(projection, event));
  return rowsOf(held, held.keys());
};

/** The rows that events leave behind, and how far it came: `failed` is the event that can't be projected. */
export type Folded = {
  readonly rows: Map<string, RowState>;
  readonly failed?: { readonly event: RecordedEvent; readonly error: unknown };
};

/** Reads one row; absent where there is none. */
export type LoadRow = (id: string) => Promise<RowState | undefined>;

const toHeld = (row: RowState | undefined): Held =>
  row === undefined ? none : { ...row, document: row.b === undefined ? undefined : JSON.parse(row.b) };

/** Folds the log in its order, from rows that it remembers or reads. */
export const createFold = (projection: Projection) => {
  const remembered = new LRUCache<string, Held>({ max: rememberedMax });

  const fill = async (planned: readonly Planned[], load: LoadRow): Promise<Map<string, Held>> => {
    const held = new Map<string, Held>();
    const missing: string[] = [];
    for (const { event, changes } of planned) {
      for (const { id } of changes) {
        if (held.has(id)) continue;
        const known = remembered.get(id);
        // A stream's first event finds nothing: its documents hang from no other stream.
        held.set(id, known ?? none);
        if (known === undefined && event.revision > 0) missing.push(id);
      }
    }
    for (let n = 0; n < missing.length; n += readsAtOnce) {
      const ids = missing.slice(n, n + readsAtOnce);
      const rows = await Promise.all(ids.map(load));
      for (const [at, id] of ids.entries()) held.set(id, toHeld(rows[at]));
    }
    return held;
  };

  return async (planned: readonly Planned[], load: LoadRow): Promise<Folded> => {
    const held = await fill(planned, load);
    const touched = new Set<string>();
    for (const step of planned) {
      const before = new Map(step.changes.map(({ id }) => [id, held.get(id) ?? none]));
      try {
        take(projection, held, step);
      } catch (error) {
        for (const [id, it] of before) held.set(id, it);
        return { rows: rowsOf(held, touched), failed: { event: step.event, error } };
      }
      for (const { id } of step.changes) touched.add(id);
    }
    for (const id of touched) remembered.set(id, held.get(id) ?? none);
    return { rows: rowsOf(held, touched) };
  };
};
