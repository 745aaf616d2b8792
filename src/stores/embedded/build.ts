import type { Projection } from '../../core/projection.ts';
import type { Writing } from './batch.ts';
import { eventColumns, toStoredEvent, type EventRow } from './event-row.ts';
import {
  createListTable,
  createDocumentTable,
  documentTableOf,
  documentTablePrefix,
  pastTablePrefix,
} from './schema.ts';
import type { Database } from './sqlite.ts';
import { createTarget, type Target } from './target.ts';

/** Rows that one transaction deletes of a table that nobody reads any more. */
const sweepRows = 500;

/** The shadow tables of a build that has come to the head, now live. */
export type Built = { readonly target: Target; readonly left: string | undefined };

/** How a build goes about it. */
export type BuildOptions = {
  /** How many events the next transaction may take; asked before each. */
  readonly chunkEvents: () => number;
  /** Told after each transaction: the position the targets hold, and per target the ids it wrote. */
  readonly progress?: (checkpoint: number, written: readonly (readonly string[])[]) => void;
  /** The connection that the log is read by; the one that is written where absent. */
  readonly log?: Database;
};

const newTable = (db: Database, projection: Projection): string => {
  const last = db
    .prepare<{ n: number | null }>(
      `SELECT max(CAST(substr(name, ${documentTablePrefix.length + 1}) AS INTEGER)) AS n
       FROM sqlite_master WHERE type = 'table' AND name GLOB '${documentTablePrefix}*'`,
    )
    .get();
  const table = `${documentTablePrefix}${(last?.n ?? 0) + 1}`;
  if (projection.kind === 'log') createListTable(db, table);
  else
    createDocumentTable(db, table, {
      grouped: projection.group !== undefined,
      subgrouped: projection.subgroup !== undefined,
    });
  return table;
};

/** Feeds the whole log to the targets, one transaction per step; the step that reaches the head also does `atHead`. */
function* feed(
  { db, transact, decode, faults }: Writing,
  targets: readonly Target[],
  { chunkEvents, progress, log = db }: BuildOptions,
  atHead: (checkpoint: number) => void,
): Generator<void, void> {
  const page = log.prepare<EventRow>(
    `SELECT ${eventColumns} FROM events WHERE position > ? ORDER BY position LIMIT ?`,
  );
  const handled = new Set(targets.flatMap(({ projection }) => Object.keys(projection.on)));
  let checkpoint = 0;
  const step = (): boolean => {
    const limit = chunkEvents();
    const rows = page.all(checkpoint, limit);
    for (const row of rows) {
      checkpoint = row.position;
      if (!handled.has(row.type)) continue;
      const event = decode(toStoredEvent(row));
      for (const target of targets) target.take(event, row.position);
    }
    for (const target of targets) target.flush();
    faults?.('in-rebuild');
    const reached = rows.length < limit;
    if (reached) atHead(checkpoint);
    return reached;
  };
  try {
    for (let isOver = false; !isOver;) {
      isOver = transact(step);
      const written = targets.map((target) => target.committed());
      progress?.(checkpoint, written);
      if (!isOver) yield;
    }
  } catch (error) {
    for (const target of targets) target.rolledBack();
    throw error;
  }
}

/**
 * Fills a new table for each projection from the log and makes them live in the transaction that reaches the head;
 * until then the tables before them stay as they are. One step is one transaction.
 */
export function* build(
  writing: Writing,
  projections: readonly Projection[],
  options: BuildOptions,
): Generator<void, readonly Built[]> {
  const { db, transact, faults } = writing;
  const targets = transact(() =>
    projections.map((projection) => createTarget(db, projection, newTable(db, projection))),
  );
  const before = db.prepare<{ tbl: string }>('SELECT tbl FROM read_models WHERE name = ?');
  const register = db.prepare(`
    INSERT INTO read_models (name, version, tbl, checkpoint) VALUES (?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, tbl = excluded.tbl, checkpoint = excluded.checkpoint`);
  const built: Built[] = [];
  yield* feed(writing, targets, options, (checkpoint) => {
    for (const target of targets) {
      const { name, version } = target.projection;
      built.push({ target, left: before.get(name)?.tbl });
      register.run(name, version, target.table, checkpoint);
    }
    faults?.('before-swap');
  });
  return built;
}

/** Feeds the whole log once more to a live set of tombstones: what is missing comes in, nothing ever goes. */
export function* merge(writing: Writing, target: Target, options: BuildOptions): Generator<void, void> {
  yield* feed(writing, [target], options, () => writing.faults?.('before-swap'));
}

/**
 * The tables of documents and of their past that are not live: of a build that was cut short, or of a read model that
 * was replaced. The past first: a table's number is free only once nothing of it is left.
 */
export const leftovers = (db: Database): readonly string[] =>
  db
    .prepare<{ name: string }>(
      `WITH live AS (
         SELECT tbl AS name FROM read_models
         UNION ALL SELECT '${pastTablePrefix}' || substr(tbl, ${documentTablePrefix.length + 1}) FROM read_models
       )
       SELECT name FROM sqlite_master
       WHERE type = 'table' AND (name GLOB '${documentTablePrefix}*' OR name GLOB '${pastTablePrefix}*')
         AND name NOT IN (SELECT name FROM live)
       ORDER BY name DESC`,
    )
    .all()
    .map(({ name }) => name);

/** Removes the leftovers that nobody reads any more, in transactions so small that appends do not wait for them. */
export function* sweep({ db, transact }: Writing, isRead: (table: string) => boolean): Generator<void, void> {
  for (const table of leftovers(db)) {
    if (isRead(documentTableOf(table))) continue;
    const some = db.prepare(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} LIMIT ${sweepRows})`,
    );
    const any = db.prepare(`SELECT 1 FROM ${table} LIMIT 1`);
    while (any.get() !== undefined) {
      transact(() => some.run());
      yield;
    }
    transact(() => db.exec(`DROP TABLE ${table}`));
    yield;
  }
}
