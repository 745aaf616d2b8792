import type { Filter } from 'mongodb';
import type { Position } from '../../core/event.ts';
import { pageItemsMax, type Documents, type PageRequest, type PageText } from '../../core/ports.ts';
import { readOptions, readRow, type Row, type Server } from './client.ts';
import type { Registry } from './registry.ts';

/** What a look-up finds, given what is stored. */
export type Over = (id: string, stored: unknown) => unknown;

const filterOf = ({ group, subgroup, after, order = 'asc' }: PageRequest): Filter<Row> => ({
  ...(subgroup !== undefined ? { 's.u': subgroup } : group !== undefined ? { 's.g': group } : {}),
  // Where a document is gone, there is no text to compare with.
  's.c': order === 'asc' ? { $gt: after ?? '' } : { $gt: '', ...(after === undefined ? {} : { $lt: after }) },
});

/** Throws a `RangeError` where a page would hold more than it may, or nothing. */
export const insistPage = ({ limit }: PageRequest): void => {
  if (!Number.isInteger(limit) || limit < 1 || limit > pageItemsMax)
    throw new RangeError(`A page holds 1 to ${pageItemsMax} documents.`);
};

/** A document on a page, as JSON, and the position of the event that made it. */
export type Item = { readonly c: Position; readonly b: string };

/** A page as text. */
export const textOf = (items: readonly Item[]): PageText => {
  const last = items.at(-1);
  return {
    text: items.map(({ b }) => b).join(','),
    count: items.length,
    ...(last === undefined ? {} : { last: last.c }),
  };
};

const parsed = (body: string | undefined): unknown => (body === undefined ? undefined : JSON.parse(body));

/** One read model on its reading side. */
export const createDocuments = (
  server: Server,
  { onLive }: Registry,
  key: string,
  over: Over = (_, stored) => stored,
): Documents<unknown> => {
  const rowsOf = (request: PageRequest): Promise<readonly Item[]> => {
    const { limit, order } = request;
    insistPage(request);
    return onLive(key, async (live) => {
      const rows = await server.call('Reading a page', () =>
        server
          .rows(live)
          .find(filterOf(request), { ...readOptions, batchSize: limit })
          .sort({ 's.c': order === 'desc' ? -1 : 1 })
          .limit(limit)
          .toArray(),
      );
      return rows.map(({ s }) => ({ c: s.c ?? '', b: s.b ?? '' }));
    });
  };
  return {
    get: (id) => onLive(key, async (live) => over(id, parsed((await readRow(server, live, id))?.b))),
    getWithRevision: (id) =>
      onLive(key, async (live) => {
        const row = await readRow(server, live, id);
        const document = over(id, parsed(row?.b));
        // Only tombstones can be there without a row, and what is laid over them has no revision of its own.
        return document === undefined ? undefined : { document, revision: row?.r ?? 0 };
      }),
    getMany: (ids) =>
      onLive(key, async (live) => {
        const rows = await server.call('Reading documents', () =>
          server
            .rows(live)
            .find({ _id: { $in: [...ids] } }, readOptions)
            .toArray(),
        );
        const bodies = new Map(rows.map(({ _id, s }) => [_id, s.b]));
        return ids.map((id) => over(id, parsed(bodies.get(id))));
      }),
    page: async (request) =>
      (await rowsOf(request)).map(({ c, b }) => ({ created: c, document: JSON.parse(b) })),
    pageText: async (request) => textOf(await rowsOf(request)),
  };
};
