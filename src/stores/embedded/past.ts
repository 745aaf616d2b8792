import { toPosition, type Position } from '../../core/event.ts';
import type { Documents, PageRequest, Revised } from '../../core/ports.ts';
import { pageValuesOf } from './documents.ts';
import { reading } from './log.ts';
import { pastTableOf } from './schema.ts';
import type { Database, Statement } from './sqlite.ts';

type Row = { readonly revision: number; readonly body: string };
type ItemRow = { readonly created: number; readonly body: string };
type List = 'grp' | 'sub' | undefined;

/**
 * A page of what there was: what has held since before then, and what held then and was superseded after. Of the second
 * kind each document is found once, by the event that made it, and of its versions the last that had begun: two seeks,
 * however many versions there are.
 */
const pageStatement = (
  db: Database,
  table: string,
  list: List,
  order: 'asc' | 'desc',
): Statement<ItemRow> => {
  const past = pastTableOf(table);
  const [next, first] = order === 'asc' ? ['>', 'min'] : ['<', 'max'];
  const inList = list === undefined ? '' : `${list} = ?1 AND `;
  const after = (created: string): string =>
    `(SELECT ${first}(created) FROM ${past} WHERE ${inList}created ${next} ${created} AND created <= ?4)`;
  const inOrder = `ORDER BY created ${order} LIMIT ?3`;
  return db.prepare<ItemRow>(`
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
    ${inOrder}`);
};

const inBothOrders = (db: Database, table: string, list: List) => ({
  asc: pageStatement(db, table, list, 'asc'),
  desc: pageStatement(db, table, list, 'desc'),
});

const prepareTable = (db: Database, table: string) => ({
  get: db.prepare<Row>(`
    SELECT revision, body FROM ${table} WHERE id = ?1 AND gone = 0 AND position <= ?2
    UNION ALL
    SELECT revision, body FROM (
      SELECT revision, body, until FROM ${pastTableOf(table)} WHERE id = ?1 AND since <= ?2
      ORDER BY since DESC LIMIT 1)
    WHERE until > ?2
    LIMIT 1`),
  all: inBothOrders(db, table, undefined),
  group: inBothOrders(db, table, 'grp'),
  subgroup: inBothOrders(db, table, 'sub'),
});

/** What the documents of one read model were; nothing of it is cached, for nobody asks for the past twice a second. */
export const createPast = (db: Database) => {
  let prepared: { readonly table: string; readonly statements: ReturnType<typeof prepareTable> } | undefined;
  const statementsOf = (table: string) => {
    if (prepared?.table !== table) prepared = { table, statements: prepareTable(db, table) };
    return prepared.statements;
  };

  /** The documents of `table()`, which a rebuild may change, as of a position. */
  return (table: () => string, position: Position): Documents<unknown> => {
    const at = Number(position);
    const find = (id: string): Revised<unknown> | undefined => {
      const row = reading(() => statementsOf(table()).get.get(id, at));
      return row === undefined ? undefined : { document: JSON.parse(row.body), revision: row.revision };
    };
    const rowsOf = (request: PageRequest): readonly ItemRow[] => {
      const { group, subgroup, order = 'asc' } = request;
      const kind = subgroup !== undefined ? 'subgroup' : group !== undefined ? 'group' : 'all';
      const { list, from, limit } = pageValuesOf(request);
      return reading(() => statementsOf(table())[kind][order].all(list ?? null, from, limit, at));
    };
    return {
      get: async (id) => find(id)?.document,
      getWithRevision: async (id) => find(id),
      getMany: async (ids) => ids.map((id) => find(id)?.document),
      page: async (request) =>
        rowsOf(request).map(({ created, body }) => ({
          created: toPosition(created),
          document: JSON.parse(body),
        })),
      pageText: async (request) => {
        const rows = rowsOf(request);
        const last = rows.at(-1);
        return {
          text: rows.map(({ body }) => body).join(','),
          count: rows.length,
          ...(last === undefined ? {} : { last: toPosition(last.created) }),
        };
      },
    };
  };
};
