import { openDatabase, type Database } from './sqlite.ts';

/** `KLDG`: how `file(1)` and this engine recognise a data file. */
const applicationId = 0x4b_4c_44_47;

/** Raised with every change of the tables below. */
const schemaVersion = 3;

/** Page cache of the writing connection, in KiB. */
const writerCacheKib = 32_768;

/** Page cache of a connection that fills tables from one end to the other, in KiB: a larger one gains nothing (measured). */
export const fillCacheKib = 8_192;

/** More than the least page cache holds. */
const probeBytes = 100_000;

/** Page cache of a reading connection, in KiB. */
const readerCacheKib = 16_384;

/** SQLite's number for `synchronous=FULL`. */
const synchronousFull = 2;

/** Every read model's table has this beginning, so that a leftover is recognised. */
export const documentTablePrefix = 'documents_';

/** What the documents of such a table were before stands in another one, of the same number. */
export const pastTablePrefix = 'past_';

/** The table of documents that a table belongs to: itself, or that whose past it holds. */
export const documentTableOf = (table: string): string =>
  table.startsWith(pastTablePrefix) ? documentTablePrefix + table.slice(pastTablePrefix.length) : table;

/** The table with the past of this one. */
export const pastTableOf = (table: string): string =>
  pastTablePrefix + table.slice(documentTablePrefix.length);

/** The statement that makes the index by which streams are read, and what holds a stream to one event a revision. */
export const streamIndex = 'CREATE UNIQUE INDEX events_by_stream ON events (stream, revision)';

/** The statement that drops it. */
export const dropStreamIndex = 'DROP INDEX events_by_stream';

const schema = `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    time TEXT NOT NULL,
    data TEXT NOT NULL,
    cause TEXT NOT NULL,
    hash TEXT,
    previous TEXT
  ) STRICT;
  ${streamIndex};
  CREATE TABLE read_models (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    tbl TEXT NOT NULL,
    checkpoint INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** Which lists the documents of a table stand in. */
export type Lists = { readonly grouped: boolean; readonly subgrouped: boolean };

/**
 * One read model's table. `created` is the position of the event that made the document, `position` that of the
 * last one that touched it; a document that is gone keeps its row, and in it its revision. The rows stand in order
 * of arrival, for ids are random: a table ordered by id would touch a page of bodies per append (measured: 0.6 times
 * the appends).
 *
 * Beside it stands what its documents were: a version moves there when the next one takes its place, with the
 * positions from which and until which it held. What never changes costs nothing there.
 */
export const createDocumentTable = (db: Database, table: string): void =>
  db.exec(`
    CREATE TABLE ${table} (
      id TEXT NOT NULL,
      revision INTEGER NOT NULL,
      created INTEGER NOT NULL,
      position INTEGER NOT NULL,
      gone INTEGER NOT NULL,
      grp TEXT,
      sub TEXT,
      body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE ${pastTableOf(table)} (
      id TEXT NOT NULL,
      since INTEGER NOT NULL,
      until INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      created INTEGER NOT NULL,
      grp TEXT,
      sub TEXT,
      body TEXT NOT NULL
    ) STRICT;
  `);

/** The statement that makes the index by which such a table is written: without it no document can be changed. */
export const idIndexOf = (table: string): string =>
  `CREATE UNIQUE INDEX IF NOT EXISTS ${table}_by_id ON ${table} (id)`;

/**
 * The statements that make the indexes by which such a table and its past are read. A read model that is listed by
 * group has an index for that alone: a page across its groups sorts.
 */
export const indexesOf = (table: string, { grouped, subgrouped }: Lists): readonly string[] => {
  const past = pastTableOf(table);
  const group = grouped ? 'grp, ' : '';
  return [
    `CREATE INDEX ${table}_in_order ON ${table} (${group}created) WHERE gone = 0`,
    `CREATE INDEX ${past}_by_id ON ${past} (id, since)`,
    `CREATE INDEX ${past}_in_order ON ${past} (${group}created, since)`,
    ...(subgrouped
      ? [
          `CREATE INDEX ${table}_in_subgroup ON ${table} (sub, created) WHERE gone = 0`,
          `CREATE INDEX ${past}_in_subgroup ON ${past} (sub, created, since)`,
        ]
      : []),
  ];
};

/**
 * A read model of kind `log`: which events stand in which list. What an event says is in the log, and the past of a
 * list is its beginning.
 */
export const createListTable = (db: Database, table: string): void =>
  db.exec(`CREATE TABLE ${table} (created INTEGER PRIMARY KEY, grp TEXT) STRICT`);

/** The statement that makes the index by which such a table is read. */
export const listIndexOf = (table: string): string =>
  `CREATE INDEX ${table}_in_order ON ${table} (grp, created)`;

/** A single-valued pragma, as text. */
export const pragma = (db: Database, name: string): string =>
  String(Object.values(db.prepare<object>(`PRAGMA ${name}`).get() ?? {})[0]);

/** Whether SQLite finds a folder for files of its own (https://sqlite.org/tempfiles.html#tempdir): it has to make one. */
const canMakeFiles = (): boolean => {
  const probe = openDatabase('');
  try {
    probe.exec(`PRAGMA cache_size = 1; CREATE TABLE probe AS SELECT zeroblob(${probeBytes})`);
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
};

/**
 * Does work that sorts whole tables. They can be more than memory holds, so that they are sorted in files, unless there
 * is no folder for these.
 */
export const sortingInFiles = (db: Database, work: () => void): void => {
  const before = pragma(db, 'temp_store');
  if (canMakeFiles()) db.exec('PRAGMA temp_store = FILE');
  try {
    work();
  } finally {
    db.exec(`PRAGMA temp_store = ${before}`);
  }
};

const insist = (db: Database, name: string, wanted: string): void => {
  const found = pragma(db, name);
  if (found !== wanted)
    throw new Error(`SQLite answers ${name} = ${found}, and not ${wanted}: commits would not be safe.`);
};

/** The one connection that writes. Throws where the file system refuses what durability stands on. */
export const openWriting = (path: string, cacheKib = writerCacheKib): Database => {
  const db = openDatabase(path);
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${cacheKib};
  `);
  insist(db, 'journal_mode', 'wal');
  insistOnSyncs(db);
  return db;
};

/**
 * Has a commit wait for no disk from now on. The file stays whole whatever happens
 * (https://sqlite.org/pragma.html#pragma_synchronous), but what was committed may be gone after a power cut.
 */
export const relaxSyncs = (db: Database): void => db.exec('PRAGMA synchronous = NORMAL');

/** Has a commit wait until it is safe again, and all that was committed before it. */
export const insistOnSyncs = (db: Database): void => {
  db.exec('PRAGMA synchronous = FULL');
  insist(db, 'synchronous', String(synchronousFull));
};

/** A connection that can only read; its page cache is in KiB. */
export const openReading = (path: string, cacheKib = readerCacheKib): Database => {
  const db = openDatabase(path, { readOnly: true });
  db.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cacheKib}`);
  return db;
};

/** Makes an empty database a data file of today's schema. */
export const createDataFile = (db: Database): void => {
  db.exec(`
    BEGIN IMMEDIATE;
    ${schema}
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${schemaVersion};
    COMMIT;
  `);
};

/** Throws where the file is not of this program, or of a later version of it. */
export const insistOurs = (db: Database, path: string): void => {
  if (Number(pragma(db, 'application_id')) !== applicationId)
    throw new Error(`${path} is not a data file of this program.`);
  const version = Number(pragma(db, 'user_version'));
  if (version > schemaVersion)
    throw new Error(
      `${path} was written by a later version of this program (schema ${version}, here ${schemaVersion}).`,
    );
};

/** Throws where the file is not of this program or not of today's schema, which the service gives it at its start. */
export const insistToday = (db: Database, path: string): void => {
  insistOurs(db, path);
  if (Number(pragma(db, 'user_version')) !== schemaVersion)
    throw new Error(`${path} was written by an earlier version of this program: start the service once.`);
};

/** What makes a file of a schema one of the next. */
const steps: Readonly<Record<number, string>> = {
  // It has no past of its documents: every read model is filled anew, and has it then.
  1: 'DELETE FROM read_models;',
  // Its events have no hash, and get none: what was written is not touched.
  2: 'ALTER TABLE events ADD COLUMN hash TEXT; ALTER TABLE events ADD COLUMN previous TEXT;',
};

/** All steps from the file's schema to today's, or none. */
const raise = (db: Database, from: number): void =>
  db.exec(`
    BEGIN IMMEDIATE;
    ${Object.entries(steps)
      .filter(([version]) => Number(version) >= from)
      .map(([, step]) => step)
      .join('\n')}
    PRAGMA user_version = ${schemaVersion};
    COMMIT;
  `);

/** Makes an empty data file ours, and one of an earlier schema one of today's; refuses one that is foreign or of a later schema, and leaves it as it is. */
export const prepareDataFile = (path: string): void => {
  const db = openDatabase(path);
  try {
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() === undefined;
    if (isEmpty && pragma(db, 'application_id') === '0' && pragma(db, 'user_version') === '0')
      return createDataFile(db);
    insistOurs(db, path);
    const version = Number(pragma(db, 'user_version'));
    if (version < schemaVersion) raise(db, version);
  } finally {
    db.close();
  }
};
