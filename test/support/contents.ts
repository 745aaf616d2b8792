import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { StoredEvent } from '../../src/core/event.ts';
import { eventColumns, toStoredEvent, type EventRow } from '../../src/stores/embedded/event-row.ts';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { openDatabase, type Database } from '../../src/stores/embedded/sqlite.ts';

/** A document as its table holds it, column by column; those that are gone included. */
export type ContentsRow = Readonly<Record<string, string | number | null>>;

/** Every read model's rows in the order of their ids: two that are equal answer every question alike. */
export type Contents = Readonly<Record<string, readonly ContentsRow[]>>;

const reading = <T>(dir: string, read: (db: Database) => T): T => {
  const db = openDatabase(join(dir, dataFileName), { readOnly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
};

/** The whole log of a data folder, also while a program has it open. */
export const readLog = (dir: string): readonly StoredEvent[] =>
  reading(dir, (db) =>
    db.prepare<EventRow>(`SELECT ${eventColumns} FROM events ORDER BY position`).all().map(toStoredEvent),
  );

/** The read models of a data folder, by name, also while a program has it open: one instant of it. */
export const readContents = (dir: string): Contents =>
  reading(dir, (db) => {
    db.exec('BEGIN');
    const models = db
      .prepare<{ name: string; tbl: string }>('SELECT name, tbl FROM read_models ORDER BY name')
      .all();
    const contents = Object.fromEntries(
      models.map(({ name, tbl }) => [
        name,
        // The first column is what a row is found by: an id, or where the event of a list stands.
        db.prepare<ContentsRow>(`SELECT * FROM ${tbl} ORDER BY 1`).all(),
      ]),
    );
    // Else the driver may hold on to the file for as long as it holds on to a statement.
    db.exec('COMMIT');
    return contents;
  });

/** One short text for each read model that is the same where its contents are. */
export const digests = (contents: Contents): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(contents).map(([name, rows]) => [
      name,
      `${rows.length} rows, ${createHash('sha256').update(JSON.stringify(rows)).digest('hex')}`,
    ]),
  );
