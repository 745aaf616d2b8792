import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { startOfLog } from '../core/event.ts';
import type { Command } from './command.ts';
import { openSource, type Source } from './engines.ts';
import { createLogText } from './log-file.ts';
import { createProgress } from './progress.ts';
import { writeWholeFile } from './whole-file.ts';

/** Writes every event up to the head as it is now; answers how many. */
const writeLog = async (
  { readAll, head }: Source,
  file: FileHandle,
  signal: AbortSignal,
  wrote: (events: number) => void,
): Promise<number> => {
  const text = createLogText();
  const last = await head();
  let events = 0;
  await file.writeFile(text.header());
  for (let after = startOfLog; after < last;) {
    signal.throwIfAborted();
    const page = await readAll(after);
    const wanted = page.filter(({ position }) => position <= last);
    if (wanted.length > 0) await file.writeFile(text.page(wanted));
    events += wanted.length;
    wrote(wanted.length);
    const end = page.at(-1);
    // Else what is missing would go unseen: the head was there when it was asked for.
    if (end === undefined) throw new Error('The log ends before its head.');
    after = end.position;
  }
  signal.throwIfAborted();
  await file.writeFile(text.end());
  return events;
};

/** Writes the log into a file that is not there yet. */
export const exportLog: Command['run'] = async ({ config, file: path, signal, tell }) => {
  // A log or a data file that is overwritten by mistake does not come back.
  if (existsSync(path)) throw new Error(`${path} is there already: name a file that is not.`);
  const source = openSource(config);
  const progress = createProgress('exporting', source.count, tell);
  try {
    let events = 0;
    await writeWholeFile(path, async (file) => {
      events = await writeLog(source, file, signal, progress.add);
    });
    return `${events} events exported`;
  } finally {
    progress.end();
    await source.close();
  }
};
