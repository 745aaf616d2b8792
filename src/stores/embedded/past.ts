import { toPosition, type Position } from '../../core/event.ts';
import type { Documents, PageRequest, Revised } from '../../core/ports.ts';
import { pageValuesOf } from './documents.ts';
import { reading } from './log.ts';
import { pastTableOf } from './schema.ts';
import type { Database, Statement } from './sqlite.ts';

/** Documents that one object remembers, whether they were there or not, before it begins anew. */
const rememberedMax = 1_000;

/** Versions up to which all of them are looked at for a page; beyond, documents are looked up one by one. */
const scannedMax = 1_000;

/** A document as it is now, of which nothing may be left but that it was. */
type NowRow = {
  readonly revision: number;
  readonly position: number;
  readonly gone: 0 | 1;
  readonly body: string;
};
type Row = { readonly revision: number; readonly body: string };
type List = 'grp' | 'sub' | undefined;

/** Rows as two texts: one step and two strings, where rows would cost the driver three times as much. */
type RowsText = { readonly places: string | null; readonly bodies: string | null };
type Item = { readonly created: number; readonly body: string };

/** Between two bodies: no JSON text has it as it is. */
const separator = '\u001e';

/** The columns of a `RowsText`; of each row `from` and `to` stand around what goes into it. */
const textsOf = (from = '', to = ''): string =>
  `group_concat(${from} created ${to}) AS places,
   group_concat(${from} body ${to}, char(${separator.charCodeAt(0)})) AS bodies`;

type PageStatements = {
  /** What has held since before then. */
  readonly standing: Statement<RowsText>;
  /** What held then and was superseded after, among the first `scannedMax` versions, and how many these are. */
  readonly amongFew: Statement<RowsText & { readonly versions: number }>;
  /** The same, however many versions there are. */
  readonly amongMany: Statement<RowsText>;
};

/**
 * What a page is made of. Where there are many versions each document is found once, by the event that made it, and of
 * its versions the last that had begun: two seeks for each, which take as long as five versions that are looked at.
 */
const pageStatements = (db: Database, table: string, list: List, order: 'asc' | 'desc'): PageStatements => {
  const past = pastTableOf(table);
  const [next, first, end] = order === 'asc' ? ['>', 'min', '<='] : ['<', 'max', '>='];
  const inList = list === undefined ? '' : `${list} = ?1 AND `;
  const behind = (created: string): string =>
    `${inList}created ${next} ${created} AND created <= ?4 AND created ${end} ?5`;
  const after = (created: string): string =>
    `(SELECT ${first}(created) FROM ${past} WHERE ${behind(created)})`;
  return {
    standing: db.prepare(`
      SELECT ${textsOf()} FROM (
        SELECT created, body FROM ${table}
        WHERE gone = 0 AND ${inList}created ${next} ?2 AND created <= ?4 AND position <= ?4
        ORDER BY created ${order} LIMIT ?3)`),
    amongFew: db.prepare(`
      SELECT count(*) AS versions, ${textsOf('CASE WHEN since <= ?4 AND until > ?4 THEN', 'END')} FROM (
        SELECT created, since, until, body FROM ${past}
        WHERE ${behind('?2')} ORDER BY created ${order} LIMIT ${scannedMax})`),
    amongMany: db.prepare(`
      WITH RECURSIVE made(created) AS (
        SELECT ${after('?2')}
        UNION ALL
        SELECT ${after('made.created')} FROM made WHERE made.created IS NOT NULL
      )
      SELECT ${textsOf()} FROM (
        SELECT was.created, was.body FROM made JOIN ${past} AS was ON was.rowid = (
          SELECT rowid FROM ${past} AS one
          WHERE ${inList.replace(`${list} `, `one.${list} `)}one.created = made.created AND one.since <= ?4
          ORDER BY one.since DESC LIMIT 1)
        WHERE was.until > ?4 LIMIT ?3)`),
  };
};

const itemsOf = (row: RowsText | undefined): readonly Item[] => {
  if (row?.bodies === undefined || row.bodies === null || row.places === null) return [];
  const places = row.places.split(',');
  return row.bodies.split(separator).map((body, at) => ({ created: Number(places[at]), body }));
};

/** The first `limit` of two lists that are in the page's order. */
const mergedItems = (
  one: readonly Item[],
  other: readonly Item[],
  order: 'asc' | 'desc',
  limit: number,
): readonly Item[] => {
  const merged: Item[] = [];
  for (let [a, b] = [0, 0]; merged.length < limit;) {
    const [first, second] = [one[a], other[b]];
    if (first === undefined && second === undefined) break;
    const isFirst =
      second === undefined ||
      (first !== undefined &&
        (order === 'asc' ? first.created < second.created : first.created > second.created));
    const next = isFirst ? first : second;
    if (next !== undefined) merged.push(next);
    if (isFirst) a += 1;
    else b += 1;
  }
  return merged;
};

const inBothOrders = (db: Database, table: string, list: List) => ({
  asc: pageStatements(db, table, list, 'asc'),
  desc: pageStatements(db, table, list, 'desc'),
});

const prepareTable = (db: Database, table: string) => ({
  now: db.prepare<NowRow>(`SELECT revision, position, gone, body FROM ${table} WHERE id = ?`),
  was: db.prepare<Row>(`
    SELECT revision, body FROM (
      SELECT revision, body, until FROM ${pastTableOf(table)} WHERE id = ?1 AND since <= ?2
      ORDER BY since DESC LIMIT 1)
    WHERE until > ?2`),
  all: inBothOrders(db, table, undefined),
  group: inBothOrders(db, table, 'grp'),
  subgroup: inBothOrders(db, table, 'sub'),
});

/**
 * What the documents of one read model were. Nothing of it is cached, for nobody asks for the past twice a second; but
 * the object for one position, which lives as long as an answer, remembers what it has found: of a hundred items of a
 * list each asks whether the same tenant was there.
 */
export const createPast = (db: Database) => {
  let prepared: { readonly table: string; readonly statements: ReturnType<typeof prepareTable> } | undefined;
  const statementsOf = (table: string) => {
    if (prepared?.table !== table) prepared = { table, statements: prepareTable(db, table) };
    return prepared.statements;
  };

  /** The documents of `table()`, which a rebuild may change, as of a position. */
  return (table: () => string, position: Position): Documents<unknown> => {
    const at = Number(position);
    const remembered = new Map<string, Revised<unknown> | undefined>();
    const rowOf = (id: string): Row | undefined => {
      const { now, was } = statementsOf(table());
      const held = now.get(id);
      // Whatever was keeps its row when it goes: without one there is no past to look for.
      if (held === undefined) return undefined;
      if (held.position > at) return was.get(id, at);
      return held.gone === 1 ? undefined : held;
    };
    const read = (id: string): Revised<unknown> | undefined => {
      const row = reading(() => rowOf(id));
      return row === undefined ? undefined : { document: JSON.parse(row.body), revision: row.revision };
    };
    const find = (id: string): Revised<unknown> | undefined => {
      if (remembered.has(id)) return remembered.get(id);
      const found = read(id);
      if (remembered.size >= rememberedMax) remembered.clear();
      remembered.set(id, found);
      return found;
    };
    const pageOf = (request: PageRequest): readonly Item[] => {
      const { group, subgroup, order = 'asc' } = request;
      const kind = subgroup !== undefined ? 'subgroup' : group !== undefined ? 'group' : 'all';
      const { list, from, limit } = pageValuesOf(request);
      const { standing, amongFew, amongMany } = statementsOf(table())[kind][order];
      const values = [list ?? null, from, limit, at] as const;
      const stood = itemsOf(standing.get(...values));
      // What lies behind a full page is not looked for.
      const end = (stood.length === limit ? stood.at(-1)?.created : undefined) ?? (order === 'asc' ? at : 0);
      const few = amongFew.get(...values, end);
      if (few === undefined || few.versions === 0) return stood;
      const went = itemsOf(few.versions < scannedMax ? few : amongMany.get(...values, end));
      return mergedItems(stood, went, order, limit);
    };
    return {
      get: async (id) => find(id)?.document,
      getWithRevision: async (id) => find(id),
      getMany: async (ids) => ids.map((id) => find(id)?.document),
      page: async (request) =>
        reading(() => pageOf(request)).map(({ created, body }) => ({
          created: toPosition(created),
          document: JSON.parse(body),
        })),
      pageText: async (request) => {
        const items = reading(() => pageOf(request));
        const last = items.at(-1);
        return {
          text: items.map(({ body }) => body).join(','),
          count: items.length,
          ...(last === undefined ? {} : { last: toPosition(last.created) }),
        };
      },
    };
  };
};
