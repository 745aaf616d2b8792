import type { RecordedEvent } from '../../core/event.ts';
import type { Change, Projection } from '../../core/projection.ts';
import { createBirths, documentBirthColumns, tooManyBirths } from './births.ts';
import { createInserting } from './inserting.ts';
import { idIndexOf, indexesOf, pastTableOf } from './schema.ts';
import type { Database, SqlValue } from './sqlite.ts';
import type { Target, TargetOptions } from './target.ts';

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

const columns = ['id', 'revision', 'created', 'position', 'gone', 'grp', 'sub', 'body'];
const pastColumns = ['id', 'since', 'until', 'revision', 'created', 'grp', 'sub', 'body'];

/** What is done with a row of an id that has one already. */
const replace = `ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, created = excluded.created,
  position = excluded.position, gone = excluded.gone, grp = excluded.grp, sub = excluded.sub, body = excluded.body`;

/** Reads and writes the rows of a table of documents. */
const createRows = (db: Database, table: string, { isBare }: TargetOptions) => {
  const select = db.prepare<Row>(
    `SELECT revision, created, position, gone, grp, sub, body FROM ${table} WHERE id = ?`,
  );
  const fixed = { revision: '0', gone: '0' };
  const birth = { table, columns: documentBirthColumns, fixed };
  const prepareIndexed = () => ({
    bear: createInserting(db, { ...birth, onConflict: replace }),
    put: createInserting(db, { table, columns, onConflict: replace }),
  });
  // Without an index nothing has been looked for, and there is nothing but births to write.
  const prepareBare = () => ({ bear: createInserting(db, birth), put: undefined });
  let statements: ReturnType<typeof prepareIndexed> | ReturnType<typeof prepareBare> = isBare
    ? prepareBare()
    : prepareIndexed();
  const index = (): void => {
    if (statements.put !== undefined) return;
    db.exec(idIndexOf(table));
    statements = prepareIndexed();
  };
  return {
    index,
    load: (id: string): Held => {
      // Where no document is ever looked for, as of those that only come to be, the index waits for the table's end.
      index();
      const row = select.get(id);
      if (row === undefined) return empty;
      return { ...row, document: row.gone === 1 ? undefined : JSON.parse(row.body) };
    },
    /** Writes what events have made by themselves. */
    bear: (values: readonly SqlValue[]): void => statements.bear(values),
    /** Writes what has been looked for. */
    put: (values: readonly SqlValue[]): void => statements.put?.(values),
  };
};

/** The writing side of a read model of documents. */
export const createDocumentTarget = (
  db: Database,
  projection: Projection,
  table: string,
  options: TargetOptions,
): Target => {
  const rows = createRows(db, table, options);
  const supersede = createInserting(db, { table: pastTableOf(table), columns: pastColumns });
  const births = createBirths(projection);
  /** Rows that nothing has looked for yet. */
  const born: SqlValue[] = [];
  const held = new Map<string, Held>();
  const dirty = new Set<string>();
  const written: string[] = [];
  /** Versions that another one has taken the place of, and the position from which it holds; as rows of the past. */
  const superseded: SqlValue[] = [];

  const flushBorn = (): void => {
    const values = born.splice(0);
    for (let at = 0; at < values.length; at += documentBirthColumns.length) written.push(String(values[at]));
    rows.bear(values);
  };

  const load = (id: string): Held => {
    flushBorn();
    return rows.load(id);
  };

  const changeBy = (event: RecordedEvent, position: number): void => {
    let revived = 0;
    for (const change of projection.on[event.type]?.(event) ?? []) {
      const { id } = change;
      const before = held.get(id) ?? load(id);
      if (projection.kind === 'stream' && event.revision <= before.revision) continue;
      const now = after(before, change, event, position, projection);
      held.set(id, now);
      if (now === before) continue;
      dirty.add(id);
      if (before.gone === 0 && before.position < position) {
        const { position: since, revision, created, grp, sub, body } = before;
        superseded.push(id, since, position, revision, created, grp, sub, body);
      }
      if (before.gone === 1 && now.gone === 0 && projection.kind === 'stream' && ++revived > 1)
        throw tooManyBirths(projection, event.type);
    }
  };

  return {
    projection,
    table,
    take: (event, position) => {
      const values = births(event, position);
      if (values === undefined) changeBy(event, position);
      else born.push(...values);
    },
    bear: (values) => void born.push(...values),
    flush: () => {
      flushBorn();
      const values: SqlValue[] = [];
      for (const id of dirty) {
        const { revision, created, position, gone, grp, sub, body } = held.get(id) ?? empty;
        values.push(id, revision, created, position, gone, grp, sub, body);
        written.push(id);
      }
      rows.put(values);
      supersede(superseded.splice(0));
      dirty.clear();
      if (held.size > heldMax) held.clear();
    },
    committed: () => {
      held.clear();
      return written.splice(0);
    },
    rolledBack: () => {
      born.length = 0;
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
