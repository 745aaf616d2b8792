import { LRUCache } from 'lru-cache';
import type { RecordedEvent } from '../../core/event.ts';
import type { Change, Projection } from '../../core/projection.ts';
import type { RowState } from './client.ts';
import type { Superseded, Versions } from './past.ts';

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
    p: position,
    ...(group === undefined ? {} : { g: group }),
    ...(subgroup === undefined ? {} : { u: subgroup }),
    b: JSON.stringify(document),
    document,
  };
};

const toRow = ({ r, c, p, g, u, b }: Held): RowState => ({
  r,
  ...(c === undefined ? {} : { c }),
  ...(p === undefined ? {} : { p }),
  ...(g === undefined ? {} : { g }),
  ...(u === undefined ? {} : { u }),
  ...(b === undefined ? {} : { b }),
});

/** Documents on their way, and the versions of each that others have taken the place of. */
type Folding = { readonly held: Map<string, Held>; readonly past: Map<string, Superseded[]> };

const take = (projection: Projection, { held, past }: Folding, { event, changes }: Planned): void => {
  let born = 0;
  for (const change of changes) {
    const before = held.get(change.id) ?? none;
    if (event.revision <= before.r) continue;
    const now = after(before, change, event, projection);
    held.set(change.id, now);
    // Pages are cut by `created`: a page's end could not stand between two that have the same one.
    if (before.document === undefined && now.document !== undefined && ++born > 1)
      throw new Error(`${event.type} makes more than one document of ${projection.name}.`);
    if (before.document === undefined) continue;
    const superseded = past.get(change.id) ?? [];
    past.set(change.id, superseded);
    superseded.push({ was: toRow(before), until: event.position });
  }
};

const versionsOf = ({ held, past }: Folding, ids: Iterable<string>): Map<string, Versions> => {
  const documents = new Map<string, Versions>();
  for (const id of ids) {
    const it = held.get(id);
    if (it !== undefined && it.r >= 0) documents.set(id, { now: toRow(it), past: past.get(id) ?? [] });
  }
  return documents;
};

const foldWhole = (projection: Projection, events: readonly RecordedEvent[]): Folding => {
  const folding: Folding = { held: new Map(), past: new Map() };
  for (const event of events) take(projection, folding, plan(projection, event));
  return folding;
};

/** A stream's documents from all its events, without reading any. Throws what a reducer throws. */
export const foldStream = (
  projection: Projection,
  events: readonly RecordedEvent[],
): Map<string, Versions> => {
  const folding = foldWhole(projection, events);
  return versionsOf(folding, folding.held.keys());
};

/** The documents that events leave behind, and how far it came: `failed` is the event that can't be projected. */
export type Folded = {
  readonly documents: Map<string, Versions>;
  readonly failed?: { readonly event: RecordedEvent; readonly error: unknown };
};

/** Where a fold reads what it does not remember. */
export type FoldSource = {
  /** One row; absent where there is none. */
  readonly row: (id: string) => Promise<RowState | undefined>;
  /** The events of this one's stream before it. */
  readonly before: (event: RecordedEvent) => Promise<readonly RecordedEvent[]>;
};

const toHeld = (row: RowState | undefined): Held =>
  row === undefined ? none : { ...row, document: row.b === undefined ? undefined : JSON.parse(row.b) };

/** A document as it was right before an event. */
const readHeld = async (
  projection: Projection,
  { row, before }: FoldSource,
  id: string,
  event: RecordedEvent,
): Promise<Held> => {
  const found = await row(id);
  const isAhead = found !== undefined && found.r >= event.revision;
  const isDated = found?.b === undefined || found.p !== undefined;
  if (!isAhead && isDated) return toHeld(found);
  // A command has settled this event and maybe later ones: what they superseded there is not sure to be in the past of
  // every collection, so that each version is made again, from the log. So is one of which nobody wrote since when it is.
  return foldWhole(projection, await before(event)).held.get(id) ?? none;
};

/**
 * Folds the log in its order, from rows that it remembers or reads. It passes no event over, whatever has been written
 * already: every version that an event of the log supersedes is among what it answers.
 */
export const createFold = (projection: Projection) => {
  const remembered = new LRUCache<string, Held>({ max: rememberedMax });

  const fill = async (planned: readonly Planned[], source: FoldSource): Promise<Map<string, Held>> => {
    const held = new Map<string, Held>();
    const missing: { readonly id: string; readonly event: RecordedEvent }[] = [];
    for (const { event, changes } of planned) {
      for (const { id } of changes) {
        if (held.has(id)) continue;
        const known = remembered.get(id);
        // A stream's first event finds nothing: its documents hang from no other stream. Nor does one that is shown.
        held.set(id, known ?? none);
        if (known === undefined && event.revision > 0 && projection.kind === 'stream')
          missing.push({ id, event });
      }
    }
    for (let n = 0; n < missing.length; n += readsAtOnce)
      await Promise.all(
        missing.slice(n, n + readsAtOnce).map(async ({ id, event }) => {
          held.set(id, await readHeld(projection, source, id, event));
        }),
      );
    return held;
  };

  return async (planned: readonly Planned[], source: FoldSource): Promise<Folded> => {
    const folding: Folding = { held: await fill(planned, source), past: new Map() };
    const { held, past } = folding;
    const touched = new Set<string>();
    for (const step of planned) {
      const before = new Map(
        step.changes.map(({ id }) => [id, [held.get(id) ?? none, past.get(id)?.length ?? 0]] as const),
      );
      try {
        take(projection, folding, step);
      } catch (error) {
        for (const [id, [it, versions]] of before) {
          held.set(id, it);
          past.get(id)?.splice(versions);
        }
        return { documents: versionsOf(folding, touched), failed: { event: step.event, error } };
      }
      for (const { id } of step.changes) touched.add(id);
    }
    for (const id of touched) remembered.set(id, held.get(id) ?? none);
    return { documents: versionsOf(folding, touched) };
  };
};
