import { open, type FileHandle } from 'node:fs/promises';
import { startOfLog, type StoredEvent } from '../core/event.ts';
import { createCheck } from './log-check.ts';
import { requiredText, type Command, type CommandInput } from './command.ts';
import { isEmbedded, openTarget, type Target } from './engines.ts';
import { DamagedFile, readLogFile } from './log-file.ts';
import { withProgress as tellingProgress } from './progress.ts';

/** What is written at a time: events, and characters of their data and causes. */
const batchEventsMax = 500;
const batchCharsMax = 4_194_304;

/** The file, and what the steps share. */
type Work = CommandInput & {
  readonly file: FileHandle;
  /** How many events the file has; absent until it is counted. */
  readonly total?: number;
};

const members = [
  'id',
  'stream',
  'revision',
  'type',
  'version',
  'time',
  'data',
  'cause',
  'hash',
  'previous',
] as const;

/** The first member in which two events differ; absent where they are the same. */
const differenceOf = (
  wanted: StoredEvent,
  found: StoredEvent,
  { keepsPositions }: Target,
): string | undefined =>
  members.find((member) => wanted[member] !== found[member]) ??
  (keepsPositions && wanted.position !== found.position ? 'position' : undefined);

/** Does a step over events, telling how far it is. */
const withProgress = <T>(
  what: string,
  { total, screen }: Work,
  step: (add: (events: number) => void) => Promise<T>,
): Promise<T> => tellingProgress({ what, total }, screen, ({ add }) => step(add));

/** Reads the whole file; answers how many events it has. Throws `DamagedFile`. */
const checkFile = (work: Work): Promise<number> =>
  withProgress('checking', work, async (add) => {
    const check = createCheck({ plainJson: !isEmbedded(work.config) });
    let events = 0;
    try {
      for await (const event of readLogFile(work.file)) {
        work.signal.throwIfAborted();
        check.take(event);
        add(1);
        events += 1;
      }
    } finally {
      check.close();
    }
    return events;
  });

/** Every event of the target, in order. */
async function* eventsOf({ readAll }: Target): AsyncGenerator<StoredEvent, void> {
  for (let page = await readAll(startOfLog); page.length > 0;) {
    yield* page;
    page = await readAll(page.at(-1)?.position ?? startOfLog);
  }
}

/** Takes from the file what the target has already; answers how many that were. Throws where it is anything else. */
const passOver = async (
  target: Target,
  { signal }: Work,
  wanted: AsyncGenerator<StoredEvent, void>,
): Promise<number> => {
  let events = 0;
  for await (const found of eventsOf(target)) {
    signal.throwIfAborted();
    const { value } = await wanted.next();
    if (value === undefined || differenceOf(value, found, target) !== undefined)
      throw new Error(
        `The target is not empty, and its event ${events + 1} is not that of the file: nothing was imported.`,
      );
    events += 1;
  }
  return events;
};

const writeRest = async (
  target: Target,
  { signal }: Work,
  wanted: AsyncGenerator<StoredEvent, void>,
  add: (events: number) => void,
): Promise<void> => {
  let batch: StoredEvent[] = [];
  let chars = 0;
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    signal.throwIfAborted();
    await target.write(batch);
    add(batch.length);
    batch = [];
    chars = 0;
  };
  for await (const event of wanted) {
    batch.push(event);
    chars += event.data.length + event.cause.length;
    if (batch.length >= batchEventsMax || chars >= batchCharsMax) await flush();
  }
  await flush();
};

/** Writes what the target has not; the file is held against its digest again. */
const write = (target: Target, work: Work): Promise<void> =>
  withProgress('importing', work, async (add) => {
    const wanted = readLogFile(work.file);
    const held = await passOver(target, work, wanted);
    if (held > 0) work.screen.tell(`resumed at event ${held + 1}`);
    add(held);
    await writeRest(target, work, wanted, add);
  });

/** Reads the target back and holds every event against the file's. */
const verify = (target: Target, work: Work): Promise<number> =>
  withProgress('verifying', work, async (add) => {
    const found = eventsOf(target);
    let events = 0;
    for await (const wanted of readLogFile(work.file)) {
      work.signal.throwIfAborted();
      const { value } = await found.next();
      if (value === undefined) throw new Error(`The target has ${events} events, and the file more.`);
      const member = differenceOf(wanted, value, target);
      if (member !== undefined)
        throw new Error(`Event ${events + 1} of the target is not that of the file: its ${member} differs.`);
      add(1);
      events += 1;
    }
    if ((await found.next()).done !== true)
      throw new Error('The target has more events than the file: another program writes there too.');
    return events;
  });

/** Puts the log of a file into a target that is empty, or has the beginning of it; then reads it back. */
export const importLog: Command['run'] = async (input) => {
  const path = requiredText(input.options, 'in');
  const file = await open(path, 'r');
  try {
    // Before the target is opened: a file that is refused must not have made so much as a folder.
    const total = await checkFile({ ...input, file });
    const work = { ...input, file, total };
    const target = await openTarget(input.config);
    try {
      await write(target, work);
      const events = await verify(target, work);
      return { text: `${events} events imported and verified`, result: { events } };
    } finally {
      await target.close();
    }
  } catch (error) {
    if (error instanceof DamagedFile)
      throw new Error(`${path} can't be imported: ${error.message}.`, { cause: error });
    throw error;
  } finally {
    await file.close();
  }
};
