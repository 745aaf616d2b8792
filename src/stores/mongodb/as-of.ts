import type { Filter } from 'mongodb';
import type { Position } from '../../core/event.ts';
import { StoreUnavailable, type Documents, type PageRequest, type Revised } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import { readOptions, type Row, type RowState, type Server } from './client.ts';
import { insistPage, textOf, type Item } from './documents.ts';
import { filesOf, keepsPast, pastIn, type PastRow } from './past.ts';
import { keyOf, type Registry } from './registry.ts';

/** A version as a read finds it. */
type Version = Item & { readonly r: number };

/** What a row answers of a position; absent where that is not in the row. */
const versionIn = ({ r, c, p, b, h }: RowState, at: Position): Version | undefined => {
  if (c === undefined || p === undefined || b === undefined) return undefined;
  if (p <= at) return { c, b, r };
  const laid = h?.findLast((it) => it.p <= at);
  return laid === undefined ? undefined : { c, b: laid.b, r };
};

const createdWithin = ({ after, order = 'asc' }: PageRequest, at: Position) =>
  order === 'asc'
    ? { $gt: after ?? '', $lte: at }
    : { $gt: '', $lte: at, ...(after === undefined ? {} : { $lt: after }) };

/** By `page`, `page_of_group` or `page_of_subgroup` of the documents. */
const ofNow = (request: PageRequest, at: Position, { kind }: Projection): Filter<Row> => ({
  ...(request.subgroup !== undefined
    ? { 's.u': request.subgroup }
    : request.group !== undefined
      ? { 's.g': request.group }
      : {}),
  's.c': createdWithin(request, at),
  ...(kind === 'tombstones' ? {} : { 's.p': { $lte: at } }),
});

/** Of the versions under these files one of each document at most held then: the rest is told by its ends. */
const spanning = (at: Position, files: readonly Position[]): Filter<PastRow> => ({
  w: { $in: [...files] },
  p: { $lte: at },
  x: { $gt: at },
});

/** By the index of the past that is called the same. Each file is one way into it, in the order of the page. */
const ofPast = (request: PageRequest, at: Position, files: readonly Position[]): Filter<PastRow> => ({
  ...(request.subgroup !== undefined
    ? { u: request.subgroup }
    : request.group !== undefined
      ? { g: request.group }
      : {}),
  c: createdWithin(request, at),
  ...spanning(at, files),
});

/** What a read model's collection held at a position. */
const createReader = (server: Server, projection: Projection, at: Position) => {
  const files = filesOf(at);
  const hasPast = projection.kind === 'stream';

  /** The versions of these documents, by their ids. */
  const find = async (live: string, ids: readonly string[]): Promise<ReadonlyMap<string, Version>> => {
    // By the index of ids.
    const rows = await server.call('Reading documents', () =>
      server
        .rows(live)
        .find({ _id: { $in: [...ids] } }, readOptions)
        .toArray(),
    );
    const found = new Map<string, Version>();
    for (const { _id, s } of rows) {
      const version = versionIn(s, at);
      if (version !== undefined) found.set(_id, version);
    }
    const others = ids.filter((id) => !found.has(id));
    if (!hasPast || others.length === 0) return found;
    // After the rows, for what has left them by then is there. By `document`.
    const past = await server.call('Reading documents', () =>
      pastIn(server, live)
        .find({ i: { $in: others }, ...spanning(at, files) }, readOptions)
        .toArray(),
    );
    for (const { i, c, b, r } of past) found.set(i, { c, b, r });
    return found;
  };

  const page = async (live: string, request: PageRequest): Promise<readonly Item[]> => {
    const { limit } = request;
    const isDown = request.order === 'desc';
    const options = { ...readOptions, batchSize: limit };
    const rows = await server.call('Reading a page', () =>
      server
        .rows(live)
        .find(ofNow(request, at, projection), options)
        .sort({ 's.c': isDown ? -1 : 1 })
        .limit(limit)
        .toArray(),
    );
    const now = rows.flatMap(({ s }) => versionIn(s, at) ?? []);
    if (!hasPast) return now;
    // After the rows, as above.
    const past = await server.call('Reading a page', () =>
      pastIn(server, live)
        .find(ofPast(request, at, files), options)
        .sort({ c: isDown ? -1 : 1 })
        .limit(limit)
        .toArray(),
    );
    // A version whose row is about to move on stands in both.
    const all = new Map<Position, Item>([...past, ...now].map(({ c, b }) => [c, { c, b }]));
    const inOrder = [...all.values()].toSorted((one, other) => (one.c < other.c === isDown ? 1 : -1));
    return inOrder.slice(0, limit);
  };
  return { find, page };
};

/**
 * One read model as it was at a position, which it has come to, on its reading side. Throws `StoreUnavailable` as long as
 * what answers was filled by a version of the program that kept no past.
 */
export const createDocumentsAsOf = (
  server: Server,
  { onLive }: Registry,
  projection: Projection,
  position: Position,
): Documents<unknown> => {
  const key = keyOf(projection);
  const { find, page } = createReader(server, projection, position);
  const reading = <T>(read: (live: string) => Promise<T>): Promise<T> =>
    onLive(key, (live) => {
      if (!keepsPast(live)) throw new StoreUnavailable(`The past of the read model ${key} is being filled.`);
      return read(live);
    });
  const findOne = async (id: string): Promise<Revised<unknown> | undefined> => {
    const found = (await reading((live) => find(live, [id]))).get(id);
    return found === undefined ? undefined : { document: JSON.parse(found.b), revision: found.r };
  };
  const itemsOf = (request: PageRequest): Promise<readonly Item[]> => {
    insistPage(request);
    return reading((live) => page(live, request));
  };
  return {
    get: async (id) => (await findOne(id))?.document,
    getWithRevision: findOne,
    getMany: async (ids) => {
      const found = await reading((live) => find(live, ids));
      return ids.map((id) => {
        const body = found.get(id)?.b;
        return body === undefined ? undefined : JSON.parse(body);
      });
    },
    page: async (request) =>
      (await itemsOf(request)).map(({ c, b }) => ({ created: c, document: JSON.parse(b) })),
    pageText: async (request) => textOf(await itemsOf(request)),
  };
};
