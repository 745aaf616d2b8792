import { LRUCache } from 'lru-cache';
import { toPosition } from '../../core/event.ts';
import {
  pageItemsMax,
  type Documents,
  type PageRequest,
  type PageText,
  type Revised,
} from '../../core/ports.ts';
import { reading } from './log.ts';
import type { Database, SqlValue, Statement } from './sqlite.ts';

/** Pages that each read model keeps as text, and how many characters they have together at most. */
const cachedPagesMax = 1_000;
const cachedPagesCharsMax = 1_000_000;

type Row = { readonly revision: number; readonly body: string };
type ItemRow = { readonly created: number; readonly body: string };
type TextRow = { readonly text: string | null; readonly count: number; readonly last: number | null };
type PageStatements = { readonly items: Statement<ItemRow>; readonly text: Statement<TextRow> };

/** Stands in the cache for a document that is known not to be there. */
const absent = Symbol('absent');

const pageStatements = (
  db: Database,
  table: string,
  list: 'grp' | 'sub' | undefined,
  order: 'asc' | 'desc',
): PageStatements => {
  const page = `
    SELECT created, body FROM ${table}
    WHERE gone = 0 ${list === undefined ? '' : `AND ${list} = ?`} AND created ${order === 'asc' ? '>' : '<'} ?
    ORDER BY created ${order} LIMIT ?`;
  const last = order === 'asc' ? 'max' : 'min';
  return {
    items: db.prepare(page),
    // One step and one string, where rows would cost three times as much.
    text: db.prepare(
      `SELECT group_concat(body, ',') AS text, count(*) AS count, ${last}(created) AS last FROM (${page})`,
    ),
  };
};

const inBothOrders = (db: Database, table: string, list: 'grp' | 'sub' | undefined) => ({
  asc: pageStatements(db, table, list, 'asc'),
  desc: pageStatements(db, table, list, 'desc'),
});

const prepareTable = (db: Database, table: string) => ({
  get: db.prepare<Row>(`SELECT revision, body FROM ${table} WHERE id = ? AND gone = 0`),
  all: inBothOrders(db, table, undefined),
  group: inBothOrders(db, table, 'grp'),
  subgroup: inBothOrders(db, table, 'sub'),
});

/** The bounds of a page as values of a statement; throws on a limit that is out of bounds. */
export const pageValuesOf = ({
  group,
  subgroup,
  after,
  order,
  limit,
}: PageRequest): { readonly list: string | undefined; readonly from: number; readonly limit: number } => {
  if (!Number.isInteger(limit) || limit < 1 || limit > pageItemsMax)
    throw new RangeError(`A page holds 1 to ${pageItemsMax} documents.`);
  const start = order === 'desc' ? Number.MAX_SAFE_INTEGER : 0;
  return { list: subgroup ?? group, from: after === undefined ? start : Number(after), limit };
};

const pageValues = (request: PageRequest): SqlValue[] => {
  const { list, from, limit } = pageValuesOf(request);
  return list === undefined ? [from, limit] : [list, from, limit];
};

const keyOf = ({ group, subgroup, after, order, limit }: PageRequest): string =>
  JSON.stringify([group, subgroup, after, order, limit]);

/** One read model on its reading side, with a bounded cache in front of look-ups. */
export const createDocuments = (db: Database, table: string, cacheEntriesMax: number) => {
  let statements = prepareTable(db, table);
  // Reads are synchronous, so no fill is ever under way while a commit empties the cache: what was read before the
  // commit is in the cache by then and dropped, what is read after it is new.
  const cache = new LRUCache<string, Revised<unknown> | typeof absent>({
    max: cacheEntriesMax,
  });

  // A list that is asked for again would cost SQLite as much as all the rest of the request. Which lists a document
  // stands in is not known here, so any commit to the read model empties this.
  const pages = new LRUCache<string, PageText>({
    max: cachedPagesMax,
    maxSize: cachedPagesCharsMax,
    sizeCalculation: ({ text }) => text.length + 1,
  });
  const clear = (): void => {
    cache.clear();
    pages.clear();
  };

  const read = (id: string): Revised<unknown> | undefined => {
    const row = reading(() => statements.get.get(id));
    const found = row === undefined ? undefined : { document: JSON.parse(row.body), revision: row.revision };
    cache.set(id, found ?? absent);
    return found;
  };
  const statementsOf = ({ group, subgroup, order = 'asc' }: PageRequest): PageStatements =>
    statements[subgroup !== undefined ? 'subgroup' : group !== undefined ? 'group' : 'all'][order];

  const find = (id: string): Revised<unknown> | undefined => {
    const cached = cache.get(id);
    if (cached === undefined) return read(id);
    return cached === absent ? undefined : cached;
  };
  const get = (id: string): unknown => find(id)?.document;

  const documents: Documents<unknown> = {
    get: async (id) => get(id),
    getWithRevision: async (id) => find(id),
    getMany: async (ids) => ids.map(get),
    page: async (request) => {
      const values = pageValues(request);
      const rows = reading(() => statementsOf(request).items.all(...values));
      return rows.map(({ created, body }) => ({ created: toPosition(created), document: JSON.parse(body) }));
    },
    pageText: async (request) => {
      const key = keyOf(request);
      const cached = pages.get(key);
      if (cached !== undefined) return cached;
      const values = pageValues(request);
      const row = reading(() => statementsOf(request).text.get(...values));
      const page =
        row?.last === undefined || row.last === null
          ? { text: '', count: 0 }
          : { text: row.text ?? '', count: row.count, last: toPosition(row.last) };
      pages.set(key, page);
      return page;
    },
  };

  return {
    documents,
    /** Forgets documents that a commit changed. */
    drop: (ids: readonly string[]): void => {
      if (ids.length > 0) pages.clear();
      for (const id of ids) cache.delete(id);
    },
    clear,
    /** Reads from another table from now on. */
    swap: (to: string): void => {
      statements = prepareTable(db, to);
      clear();
    },
  };
};
