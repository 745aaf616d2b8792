import { MongoBulkWriteError, type AnyBulkWriteOperation, type Collection } from 'mongodb';
import { StoreUnavailable } from '../../core/ports.ts';
import { isDuplicate, readOptions, type Row, type RowState, type Server } from './client.ts';
import { createCombiner, type Combiner, type Gate } from './gate.ts';

/** Rows that one insert holds. */
const insertRowsMax = 1_000;

/** How often a write that others got in the way of is tried again. */
const triesMax = 20;

/** Tombstones that are merged at once. */
const mergesAtOnce = 4;

/** A change of a tombstone: from what is laid (absent: nothing) to what is to be laid. */
export type Lay = {
  /** The position of the event that lays it. */
  readonly position: string;
  readonly to: (current: unknown) => unknown;
};

/** The places in an insert whose ids were there already; absent where anything else went wrong too. */
const duplicatesOf = (error: unknown): readonly number[] | undefined => {
  if (!(error instanceof MongoBulkWriteError)) return undefined;
  const errors = [error.writeErrors].flat();
  const isPure =
    errors.length > 0 &&
    isDuplicate(error) &&
    errors.every(({ code }) => code === error.code) &&
    error.result.getWriteConcernError() === undefined;
  return isPure ? errors.map(({ index }) => index) : undefined;
};

function* slices<T>(all: readonly T[], size: number): Generator<readonly T[], void> {
  for (let n = 0; n < all.length; n += size) yield all.slice(n, n + size);
}

/** Inserts rows; answers those whose ids were there already. */
const insertNew = async (
  { call }: Pick<Server, 'call'>,
  collection: Collection<Row>,
  rows: readonly Row[],
): Promise<readonly Row[]> => {
  const there: Row[] = [];
  for (const some of slices(rows, insertRowsMax)) {
    try {
      await call(
        'Writing documents',
        () => collection.insertMany(some, { ordered: false }),
        (error) => duplicatesOf(error) !== undefined,
      );
    } catch (error) {
      const places = duplicatesOf(error);
      if (places === undefined) throw error;
      for (const place of places) {
        const row = some[place];
        if (row !== undefined) there.push(row);
      }
    }
  }
  return there;
};

/** `$max` compares two states by their first member, the revision: the higher one stays, in one atomic step. */
const raise = ({ _id, s }: Row): AnyBulkWriteOperation<Row> => ({
  updateOne: { filter: { _id }, update: { $max: { s } }, upsert: true },
});

/** Raises rows to their revision where they are below it. */
const raiseAll = async (server: Server, collection: Collection<Row>, rows: readonly Row[]): Promise<void> => {
  const { updatesPerCommand } = await server.limits();
  for (const some of slices(rows, updatesPerCommand)) {
    for (let tries = 1; ; tries += 1) {
      try {
        await server.call(
          'Writing documents',
          () => collection.bulkWrite(some.map(raise), { ordered: false }),
          isDuplicate,
        );
        break;
      } catch (error) {
        // Two upserts of one new document met: all of it may be done again.
        if (!isDuplicate(error) || tries >= triesMax) throw error;
      }
    }
  }
};

const writeRows = async (
  server: Server,
  collection: Collection<Row>,
  states: ReadonlyMap<string, RowState>,
) => {
  const rows = [...states].map(([_id, s]) => ({ _id, s }));
  // Where a document is there already, it is at its stream's first revision or behind it: nothing to raise.
  await insertNew(
    server,
    collection,
    rows.filter(({ s }) => s.r === 0),
  );
  await raiseAll(
    server,
    collection,
    rows.filter(({ s }) => s.r > 0),
  );
};

/** What these changes make of what is laid, as a row; absent where it stays as it is. */
const layOn = (current: RowState | undefined, lays: readonly Lay[]): RowState | undefined => {
  let body = current?.b;
  let position = current?.c;
  for (const lay of lays) {
    const document = lay.to(body === undefined ? undefined : JSON.parse(body));
    // A set that only grows lets nothing go.
    if (document === undefined) continue;
    body = JSON.stringify(document);
    position ??= lay.position;
  }
  if (body === undefined || body === current?.b) return undefined;
  return { r: (current?.r ?? 0) + 1, ...(position === undefined ? {} : { c: position }), b: body };
};

/** Merges into a tombstone that is there: replaces it only as it was read, else reads it anew. */
const mergeOne = async (
  { call }: Server,
  collection: Collection<Row>,
  _id: string,
  lays: readonly Lay[],
): Promise<void> => {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const row = await call('Reading a tombstone', () => collection.findOne({ _id }, readOptions));
    const s = layOn(row?.s, lays);
    if (s === undefined) return;
    if (row === null) {
      const [there] = await insertNew({ call }, collection, [{ _id, s }]);
      if (there === undefined) return;
    } else {
      const replaced = await call('Writing a tombstone', () =>
        collection.updateOne({ _id, 's.r': row.s.r }, { $set: { s } }),
      );
      if (replaced.matchedCount === 1) return;
    }
  }
  throw new StoreUnavailable(`The tombstone ${_id} changes too often.`);
};

const writeLays = async (
  server: Server,
  collection: Collection<Row>,
  lays: ReadonlyMap<string, readonly Lay[]>,
): Promise<void> => {
  const rows = [...lays].flatMap(([_id, changes]) => {
    const s = layOn(undefined, changes);
    return s === undefined ? [] : [{ _id, s }];
  });
  const there = await insertNew(server, collection, rows);
  for (const some of slices(there, mergesAtOnce))
    await Promise.all(some.map(({ _id }) => mergeOne(server, collection, _id, lays.get(_id) ?? [])));
};

/** The writing side of every collection of this node: what is put at the same time is written as one. */
export type Writer = {
  /** Resolves when every row is durable at its revision or a later one. */
  readonly raise: (collection: string, rows: ReadonlyMap<string, RowState>) => Promise<void>;
  /** Resolves when every tombstone is durable with these changes in it. */
  readonly lay: (collection: string, lays: ReadonlyMap<string, readonly Lay[]>) => Promise<void>;
};

const higher = (one: RowState, other: RowState): RowState => (other.r > one.r ? other : one);

const combinerOf = <V>(all: Map<string, Combiner<V>>, name: string, make: () => Combiner<V>): Combiner<V> => {
  const combiner = all.get(name) ?? make();
  all.set(name, combiner);
  return combiner;
};

/** The writer of this node; `gate` bounds how many commands write at once. */
export const createWriter = (server: Server, gate: Gate): Writer => {
  const raising = new Map<string, Combiner<RowState>>();
  const laying = new Map<string, Combiner<readonly Lay[]>>();
  return {
    raise: (name, rows) =>
      combinerOf(raising, name, () =>
        createCombiner(higher, (all) => gate(() => writeRows(server, server.rows(name), all))),
      )(rows),
    lay: (name, lays) =>
      combinerOf(laying, name, () =>
        createCombiner<readonly Lay[]>(
          (one, other) => [...one, ...other],
          (all) => gate(() => writeLays(server, server.rows(name), all)),
        ),
      )(lays),
  };
};
