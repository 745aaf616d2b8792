import { toPosition, type Position } from '../../core/event.ts';
import type { Documents, PageRequest, Revised } from '../../core/ports.ts';
import { pageValuesOf } from './documents.ts';
import { reading } from './log.ts';
import { pastTableOf } from './schema.ts';
import type { Database, Statement } from './sqlite.ts';

/** Documents that one object remembers, whether they were there or not, before it begins anew. */
const rememberedMax = 1_000;

/** A document as it is now, of which nothing may be left but that it was. */
type NowRow = {
  readonly revision: number;
  readonly position: number;
  readonly gone: 0 | 1;
  readonly body: string;
};
type Row = { readonly revision: number; readonly body: string };
type ItemRow = { readonly created: number; readonly body: string };
type TextRow = { readonly text: string | null; readonly count: number; readonly last: number | null };
type PageStatements = { readonly items: Statement<ItemRow>; readonly text: Statement<TextRow> };
type List = 'grp' | 'sub' | undefined;

/**
 * A page of what there was: what has held since before then, and what held then and was superseded after. Of the second
 * kind each document is found once, by the event that made it, and of its versions the last that had begun: two seeks,
 * however many versions there are.
 */
const pageStatements = (db: Database, table: string, list: List, order: 'asc' | 'desc'): PageStatements => {
  const past = pastTableOf(table);
  const [next, first] = order === 'asc' ? ['>', 'min'] : ['<', 'max'];
  const inList = list === undefined ? '' : `${list} = ?1 AND `;
  const after = (created: string): string =>
    `(SELECT ${first}(created) FROM ${past} WHERE ${inList}created ${next} ${created} AND created <= ?4)`;
  const inOrder = `ORDER BY created ${order} LIMIT ?3`;
  const page = `
    WITH RECURSIVE made(created) AS (
      SELECT ${after('?2')}
      UNION ALL
      SELECT ${after('made.created')} FROM made WHERE made.created IS NOT NULL
    )
    SELECT created, body FROM (
      SELECT created, body FROM ${table}
      WHERE gone = 0 AND ${inList}created ${next} ?2 AND created <= ?4 AND position <= ?4 ${inOrder})
    UNION ALL
    SELECT created, body FROM (
      SELECT was.created, was.body FROM made JOIN ${past} AS was ON was.rowid = (
        SELECT rowid FROM ${past} AS one
        WHERE ${inList.replace(`${list} `, `one.${list} `)}one.created = made.created AND one.since <= ?4
        ORDER BY one.since DESC LIMIT 1)
      WHERE was.until > ?4 LIMIT ?3)
    ${inOrder}`;
  return {
    items: db.prepare(page),
    // One step and one string, as for what is now.
    text: db.prepare(
      `SELECT group_concat(body, ',') AS text, count(*) AS count,
         ${order === 'asc' ? 'max' : 'min'}(created) AS last FROM (${page})`,
    ),
  };
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
    const pageOf = (request: PageRequest) => {
      const { group, subgroup, order = 'asc' } = request;
      const kind = subgroup !== undefined ? 'subgroup' : group !== undefined ? 'group' : 'all';
      const { list, from, limit } = pageValuesOf(request);
      return [statementsOf(table())[kind][order], [list ?? null, from, limit, at]] as const;
    };
    return {
      get: async (id) => find(id)?.document,
      getWithRevision: async (id) => find(id),
      getMany: async (ids) => ids.map((id) => find(id)?.document),
      page: async (request) => {
        const rows = reading(() => {
          const [{ items }, values] = pageOf(request);
          return items.all(...values);
        });
        return rows.map(({ created, body }) => ({
          created: toPosition(created),
          document: JSON.parse(body),
        }));
      },
      pageText: async (request) => {
        const row = reading(() => {
          const [{ text }, values] = pageOf(request);
          return text.get(...values);
        });
        return row?.last === undefined || row.last === null
          ? { text: '', count: 0 }
          : { text: row.text ?? '', count: row.count, last: toPosition(row.last) };
      },
    };
  };
};
