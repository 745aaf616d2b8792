import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { signingKeyFile, verifierKeyFile } from '../proofs/signing-key.ts';
import {
  contentsOfFolder,
  dataFileName,
  inspectDataFile,
  openLogOf,
  takeOwnership,
  type FileContents,
} from '../stores/embedded/index.ts';
import { requiredText, type Command, type CommandInput } from './command.ts';
import { isEmbedded, pagesOf } from './engines.ts';
import { faultIn } from './log-check.ts';
import { withProgress } from './progress.ts';
import { writeWholeFile } from './whole-file.ts';

/** What is copied at a time, in bytes. */
const chunkBytes = 1_048_576;

/** What may lie in the folder already: the key that the log is sealed with, which is kept apart from backups. */
const keyFiles: readonly string[] = [signingKeyFile, verifierKeyFile];

const insistEmpty = ({ data_dir }: Config): void => {
  const [first] = contentsOfFolder(data_dir).filter((name) => !keyFiles.includes(name));
  if (first !== undefined)
    throw new Error(`The data folder ${data_dir} is not empty (${first}): name one that is.`);
};

const insistAlone = (path: string): void => {
  const wal = `${path}-wal`;
  // A copy of the files of a service that ran: what was committed last stands there and not in the file.
  if (existsSync(wal) && statSync(wal).size > 0)
    throw new Error(`${wal} stands beside ${path}: this is no backup, but a data file that was in use.`);
};

const copy = async (from: FileHandle, to: FileHandle, { signal, screen }: CommandInput): Promise<void> => {
  const { size } = await from.stat();
  await withProgress({ what: 'copying', total: size, unit: 'bytes' }, screen, async ({ add }) => {
    for (let at = 0; at < size;) {
      signal.throwIfAborted();
      const { buffer, bytesRead } = await from.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
      if (bytesRead === 0) throw new Error('The file has become shorter while it was read.');
      await to.writeFile(buffer.subarray(0, bytesRead));
      at += bytesRead;
      add(bytesRead);
    }
  });
};

/** Throws where an event is not what its hash says, or can't be read. */
const insistSound = async (
  path: string,
  named: string,
  { events, head }: FileContents,
  { signal, screen }: CommandInput,
): Promise<void> => {
  const log = openLogOf(path);
  try {
    await withProgress({ what: 'verifying', total: events }, screen, async ({ add }) => {
      for await (const page of pagesOf({ readAll: async (after) => log.readAll(after) }, head, signal)) {
        for (const event of page) {
          const fault = faultIn(event);
          if (fault !== undefined) throw new Error(`${named} is damaged: event ${event.id} ${fault}.`);
        }
        add(page.length);
        await nextTurn();
      }
    });
  } finally {
    log.close();
  }
};

/** Copies under a name that no service looks for, and gives it the data file's when it is found whole. */
const putIn = async (from: FileHandle, path: string, input: CommandInput): Promise<FileContents> => {
  const { data_dir } = input.config;
  for (const left of readdirSync(data_dir).filter((name) => name.endsWith('.part')))
    rmSync(join(data_dir, left), { force: true });
  let contents: FileContents | undefined;
  await writeWholeFile(join(data_dir, dataFileName), async (to, unfinished) => {
    await copy(from, to, input);
    input.screen.draw('verifying');
    contents = inspectDataFile(unfinished, path);
    input.screen.draw();
    await insistSound(unfinished, path, contents, input);
  });
  if (contents === undefined) throw new Error('Nothing was restored.');
  return contents;
};

/** Puts a backup into a data folder that is empty or not there; the folder is then as it was where it throws. */
export const restore: Command['run'] = async (input) => {
  const { config, options } = input;
  const path = requiredText(options, 'in');
  if (!isEmbedded(config))
    throw new Error('The log is kept by an event store elsewhere: restore that by its own means.');
  insistEmpty(config);
  const from = await open(path, 'r');
  const isNew = !existsSync(config.data_dir);
  try {
    insistAlone(path);
    mkdirSync(config.data_dir, { recursive: true, mode: 0o700 });
    const release = takeOwnership(config.data_dir);
    try {
      // Again: a service may have been there until the folder was taken.
      insistEmpty(config);
      const { events, head } = await putIn(from, path, input);
      return {
        text: `${events} events restored and verified, up to position ${head}`,
        result: { events, head, data_dir: config.data_dir },
      };
    } finally {
      release();
    }
  } catch (error) {
    if (isNew) rmSync(config.data_dir, { recursive: true, force: true });
    throw error;
  } finally {
    await from.close();
  }
};
