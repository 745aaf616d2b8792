import { chmodSync, closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, openDatabase, resultCode } from './sqlite.ts';

/** How long a second process waits for the first one to go, which a restart can need. */
const waitMs = 500;

/** Another process, or this one a second time, has the data folder open. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

const readPid = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return 'unknown';
  }
};

/**
 * Makes this process the folder's owner until the answered function is called or the process dies, however it
 * dies: the lock is the operating system's, on a file of its own. Throws `FolderInUse`.
 */
export const takeOwnership = (dir: string): (() => void) => {
  const lockPath = join(dir, 'owner.lock');
  const pidPath = join(dir, 'owner.pid');
  closeSync(openSync(lockPath, 'a', 0o600));
  const lock = openDatabase(lockPath, { waitMs });
  try {
    // Nothing is ever written to it, so it needs no journal either.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (codeOf(error) !== resultCode.busy) throw error;
    throw new FolderInUse(`The data folder ${dir} is in use by another process (pid ${readPid(pidPath)}).`, {
      cause: error,
    });
  }
  // Only for the message above: a stale pid does no harm, for the lock alone decides.
  try {
    writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 });
    chmodSync(pidPath, 0o600);
  } catch {
    // A full disk holds up no start.
  }
  return () => {
    rmSync(pidPath, { force: true });
    lock.exec('ROLLBACK');
    lock.close();
  };
};
