import { toPosition, type Position, type RecordedEvent, type StoredEvent } from '../../core/event.ts';
import type { Documents, PageItem, PageRequest, Revised } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import { pageValuesOf } from './documents.ts';
import { toStoredEvent, type EventRow } from './event-row.ts';
import { reading } from './log.ts';
import type { Database } from './sqlite.ts';

const columns = 'e.position, e.stream, e.revision, e.id, e.type, e.version, e.time, e.data, e.cause';

const prepareTable = (db: Database, table: string) => {
  const page = (order: 'asc' | 'desc') =>
    db.prepare<EventRow>(`
      SELECT ${columns} FROM ${table} AS l JOIN events AS e ON e.position = l.created
      WHERE l.grp = ?1 AND l.created ${order === 'asc' ? '>' : '<'} ?2 AND l.created <= ?4
      ORDER BY l.created ${order} LIMIT ?3`);
  return {
    table,
    get: db.prepare<EventRow>(
      `SELECT ${columns} FROM ${table} AS l JOIN events AS e ON e.position = l.created WHERE l.created = ?`,
    ),
    asc: page('asc'),
    desc: page('desc'),
  };
};

/** How a read model of kind `log` is read: where its events stand is its own, what they say is the log's. */
export const createListedEvents = (
  db: Database,
  { name, on }: Projection,
  decode: (event: StoredEvent) => RecordedEvent,
) => {
  let prepared: ReturnType<typeof prepareTable> | undefined;
  const statementsOf = (table: string) => {
    if (prepared?.table !== table) prepared = prepareTable(db, table);
    return prepared;
  };

  const shown = (row: EventRow): Revised<unknown> => {
    const event = decode(toStoredEvent(row));
    return { document: on[event.type]?.(event)[0]?.to(undefined), revision: row.revision };
  };

  /** The events of `table()`, which a rebuild may change, up to a position. */
  return (table: () => string, upTo?: Position): Documents<unknown> => {
    const last = upTo === undefined ? Number.MAX_SAFE_INTEGER : Number(upTo);
    const find = (id: string): Revised<unknown> | undefined => {
      const position = Number(id);
      if (!(position <= last)) return undefined;
      const row = reading(() => statementsOf(table()).get.get(position));
      return row === undefined ? undefined : shown(row);
    };
    const page = (request: PageRequest): readonly PageItem<unknown>[] => {
      const { list, from, limit } = pageValuesOf(request);
      if (list === undefined || request.subgroup !== undefined)
        throw new Error(`${name} is listed by group alone.`);
      const rows = reading(() => statementsOf(table())[request.order ?? 'asc'].all(list, from, limit, last));
      return rows.map((row) => ({ created: toPosition(row.position), document: shown(row).document }));
    };
    return {
      get: async (id) => find(id)?.document,
      getWithRevision: async (id) => find(id),
      getMany: async (ids) => ids.map((id) => find(id)?.document),
      page: async (request) => page(request),
      pageText: async (request) => {
        const items = page(request);
        const end = items.at(-1)?.created;
        return {
          text: items.map(({ document }) => JSON.stringify(document)).join(','),
          count: items.length,
          ...(end === undefined ? {} : { last: end }),
        };
      },
    };
  };
};
