import type { Collection } from 'mongodb';
import { toPosition, type Position } from '../../core/event.ts';
import { readOptions, type RowState, type Server } from './client.ts';

/** The bits of a position: no engine's number has more. */
const positionBits = 64n;

/** Superseded versions of a document that a command writes rather than ask which of them are there already. */
const unaskedVersionsMax = 8;

/**
 * A version of a document that another one has taken the place of, by a name that every writer gives it: its document
 * and where it begins.
 *
 * - `i`: the document's id; `p`, `x`: the positions from which and until which it held;
 * - `w`: the position that it is filed under, see `fileOf`;
 * - the rest as it was in the document's row.
 */
export type PastRow = { readonly _id: string } & Required<Pick<RowState, 'c' | 'p' | 'b'>> &
  Pick<RowState, 'r' | 'g' | 'u'> & { readonly i: string; readonly x: Position; readonly w: Position };

/**
 * A version whose place was taken, and by the event at which position: the next of its stream that changes the
 * document. There is one such event and no other, and it is in the log before anybody writes this: so whoever writes it
 * writes the same, however often, and whether the document's row then moves on or not.
 */
export type Superseded = { readonly was: RowState; readonly until: Position };

/** What events leave of a document: its row, and the versions on the way there, oldest first. */
export type Versions = { readonly now: RowState; readonly past: readonly Superseded[] };

const documentsEnd = '_now';

/** What the name of a collection of documents ends in that has a past beside it. */
export const withPast = (name: string): string => `${name}${documentsEnd}`;

/** Whether a collection has a past beside it: those that an earlier version of the program has filled have none. */
export const keepsPast = (collection: string): boolean => collection.endsWith(documentsEnd);

/** The collection with the past of this one. */
export const pastOf = (collection: string): string => `${collection.slice(0, -documentsEnd.length)}_past`;

/** What the documents of a collection were; only of one that keeps it. */
export const pastIn = ({ db }: Server, collection: string): Collection<PastRow> =>
  db.collection<PastRow>(pastOf(collection));

/**
 * The indexes of a past; each is asked with the files of a position, so that what a query looks at does not rise with
 * the versions that a document has had.
 */
export const pastIndexes = ({ grouped, subgrouped }: { grouped: boolean; subgrouped: boolean }) => [
  { key: { i: 1, w: 1 } as const, name: 'document' },
  { key: { w: 1, c: 1 } as const, name: 'page' },
  ...(grouped ? [{ key: { g: 1, w: 1, c: 1 } as const, name: 'page_of_group' }] : []),
  ...(subgrouped ? [{ key: { u: 1, w: 1, c: 1 } as const, name: 'page_of_subgroup' }] : []),
];

/**
 * The position that a version is filed under: of those at which it held the one that is divisible by the highest power
 * of two. Versions of a document follow each other, so that under one position stands one of them at most.
 */
export const fileOf = (since: Position, until: Position): Position => {
  const before = BigInt(since) - 1n;
  const last = BigInt(until) - 1n;
  const low = BigInt((before ^ last).toString(2).length - 1);
  return toPosition((last >> low) << low);
};

/**
 * The positions that a version can be filed under which held at this one: for each power of two the last multiple up to
 * here, or the first behind it, whichever is divisible by no higher one.
 */
export const filesOf = (position: Position): readonly Position[] => {
  const at = BigInt(position);
  const files = new Set<Position>();
  for (let low = 0n; low < positionBits; low += 1n) {
    const multiple = at >> low;
    files.add(toPosition((multiple % 2n === 1n ? multiple : multiple + 1n) << low));
  }
  return [...files];
};

/** A version as its row; absent where it stands for no document. */
const pastRow = (id: string, { was, until }: Superseded): readonly PastRow[] => {
  const { r, c, p, g, u, b } = was;
  if (c === undefined || p === undefined || b === undefined) return [];
  const lists = { ...(g === undefined ? {} : { g }), ...(u === undefined ? {} : { u }) };
  // No id has a line break, and so the rows stand in the order of the ids, and of one id in that of time.
  return [{ _id: `${id}\n${p}`, i: id, p, x: until, w: fileOf(p, until), r, c, ...lists, b }];
};

/** The past of these documents, as rows, each once. */
export const pastRows = (documents: ReadonlyMap<string, Versions>): readonly PastRow[] => {
  const rows = new Map<string, PastRow>();
  for (const [id, { past }] of documents)
    for (const row of past.flatMap((one) => pastRow(id, one))) {
      const { _id } = row;
      rows.set(_id, row);
    }
  return [...rows.values()];
};

/**
 * These documents without the versions that a collection's rows have moved on from: those are in its past, or, while it is
 * filled, will be before it answers, for whoever fills it passes no version over.
 */
export const withoutPast = async (
  server: Server,
  collection: string,
  documents: ReadonlyMap<string, Versions>,
): Promise<ReadonlyMap<string, Versions>> => {
  const long = [...documents].filter(([, { past }]) => past.length > unaskedVersionsMax);
  if (long.length === 0) return documents;
  const rows = await server.call('Reading documents', () =>
    server
      .rows(collection)
      .find({ _id: { $in: long.map(([id]) => id) } }, { ...readOptions, projection: { 's.r': 1 } })
      .toArray(),
  );
  const revisions = new Map(rows.map(({ _id, s }) => [_id, s.r]));
  return new Map(
    [...documents].map(([id, { now, past }]) => {
      const from = revisions.get(id) ?? 0;
      return [id, { now, past: past.filter(({ was }) => was.r >= from) }];
    }),
  );
};
