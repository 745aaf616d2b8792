import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { requiredText, type Command } from './command.ts';
import { openSource, pagesOf, type Source } from './engines.ts';
import { createLogText } from './log-file.ts';
import { withProgress } from './progress.ts';
import { writeWholeFile } from './whole-file.ts';

/** Writes one page while the next is read; what a write threw, the one after it throws, or `end`. */
const createWriting = (file: FileHandle) => {
  let last: Promise<void> = Promise.resolve();
  return {
    write: async (bytes: Buffer | string): Promise<void> => {
      await last;
      last = file.writeFile(bytes);
      // It is thrown where it is awaited; until then nobody has seen to it.
      last.catch(() => undefined);
    },
    end: (): Promise<void> => last,
  };
};

/** Writes every event up to the head as it is now; answers how many. */
const writeLog = async (
  source: Source,
  file: FileHandle,
  signal: AbortSignal,
  wrote: (events: number) => void,
): Promise<number> => {
  const text = createLogText();
  const { write, end } = createWriting(file);
  let events = 0;
  await write(text.header());
  for await (const page of pagesOf(source, await source.head(), signal)) {
    if (page.length > 0) await write(text.page(page));
    events += page.length;
    wrote(page.length);
  }
  await write(text.end());
  await end();
  return events;
};

/** Refuses a name that is taken: a log or a data file that is overwritten by mistake does not come back. */
export const insistNew = (path: string): void => {
  if (existsSync(path)) throw new Error(`${path} is there already: name one that is not.`);
};

/** Writes the log into a file that is not there yet. */
export const exportLog: Command['run'] = async ({ config, options, signal, screen }) => {
  const path = requiredText(options, 'out');
  insistNew(path);
  const source = openSource(config);
  try {
    let events = 0;
    await withProgress({ what: 'exporting', total: source.count() }, screen, ({ add }) =>
      writeWholeFile(path, async (file) => {
        events = await writeLog(source, file, signal, add);
      }),
    );
    return { text: `${events} events exported`, result: { events, file: path } };
  } finally {
    await source.close();
  }
};
