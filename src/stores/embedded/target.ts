import type { RecordedEvent } from '../../core/event.ts';
import type { Change, Projection } from '../../core/projection.ts';
import { pastTableOf } from './schema.ts';
import type { Database } from './sqlite.ts';

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
  /** Writes what has gathered, inside the caller's transaction. */
  flush(): void;
  /** The ids written since the last call, once the transaction is committed. */
  committed(): readonly string[];
  /** Forgets everything since the last `committed`: the transaction was rolled back. */
  rolledBack(): void;
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
  const insert = db.prepare(`INSERT INTO ${table} (created, grp) VALUES (?, ?)`);
  const taken: { readonly position: number; readonly group: string | null }[] = [];
  return {
    projection,
    table,
    take: (event, position) => {
      for (const { id, to } of projection.on[event.type]?.(event) ?? []) {
        if (id !== event.position)
          throw new Error(`${projection.name} shows ${event.type} under another id.`);
        taken.push({ position, group: projection.group?.(to(undefined), id) ?? null });
      }
    },
    flush: () => {
      for (const { position, group } of taken.splice(0)) insert.run(position, group);
    },
    // No reader keeps any of it.
    committed: () => [],
    rolledBack: () => {
      taken.length = 0;
    },
  };
};

/** The writing side of the read model in this table. */
export const createTarget = (db: Database, projection: Projection, table: string): Target =>
  projection.kind === 'log'
    ? createListTarget(db, projection, table)
    : createDocumentTarget(db, projection, table);

/** The same of a read model of documents. */
const createDocumentTarget = (db: Database, projection: Projection, table: string): Target => {
  const select = db.prepare<Row>(
    `SELECT revision, created, position, gone, grp, sub, body FROM ${table} WHERE id = ?`,
  );
  const upsert = db.prepare(`
    INSERT INTO ${table} (id, revision, created, position, gone, grp, sub, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, created = excluded.created,
      position = excluded.position, gone = excluded.gone, grp = excluded.grp,
      sub = excluded.sub, body = excluded.body`);
  const supersede = db.prepare(`
    INSERT INTO ${pastTableOf(table)} (id, since, until, revision, created, grp, sub, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const held = new Map<string, Held>();
  const dirty = new Set<string>();
  /** Versions that another one has taken the place of, and the position from which it holds. */
  const superseded: { readonly id: string; readonly was: Held; readonly until: number }[] = [];

  const load = (id: string): Held => {
    const row = select.get(id);
    if (row === undefined) return empty;
    return { ...row, document: row.gone === 1 ? undefined : JSON.parse(row.body) };
  };

  const take = (event: RecordedEvent, position: number): void => {
    let born = 0;
    for (const change of projection.on[event.type]?.(event) ?? []) {
      const { id } = change;
      // The first event of a stream cannot find a document that is a function of this stream: there is none to read.
      const isFirst = projection.kind === 'stream' && event.revision === 0;
      const before = held.get(id) ?? (isFirst ? empty : load(id));
      if (projection.kind === 'stream' && event.revision <= before.revision) continue;
      const now = after(before, change, event, position, projection);
      held.set(id, now);
      if (now === before) continue;
      dirty.add(id);
      if (before.gone === 0 && before.position < position)
        superseded.push({ id, was: before, until: position });
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
      for (const id of dirty) {
        const { revision, created, position, gone, grp, sub, body } = held.get(id) ?? empty;
        upsert.run(id, revision, created, position, gone, grp, sub, body);
      }
      for (const { id, was, until } of superseded.splice(0)) {
        const { position, revision, created, grp, sub, body } = was;
        supersede.run(id, position, until, revision, created, grp, sub, body);
      }
    },
    committed: () => {
      const ids = [...dirty];
      held.clear();
      dirty.clear();
      return ids;
    },
    rolledBack: () => {
      superseded.length = 0;
      held.clear();
      dirty.clear();
    },
  };
};
