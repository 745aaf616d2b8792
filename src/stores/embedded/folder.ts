import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine, type Engine } from './engine.ts';
import type { EmbeddedOptions } from './options.ts';
import { takeOwnership } from './owner.ts';
import { prepareDataFile } from './schema.ts';

/** The data file's name in its folder. */
export const dataFileName = 'keyledger.db';

/** The file's name where the folder holds a copy of another log: never taken for a log of its own. */
export const replicaFileName = 'replica.db';

/**
 * Opens the data folder: the log and its read models on SQLite, one writer for the whole folder. Resolves when every
 * read model holds the whole log. Throws `FolderInUse`, and refuses a file that is foreign or of a later version.
 */
export const openEmbedded = async (options: EmbeddedOptions, fileName = dataFileName): Promise<Engine> => {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const release = takeOwnership(options.dir);
  const path = join(options.dir, fileName);
  // Made before SQLite opens it, for its mode, which SQLite then gives to the WAL too.
  const fd = openSync(path, 'a', 0o600);
  const leave = (): void => {
    // After SQLite: where a process closes a file, it loses all its locks on that file (POSIX).
    closeSync(fd);
    release();
  };
  try {
    prepareDataFile(path);
    const engine = await openEngine(options, path, fd);
    let closed: Promise<void> | undefined;
    // Asking twice is waiting for the one end.
    return { ...engine, close: () => (closed ??= engine.close().finally(leave)) };
  } catch (error) {
    leave();
    throw error;
  }
};
