import type { Projection } from '../../core/projection.ts';
import type { Writing } from './batch.ts';
import { openPagesAhead, type AheadInput } from './pages-ahead.ts';
import { createPages, pageEventsMax, type NextPage } from './pages.ts';
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

/** The shadow tables of a build that has come to the head, now live. */
export type Built = { readonly target: Target; readonly left: string | undefined };

/** How the log is read for a build. */
export type FeedOptions = {
  /** How many events the next transaction may take; asked before each. */
  readonly chunkEvents: () => number;
  /** Told after each transaction: the position the targets hold, and per target the ids it wrote. */
  readonly progress?: (checkpoint: number, written: readonly (readonly string[])[]) => void;
};

/** How a build goes about it. */
export type BuildOptions = FeedOptions & {
  /**
   * Whether appends are served meanwhile: then the indexes grow with their table. Else each is made when the table is
   * full, which takes a part of the time but that at once.
   */
  readonly isServing: boolean;
  /** The connection that the log is read by; the one that is written where absent. */
  readonly log?: Database;
  /** The same log for a thread of its own to read, where nobody is served; what is behind that is read here. */
  readonly ahead?: Omit<AheadInput, 'names'> | undefined;
  /** Told when the tables are full and have their indexes, before they are made live. */
  readonly filled?: () => void;
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

/**
 * Feeds the log behind a position to the targets, one transaction per step; the step that reaches the head also does
 * `atHead`. Each step but that one answers how many events it took. Returns the position it came to.
 */
function* feed(
  { transact, faults }: Pick<Writing, 'transact' | 'faults'>,
  targets: readonly Target[],
  { chunkEvents, progress }: FeedOptions,
  {
    nextPage,
    behind,
    atHead,
  }: {
    readonly nextPage: NextPage;
    readonly behind: number;
    readonly atHead: (checkpoint: number) => void;
  },
): Generator<number, number> {
  let checkpoint = behind;
  /** Takes so many events at most; answers how many. */
  const takePage = (eventsMax: number): number => {
    const page = nextPage(checkpoint, eventsMax);
    if (page === undefined) return 0;
    for (const [place, rows] of page.born.entries()) targets[place]?.bear(rows);
    for (const { event, position, takers } of page.rest)
      for (const place of takers) targets[place]?.take(event, position);
    checkpoint = page.end;
    for (const target of targets) target.flush();
    return page.events;
  };
  const step = (): { readonly events: number; readonly reached: boolean } => {
    let events = 0;
    let reached = false;
    for (const chunk = chunkEvents(); events < chunk && !reached;) {
      const taken = takePage(Math.min(chunk - events, pageEventsMax));
      events += taken;
      reached = taken === 0;
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
  const { db, transact, decode, faults } = writing;
  const { isServing, log = db, ahead } = options;
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
  const here = createPages({ log, projections, decode });
  let behind = 0;
  if (!isServing) {
    const reader = ahead && openPagesAhead({ ...ahead, names: projections.map(({ name }) => name) });
    try {
      const nextPage = reader?.next ?? here;
      behind = yield* feed(writing, targets, options, { nextPage, behind, atHead: () => {} });
    } finally {
      reader?.close();
    }
    yield* index(writing, targets);
    options.filled?.();
  }
  yield* feed(writing, targets, options, { nextPage: here, behind, atHead: swap });
  return built;
}

/** Feeds the whole log once more to a live set of tombstones: what is missing comes in, nothing ever goes. */
export function* merge(writing: Writing, target: Target, options: FeedOptions): Generator<number, void> {
  const { db: log, decode } = writing;
  const nextPage = createPages({ log, projections: [target.projection], decode });
  const atHead = (): void => writing.faults?.('before-swap');
  yield* feed(writing, [target], options, { nextPage, behind: 0, atHead });
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
