import {
  MongoBulkWriteError,
  type AnyBulkWriteOperation,
  type Collection,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { StoreUnavailable } from '../../core/ports.ts';
import { isDuplicate, readOptions, type Laid, type Row, type RowState, type Server } from './client.ts';
import { createCombiner, type Combiner, type Gate } from './gate.ts';
import { keepsPast, pastIn, pastRows, type Versions } from './past.ts';

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
const insertNew = async <R extends { readonly _id: string }>(
  { call }: Pick<Server, 'call'>,
  collection: Collection<R>,
  rows: readonly R[],
): Promise<readonly R[]> => {
  const there: R[] = [];
  for (const some of slices(rows, insertRowsMax)) {
    try {
      await call(
        'Writing documents',
        () => collection.insertMany(some as readonly OptionalUnlessRequiredId<R>[], { ordered: false }),
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

/**
 * The past first, and the rows when it is durable: what is no longer in a row is in the past, wherever the process ends
 * and whoever else writes. A version that is there already is the same.
 */
const writeDocuments = async (
  server: Server,
  name: string,
  documents: ReadonlyMap<string, Versions>,
): Promise<void> => {
  const past = keepsPast(name) ? pastRows(documents) : [];
  if (past.length > 0) await insertNew(server, pastIn(server, name), past);
  const rows = [...documents].map(([_id, { now: s }]) => ({ _id, s }));
  const collection = server.rows(name);
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

/** All that was laid, oldest first, with the position from which it was. */
const laidIn = ({ c, p = c, b, h = [] }: RowState): readonly Laid[] =>
  p === undefined || b === undefined ? [] : [...h, { p, b }];

/**
 * Lays at a position, whatever has been laid from later ones meanwhile. Changes commute: what was laid from then on is
 * what it was with this change, so that the outcome is the same in whatever order they come.
 */
const layAt = (laid: readonly Laid[], { position, to }: Lay): readonly Laid[] => {
  const before = laid.filter(({ p }) => p < position);
  const from = laid.filter(({ p }) => p >= position);
  const bodies: { readonly p: string; readonly b: string | undefined }[] =
    from[0]?.p === position ? from : [{ p: position, b: before.at(-1)?.b }, ...from];
  const all = [...before];
  for (const { p, b } of bodies) {
    const document = to(b === undefined ? undefined : JSON.parse(b));
    // A set that only grows lets nothing go.
    const body = document === undefined ? b : JSON.stringify(document);
    if (body !== undefined && body !== all.at(-1)?.b) all.push({ p, b: body });
  }
  return all;
};

/** What these changes make of what is laid, as a row; absent where it stays as it is. */
const layOn = (current: RowState | undefined, lays: readonly Lay[]): RowState | undefined => {
  const there = current === undefined ? [] : laidIn(current);
  const laid = lays.reduce(layAt, there);
  const [first, last] = [laid[0], laid.at(-1)];
  if (first === undefined || last === undefined || JSON.stringify(laid) === JSON.stringify(there))
    return undefined;
  return {
    r: (current?.r ?? 0) + 1,
    c: first.p,
    p: last.p,
    b: last.b,
    ...(laid.length > 1 ? { h: laid.slice(0, -1) } : {}),
  };
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
  /** Resolves when every document is durable at its revision or a later one, and before it all that it was. */
  readonly raise: (collection: string, documents: ReadonlyMap<string, Versions>) => Promise<void>;
  /** Resolves when every tombstone is durable with these changes in it. */
  readonly lay: (collection: string, lays: ReadonlyMap<string, readonly Lay[]>) => Promise<void>;
};

const joined = (one: Versions, other: Versions): Versions => ({
  now: other.now.r > one.now.r ? other.now : one.now,
  past: [...one.past, ...other.past],
});

const combinerOf = <V>(all: Map<string, Combiner<V>>, name: string, make: () => Combiner<V>): Combiner<V> => {
  const combiner = all.get(name) ?? make();
  all.set(name, combiner);
  return combiner;
};

/** The writer of this node; `gate` bounds how many commands write at once. */
export const createWriter = (server: Server, gate: Gate): Writer => {
  const raising = new Map<string, Combiner<Versions>>();
  const laying = new Map<string, Combiner<readonly Lay[]>>();
  return {
    raise: (name, documents) =>
      combinerOf(raising, name, () =>
        createCombiner(joined, (all) => gate(() => writeDocuments(server, name, all))),
      )(documents),
    lay: (name, lays) =>
      combinerOf(laying, name, () =>
        createCombiner<readonly Lay[]>(
          (one, other) => [...one, ...other],
          (all) => gate(() => writeLays(server, server.rows(name), all)),
        ),
      )(lays),
  };
};
