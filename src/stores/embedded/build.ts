import type { Projection } from '../../core/projection.ts';
import type { Writing } from './batch.ts';
import { prepareEvents } from './event-row.ts';
import {
  createListTable,
  createDocumentTable,
  documentTableOf,
  documentTablePrefix,
  pastTablePrefix,
  sortingInFiles,
} from './schema.ts';
import type { Database } from './sqlite.ts';
import { createTarget, type Target } from './target.ts';

/** Rows that one transaction deletes of a table that nobody reads any more. */
const sweepRows = 1_000;

/** Events that are read and written at a time: more would outlive the young generation, and be copied by its collector. */
const pageEvents = 500;

/** The shadow tables of a build that has come to the head, now live. */
export type Built = { readonly target: Target; readonly left: string | undefined };

/** How the log is read for a build. */
export type FeedOptions = {
  /** How many events the next transaction may take; asked before each. */
  readonly chunkEvents: () => number;
  /** Told after each transaction: the position the targets hold, and per target the ids it wrote. */
  readonly progress?: (checkpoint: number, written: readonly (readonly string[])[]) => void;
  /** The connection that the log is read by; the one that is written where absent. */
  readonly log?: Database;
};

/** How a build goes about it. */
export type BuildOptions = FeedOptions & {
  /**
   * Whether appends are served meanwhile: then the indexes grow with their table. Else each is made when the table is
   * full, which takes a part of the time but that at once.
   */
  readonly isServing: boolean;
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
  else createDocumentTable(db, table);
  return table;
};

/** The targets that take a type of event, by the type. */
const takersOf = (targets: readonly Target[]): ReadonlyMap<string, readonly Target[]> => {
  const types = new Set(targets.flatMap(({ projection }) => Object.keys(projection.on)));
  return new Map(
    [...types].map((type) => [type, targets.filter(({ projection }) => projection.on[type] !== undefined)]),
  );
};

/** The statements that read the log: where a page of so many events ends, and those in it that are of these types. */
const prepareLog = (log: Database, types: readonly string[]) => {
  const pageEnd = log.prepare<{ end: number | null; events: number }>(
    `SELECT max(position) AS end, count(*) AS events
     FROM (SELECT position FROM events WHERE position > ? ORDER BY position LIMIT ?)`,
  );
  const wanted = types.map((type) => `'${type.replaceAll("'", "''")}'`);
  const page = prepareEvents(
    log,
    `WHERE position > ? AND position <= ? AND type IN (${wanted.join(', ')}) ORDER BY position`,
  );
  return { pageEnd, page };
};

/**
 * Feeds the log behind a position to the targets, one transaction per step; the step that reaches the head also does
 * `atHead`. Each step but that one answers how many events it took. Returns the position it came to.
 */
function* feed(
  { db, transact, decode, faults }: Writing,
  targets: readonly Target[],
  { chunkEvents, progress, log = db }: FeedOptions,
  { behind, atHead }: { readonly behind: number; readonly atHead: (checkpoint: number) => void },
): Generator<number, number> {
  const takers = takersOf(targets);
  const { pageEnd, page } = prepareLog(log, [...takers.keys()]);
  let checkpoint = behind;
  /** Takes so many events at most; answers how many. */
  const takePage = (limit: number): number => {
    const { end, events } = pageEnd.get(checkpoint, limit) ?? { end: null, events: 0 };
    if (end === null) return 0;
    for (const stored of page(checkpoint, end)) {
      const event = decode(stored);
      const position = Number(stored.position);
      for (const target of takers.get(event.type) ?? []) target.take(event, position);
    }
    checkpoint = end;
    for (const target of targets) target.flush();
    return events;
  };
  const step = (): { readonly events: number; readonly reached: boolean } => {
    let events = 0;
    let reached = false;
    for (const chunk = chunkEvents(); events < chunk && !reached;) {
      const limit = Math.min(chunk - events, pageEvents);
      const taken = takePage(limit);
      events += taken;
      reached = taken < limit;
    }
    faults?.('in-rebuild');
    if (reached) atHead(checkpoint);
    return { events, reached };
  };
  try {
    for (let isOver = false; !isOver;) {
      const { events, reached } = transact(step);
      const written = targets.map((target) => target.committed());
      progress?.(checkpoint, written);
      isOver = reached;
      // Nothing may come between the transaction at the head and what its caller does then.
      if (!isOver) yield events;
    }
  } catch (error) {
    for (const target of targets) target.rolledBack();
    throw error;
  }
  return checkpoint;
}

/** Makes the indexes of the targets, those of one in each step, which takes no events. */
function* index({ db, transact }: Writing, targets: readonly Target[]): Generator<number, void> {
  for (const target of targets) {
    sortingInFiles(db, () => transact(target.index));
    yield 0;
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
): Generator<number, readonly Built[]> {
  const { db, transact, faults } = writing;
  const { isServing } = options;
  const targets = transact(() =>
    projections.map((projection) => {
      const target = createTarget(db, projection, newTable(db, projection), { isBare: true });
      if (isServing) target.index();
      return target;
    }),
  );
  const before = db.prepare<{ tbl: string }>('SELECT tbl FROM read_models WHERE name = ?');
  const register = db.prepare(`
    INSERT INTO read_models (name, version, tbl, checkpoint) VALUES (?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, tbl = excluded.tbl, checkpoint = excluded.checkpoint`);
  const built: Built[] = [];
  const swap = (checkpoint: number): void => {
    for (const target of targets) {
      const { name, version } = target.projection;
      built.push({ target, left: before.get(name)?.tbl });
      register.run(name, version, target.table, checkpoint);
    }
    faults?.('before-swap');
  };
  let behind = 0;
  if (!isServing) {
    behind = yield* feed(writing, targets, options, { behind, atHead: () => {} });
    yield* index(writing, targets);
  }
  yield* feed(writing, targets, options, { behind, atHead: swap });
  return built;
}

/** Feeds the whole log once more to a live set of tombstones: what is missing comes in, nothing ever goes. */
export function* merge(writing: Writing, target: Target, options: FeedOptions): Generator<number, void> {
  const atHead = (): void => writing.faults?.('before-swap');
  yield* feed(writing, [target], options, { behind: 0, atHead });
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

/**
 * Removes the leftovers that nobody reads any more, in transactions so small that appends do not wait for them. Their
 * indexes go first and whole: a row that is deleted from them too costs a page of each.
 */
export function* sweep({ db, transact }: Writing, isRead: (table: string) => boolean): Generator<void, void> {
  // An index that stands in the definition of its table has no text of its own, and goes with the table.
  const indexes = db.prepare<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
  );
  for (const table of leftovers(db)) {
    if (isRead(documentTableOf(table))) continue;
    for (const { name } of indexes.all(table)) {
      transact(() => db.exec(`DROP INDEX ${name}`));
      yield;
    }
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
