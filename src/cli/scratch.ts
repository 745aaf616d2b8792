import { openDatabase, type Database } from '../stores/embedded/sqlite.ts';

/** SQLite's name for a database in a file of its own that is gone when it is closed, or the process ends. */
const temporary = '';

/** A database with these tables for what is longer than memory is wide; gone when it is closed. */
export const openScratch = (tables: string): Database => {
  const db = openDatabase(temporary);
  db.exec(`
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    ${tables}
    BEGIN;
  `);
  return db;
};
