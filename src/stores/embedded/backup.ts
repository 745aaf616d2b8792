import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Position } from '../../core/event.ts';
import { dataFileName } from './folder.ts';
import { countOf, headOf } from './offline.ts';
import { insistOurs, openReading } from './schema.ts';
import { copyDatabase, openDatabase } from './sqlite.ts';

/** Pages that are copied at a time: 4 MiB, between which an interruption is heard. */
const copyPages = 1_024;

/** What a data file holds. */
export type FileContents = { readonly events: number; readonly head: Position };

/** Removes what SQLite may leave beside a file that nobody has open. */
const removeBeside = (path: string): void => {
  for (const end of ['-journal', '-wal', '-shm']) rmSync(path + end, { force: true });
};

/**
 * Looks at a data file that nobody has open: every page of it, every index, and its log. Throws where it is foreign, of
 * a later version, or damaged, in words that name it as `named`. Leaves it as a single file, with nothing beside it.
 */
export const inspectDataFile = (path: string, named = path): FileContents => {
  const db = openDatabase(path);
  try {
    insistOurs(db, named);
    db.exec('PRAGMA journal_mode = DELETE');
    const [first] = db.prepare<object>('PRAGMA integrity_check(1)').all();
    const found = String(Object.values(first ?? {})[0]);
    if (found !== 'ok') throw new Error(`${named} is damaged: ${found.replaceAll(/\s+/g, ' ')}.`);
    return { events: countOf(db), head: headOf(db) };
  } finally {
    db.close();
    removeBeside(path);
  }
};

/**
 * Copies a folder's data file into another one as it is at one instant, also while a service has it: one read
 * transaction holds that instant, and makes no writer wait. Answers what that instant's log was, by the source.
 * `copied` is told how many bytes are done of how many; what it throws ends the copy.
 */
export const copyDataFile = async (
  dir: string,
  to: string,
  copied: (bytes: number, of: number) => void,
): Promise<FileContents> => {
  const path = join(dir, dataFileName);
  if (!existsSync(path))
    throw new Error(`The data folder ${dir} has no ${dataFileName}: there is nothing to copy.`);
  const db = openReading(path);
  try {
    insistOurs(db, path);
    db.exec('BEGIN');
    const contents = { events: countOf(db), head: headOf(db) };
    const pageBytes = db.prepare<{ page_size: number }>('PRAGMA page_size').get()?.page_size ?? 0;
    await copyDatabase(db, to, {
      rate: copyPages,
      progress: ({ totalPages, remainingPages }) =>
        copied((totalPages - remainingPages) * pageBytes, totalPages * pageBytes),
    });
    db.exec('COMMIT');
    return contents;
  } catch (error) {
    removeBeside(to);
    throw error;
  } finally {
    db.close();
  }
};

/** The files of a folder that a data file may be put into: the lock, and nothing that would be lost or mixed up. */
const mayStay = /^owner\.(lock|pid)$|\.part$/;

/** What stands in a folder that has to be empty; the lock and what an interrupted restore left are nothing. */
export const contentsOfFolder = (dir: string): readonly string[] =>
  existsSync(dir) ? readdirSync(dir).filter((name) => !mayStay.test(name)) : [];
