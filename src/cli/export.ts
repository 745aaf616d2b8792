import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { requiredText, type Command } from './command.ts';
import { openSource, pagesOf, type Source } from './engines.ts';
import { createLogText } from './log-file.ts';
import { withProgress } from './progress.ts';
import { writeWholeFile } from './whole-file.ts';

/** Writes every event up to the head as it is now; answers how many. */
const writeLog = async (
  source: Source,
  file: FileHandle,
  signal: AbortSignal,
  wrote: (events: number) => void,
): Promise<number> => {
  const text = createLogText();
  let events = 0;
  await file.writeFile(text.header());
  for await (const page of pagesOf(source, await source.head(), signal)) {
    if (page.length > 0) await file.writeFile(text.page(page));
    events += page.length;
    wrote(page.length);
  }
  await file.writeFile(text.end());
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
