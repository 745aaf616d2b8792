import type { RecordedEvent } from '../../core/event.ts';
import type { Change, Projection } from '../../core/projection.ts';
import { createInserting } from './inserting.ts';
import { idIndexOf, indexesOf, listIndexOf, pastTableOf } from './schema.ts';
import type { Database, SqlValue } from './sqlite.ts';

/** Documents that are held in memory from one `flush` to the next of the same transaction. */
const heldMax = 500;

/** A document as the writer holds it while a transaction runs. */
type Row = {
  readonly revision: number;
  readonly created: number;
  readonly position: number;
  readonly gone: 0 | 1;
  readonly grp: string | null;
  readonly sub: string | null;
  readonly body: string;
};

type Held = Row & { readonly document: unknown };

/** A read model's table on its writing side. Changes gather in memory and are written once, by `flush`. */
export type Target = {
  readonly projection: Projection;
  readonly table: string;
  /** Takes one event; throws what a reducer throws. */
  take(event: RecordedEvent, position: number): void;
  /** Writes what has gathered, inside the caller's transaction; in a long one several times. */
  flush(): void;
  /** The ids written since the last call, once the transaction is committed. */
  committed(): readonly string[];
  /** Forgets everything since the last `committed`: the transaction was rolled back. */
  rolledBack(): void;
  /** Makes the indexes that a bare table lacks and has to have before it is read, inside the caller's transaction. */
  index(): void;
};

/** What is known of a target's table. */
export type TargetOptions = {
  /** It is new and has no index yet; they can be made when the table is full, from what is sorted by then. */
  readonly isBare: boolean;
};

const empty: Held = {
  revision: -1,
  created: 0,
  position: 0,
  gone: 1,
  grp: null,
  sub: null,
  body: '',
  document: undefined,
};

/** The document of this id after one event; the same object where nothing changes. */
const after = (
  held: Held,
  { id, to }: Change<unknown>,
  event: RecordedEvent,
  at: number,
  it: Projection,
): Held => {
  const document = to(held.document);
  const merges = it.kind === 'tombstones';
  const revision = merges ? Math.max(held.revision, event.revision) : event.revision;
  if (document === undefined) {
    // What never was needs no row; and a set that only grows has nothing that goes.
    if (merges || held.created === 0) return held;
    return { ...held, revision, position: at, gone: 1, body: '', document };
  }
  const body = JSON.stringify(document);
  if (merges && body === held.body) return held;
  const created = held.gone === 1 ? at : held.created;
  const grp = held.gone === 1 ? (it.group?.(document, id) ?? null) : held.grp;
  const sub = held.gone === 1 ? (it.subgroup?.(document, id) ?? null) : held.sub;
  return { revision, created, position: Math.max(at, held.position), gone: 0, grp, sub, body, document };
};

/** The writing side of a read model that shows events: what is kept of each is the list that it stands in. */
const createListTarget = (db: Database, projection: Projection, table: string): Target => {
  const insert = createInserting(db, { table, columns: ['created', 'grp'] });
  const taken: SqlValue[] = [];
  return {
    projection,
    table,
    take: (event, position) => {
      for (const { id, to } of projection.on[event.type]?.(event) ?? []) {
        if (id !== event.position)
          throw new Error(`${projection.name} shows ${event.type} under another id.`);
        taken.push(position, projection.group?.(to(undefined), id) ?? null);
      }
    },
    flush: () => insert(taken.splice(0)),
    // No reader keeps any of it.
    committed: () => [],
    rolledBack: () => {
      taken.length = 0;
    },
    index: () => db.exec(listIndexOf(table)),
  };
};

/** The writing side of the read model in this table, which has its indexes unless told. */
export const createTarget = (
  db: Database,
  projection: Projection,
  table: string,
  options: TargetOptions = { isBare: false },
): Target =>
  projection.kind === 'log'
    ? createListTarget(db, projection, table)
    : createDocumentTarget(db, projection, table, options);

const columns = ['id', 'revision', 'created', 'position', 'gone', 'grp', 'sub', 'body'];
const pastColumns = ['id', 'since', 'until', 'revision', 'created', 'grp', 'sub', 'body'];

/** Reads and writes the rows of a table of documents. */
const createRows = (db: Database, table: string, { isBare }: TargetOptions) => {
  const upserting = () =>
    createInserting(db, {
      table,
      columns,
      onConflict: `ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, created = excluded.created,
        position = excluded.position, gone = excluded.gone, grp = excluded.grp,
        sub = excluded.sub, body = excluded.body`,
    });
  const select = db.prepare<Row>(
    `SELECT revision, created, position, gone, grp, sub, body FROM ${table} WHERE id = ?`,
  );
  let hasIndex = !isBare;
  let put = hasIndex ? upserting() : createInserting(db, { table, columns });
  const index = (): void => {
    if (hasIndex) return;
    db.exec(idIndexOf(table));
    hasIndex = true;
    put = upserting();
  };
  return {
    index,
    isIndexed: (): boolean => hasIndex,
    load: (id: string): Held => {
      // Where no document is ever looked for, as of those that only come to be, the index waits for the table's end.
      index();
      const row = select.get(id);
      if (row === undefined) return empty;
      return { ...row, document: row.gone === 1 ? undefined : JSON.parse(row.body) };
    },
    put: (values: readonly SqlValue[]): void => put(values),
  };
};

/** The same of a read model of documents. */
const createDocumentTarget = (
  db: Database,
  projection: Projection,
  table: string,
  options: TargetOptions,
): Target => {
  const rows = createRows(db, table, options);
  const supersede = createInserting(db, { table: pastTableOf(table), columns: pastColumns });
  const held = new Map<string, Held>();
  const dirty = new Set<string>();
  const written: string[] = [];
  /** Versions that another one has taken the place of, and the position from which it holds; as rows of the past. */
  const superseded: SqlValue[] = [];

  const take = (event: RecordedEvent, position: number): void => {
    let born = 0;
    for (const change of projection.on[event.type]?.(event) ?? []) {
      const { id } = change;
      // The first event of a stream cannot find a document that is a function of this stream: there is none to read.
      const isFirst = projection.kind === 'stream' && event.revision === 0;
      const before = held.get(id) ?? (isFirst ? empty : rows.load(id));
      if (projection.kind === 'stream' && event.revision <= before.revision) continue;
      const now = after(before, change, event, position, projection);
      held.set(id, now);
      if (now === before) continue;
      dirty.add(id);
      if (before.gone === 0 && before.position < position) {
        const { position: since, revision, created, grp, sub, body } = before;
        superseded.push(id, since, position, revision, created, grp, sub, body);
      }
      // Pages are cut by `created`: a page's end could not stand between two that have the same one.
      if (before.gone === 1 && now.gone === 0 && projection.kind === 'stream' && ++born > 1)
        throw new Error(`${event.type} makes more than one document of ${projection.name}.`);
    }
  };

  return {
    projection,
    table,
    take,
    flush: () => {
      const values: SqlValue[] = [];
      for (const id of dirty) {
        const { revision, created, position, gone, grp, sub, body } = held.get(id) ?? empty;
        values.push(id, revision, created, position, gone, grp, sub, body);
        written.push(id);
      }
      rows.put(values);
      supersede(superseded.splice(0));
      dirty.clear();
      // From now on they are in their table; and where that has no index to change them by, they have to be looked for.
      if (held.size > heldMax || !rows.isIndexed()) held.clear();
    },
    committed: () => {
      held.clear();
      return written.splice(0);
    },
    rolledBack: () => {
      superseded.length = 0;
      held.clear();
      dirty.clear();
      written.length = 0;
    },
    index: () => {
      rows.index();
      const lists = {
        grouped: projection.group !== undefined,
        subgrouped: projection.subgroup !== undefined,
      };
      for (const statement of indexesOf(table, lists)) db.exec(statement);
    },
  };
};
