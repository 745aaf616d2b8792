import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { toPosition, type Position } from '../../core/event.ts';
import { build, leftovers } from './build.ts';
import { startCheckpointing } from './checkpointing.ts';
import { takeOwnership } from './owner.ts';
import { fillCacheKib, insistOnSyncs, insistToday, openReading, openWriting, relaxSyncs } from './schema.ts';
import type { Database } from './sqlite.ts';
import type { ReplayInput } from './shadow.ts';
import { createTransact } from './transaction.ts';
import { checkpointPassive, checkpointTruncate, createWalProbe } from './wal.ts';

/** Events per transaction: nobody is served meanwhile. */
const chunkEvents = 1_000;

/** A folder's data file while no service has the folder, and none can take it. */
export type OwnedFile = { readonly db: Database; readonly path: string; readonly close: () => void };

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
    return { db, path, close };
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

/** What read models are filled by. */
export type RefillInput = Pick<ReplayInput, 'projections' | 'decode'> & {
  /** The module that both are from, for a thread of its own to read the log; without it that is done here. */
  readonly projectionsModule?: string;
};

/** Does that in a data file that is open for writing; `fd` is that file too. */
async function* refill(
  db: Database,
  path: string,
  fd: number,
  { projections, decode, projectionsModule }: RefillInput,
): AsyncGenerator<number, void> {
  const transact = createTransact(db);
  const frames = createWalProbe(db);
  const upTo = Number(headOf(db));
  let failure: Error | undefined;
  const checkpointing = startCheckpointing({
    path,
    fd,
    faultsModule: undefined,
    finish: () => {
      checkpointPassive(db);
      checkpointing.finished();
    },
    fatal: (error) => (failure ??= error),
  });
  try {
    // What a power cut takes before the swap is a leftover; the swap alone has to be safe when it is committed.
    relaxSyncs(db);
    const steps = build({ db, transact, decode, faults: undefined, live: [] }, projections, {
      chunkEvents: () => chunkEvents,
      isServing: false,
      filled: () => insistOnSyncs(db),
      ahead: projectionsModule === undefined ? undefined : { path, upTo, projectionsModule },
    });
    for (const events of steps) {
      if (failure !== undefined) throw failure;
      checkpointing.grown(frames());
      yield events;
    }
    yield chunkEvents;
  } finally {
    await checkpointing.end(failure === undefined ? 'close' : 'rest');
    if (failure === undefined) {
      for (const table of leftovers(db)) transact(() => db.exec(`DROP TABLE ${table}`));
      checkpointTruncate(db);
    }
  }
}

/**
 * Fills read models of a folder anew while no service has it, and swaps all of them in the transaction that reaches the
 * end of the log: whoever is cut off before leaves the folder as it was. Answers of each step
 * how many events it took, at most.
 */
export async function* rebuildOffline(
  dir: string,
  fileName: string,
  input: RefillInput,
): AsyncGenerator<number, void> {
  const { db, path, close } = openOwned(dir, fileName, (it) => openWriting(it, fillCacheKib));
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r+');
    yield* refill(db, path, fd, input);
  } finally {
    close();
    // After SQLite: where a process closes a file, it loses all its locks on that file (POSIX).
    if (fd !== undefined) closeSync(fd);
  }
}
