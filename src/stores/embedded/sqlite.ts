/** The first Node whose built-in SQLite is stable. */
const builtInFrom = 24;

/** Before this version two connections could damage a WAL (the WAL-reset bug). */
const sqliteMin = [3, 51, 3] as const;

const isAtLeast = (version: string, least: readonly number[]): boolean => {
  const parts = version.split('.').map(Number);
  const at = least.findIndex((wanted, n) => parts[n] !== wanted);
  return at === -1 || (parts[at] ?? 0) > (least[at] ?? 0);
};

const isBuiltInFit =
  Number.parseInt(process.versions.node, 10) >= builtInFrom &&
  isAtLeast(process.versions['sqlite'] ?? '0', sqliteMin);

/** How long a connection waits for another one's lock; only a checkpoint or a foreign program can hold one. */
export const busyMs = 5_000;

/** What a column can hold here. */
export type SqlValue = string | number | null;

/** A prepared statement whose rows have the shape `Row`; the SQL beside it must keep that word. */
export type Statement<Row> = {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** Only by `iterate` below, which keeps the statement. */
  iterate(...values: SqlValue[]): IterableIterator<Row>;
  /** Whether rows come as arrays of their columns from now on, which takes half the time of objects. */
  setReturnArrays(enabled: boolean): void;
};

/** What has to live as long as another object does. */
const kept = new WeakMap<object, unknown>();

/**
 * A statement's rows one at a time. The driver's iterator does not hold its statement: once nobody else does, the
 * collector takes it from under the rows, which ends in an error or takes the process down.
 */
export const iterate = <Row>(statement: Statement<Row>, ...values: SqlValue[]): IterableIterator<Row> => {
  const rows = statement.iterate(...values);
  kept.set(rows, statement);
  return rows;
};

/** One connection: the part of `DatabaseSync` that both drivers share and this engine uses. */
export type Database = {
  exec(sql: string): void;
  prepare<Row = unknown>(sql: string): Statement<Row>;
  close(): void;
  readonly isTransaction: boolean;
};

type BackupOptions = {
  /** Pages that are copied at a time. */
  readonly rate: number;
  /** Told between two steps; the copy ends with what it throws. */
  readonly progress: (it: { readonly totalPages: number; readonly remainingPages: number }) => void;
};

type Driver = {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
  readonly backup: (db: Database, path: string, options: BackupOptions) => Promise<number>;
};

const isDriver = (module: unknown): module is Driver =>
  typeof module === 'object' && module !== null && 'DatabaseSync' in module && 'backup' in module;

/** The module that SQLite comes from in this Node. */
const driverName = isBuiltInFit ? 'node:sqlite' : '@photostructure/sqlite';

const driver: unknown = await import(driverName);

/** Opens a connection. Throws where the file can't be opened, or is no database. */
export const openDatabase = (
  path: string,
  { readOnly = false, waitMs = busyMs }: { readonly readOnly?: boolean; readonly waitMs?: number } = {},
): Database => {
  if (!isDriver(driver)) throw new Error(`${driverName} has no DatabaseSync.`);
  const db = new driver.DatabaseSync(path, { readOnly });
  db.exec(`PRAGMA busy_timeout = ${waitMs}`);
  return db;
};

/** Copies a database into a file page by page, beside whoever writes it (https://sqlite.org/backup.html). */
export const copyDatabase = async (db: Database, path: string, options: BackupOptions): Promise<void> => {
  if (!isDriver(driver)) throw new Error(`${driverName} has no backup.`);
  await driver.backup(db, path, options);
};

/** SQLite's primary result codes that this engine tells apart (https://sqlite.org/rescode.html). */
export const resultCode = { error: 1, busy: 5, full: 13, tooBig: 18, constraint: 19, mismatch: 20 } as const;

/** The primary result code of an error of either driver; absent where SQLite did not raise it. */
export const codeOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff // both drivers give the extended code, whose low byte is the primary one
    : undefined;
