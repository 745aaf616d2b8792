import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Makes the names in a folder durable. */
export const syncFolder = async (dir: string): Promise<void> => {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/**
 * Writes a file that is there whole or not at all: under another name beside it, for its owner alone, and renamed when
 * it is on the disk. Where `write` throws nothing is left. A file of that name is replaced. `write` is told the name
 * under which the file stands until then.
 */
export const writeWholeFile = async (
  path: string,
  write: (file: FileHandle, unfinished: string) => Promise<void>,
): Promise<void> => {
  const dir = dirname(path);
  const unfinished = join(dir, `.${basename(path)}.${process.pid}.part`);
  const file = await open(unfinished, 'wx', 0o600);
  try {
    try {
      await write(file, unfinished);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(dir);
};
