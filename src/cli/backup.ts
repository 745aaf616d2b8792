import { copyDataFile, inspectDataFile, type FileContents } from '../stores/embedded/index.ts';
import { requiredText, type Command } from './command.ts';
import { isEmbedded } from './engines.ts';
import { insistNew } from './export.ts';
import { withProgress } from './progress.ts';
import { writeWholeFile } from './whole-file.ts';

/** Copies the data file into one that is not there yet, and looks at every page of the copy before it has its name. */
export const backUp: Command['run'] = async ({ config, options, signal, screen }) => {
  const path = requiredText(options, 'out');
  if (!isEmbedded(config))
    throw new Error(
      'The log is kept by an event store elsewhere: back that up by its own means, or export the log. What the data folder has is filled from it.',
    );
  insistNew(path);
  let contents: FileContents | undefined;
  await writeWholeFile(path, async (_, unfinished) => {
    const there = await withProgress(
      { what: 'copying', total: undefined, unit: 'bytes' },
      screen,
      ({ set, of }) =>
        copyDataFile(config.data_dir, unfinished, (bytes, all) => {
          signal.throwIfAborted();
          of(all);
          set(bytes);
        }),
    );
    signal.throwIfAborted();
    screen.draw('verifying');
    contents = inspectDataFile(unfinished, 'The copy');
    screen.draw();
    signal.throwIfAborted();
    if (contents.head !== there.head || contents.events !== there.events)
      throw new Error(`The copy has ${contents.events} events, and the data file ${there.events}.`);
  });
  const { events = 0, head = '' } = contents ?? {};
  return {
    text: `${events} events copied and verified, up to position ${head}`,
    result: { events, head, file: path },
  };
};
