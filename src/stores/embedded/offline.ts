import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toPosition, type Position } from '../../core/event.ts';
import { build, leftovers } from './build.ts';
import { takeOwnership } from './owner.ts';
import { insistToday, openReading, openWriting } from './schema.ts';
import type { Database } from './sqlite.ts';
import type { ReplayInput } from './shadow.ts';
import { createTransact } from './transaction.ts';
import { checkpointPassive, checkpointTruncate, createWalProbe, walFramesDue } from './wal.ts';

/** Events per transaction: nobody is served meanwhile. */
const chunkEvents = 1_000;

/** A folder's data file while no service has the folder, and none can take it. */
export type OwnedFile = { readonly db: Database; readonly close: () => void };

const openOwned = (dir: string, fileName: string, open: (path: string) => Database): OwnedFile => {
  const path = join(dir, fileName);
  // Before the lock is made: a folder that is mistyped must not get one.
  if (!existsSync(path)) throw new Error(`The data folder ${dir} has no ${fileName}: nothing is in it.`);
  const release = takeOwnership(dir);
  let db: Database | undefined;
  const close = (): void => {
    db?.close();
    release();
  };
  try {
    db = open(path);
    insistToday(db, path);
    return { db, close };
  } catch (error) {
    close();
    throw error;
  }
};

/** Opens a folder's data file for reading alone. Throws `FolderInUse`, and where the file is not of today's schema. */
export const openOwnedFile = (dir: string, fileName: string): OwnedFile =>
  openOwned(dir, fileName, openReading);

/** The position of a data file's last event. */
export const headOf = (db: Database): Position =>
  toPosition(
    db.prepare<{ head: number | null }>('SELECT max(position) AS head FROM events').get()?.head ?? 0,
  );

/** How many events a data file has; looks at all of them. */
export const countOf = (db: Database): number =>
  db.prepare<{ events: number }>('SELECT count(*) AS events FROM events').get()?.events ?? 0;

/**
 * Fills read models of a folder anew while no service has it, and swaps all of them in the transaction that reaches the
 * end of the log: whoever is cut off before leaves the folder as it was. Answers of each
 * step how many events it took, at most.
 */
export function* rebuildOffline(
  dir: string,
  fileName: string,
  { projections, decode }: Omit<ReplayInput, 'log'>,
): Generator<number, void> {
  const { db, close } = openOwned(dir, fileName, openWriting);
  try {
    const transact = createTransact(db);
    const frames = createWalProbe(db);
    const drop = (): void => {
      for (const table of leftovers(db)) transact(() => db.exec(`DROP TABLE ${table}`));
    };
    try {
      const writing = { db, transact, decode, faults: undefined, live: [] };
      const options = { chunkEvents: () => chunkEvents, isServing: false };
      for (const events of build(writing, projections, options)) {
        if (frames() >= walFramesDue) checkpointPassive(db);
        yield events;
      }
    } finally {
      drop();
      checkpointTruncate(db);
    }
    yield chunkEvents;
  } finally {
    close();
  }
}
