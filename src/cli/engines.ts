import { join } from 'node:path';
import type { Config } from '../config.ts';
import { linksOf, startOfLog, type Position, type StoredEvent } from '../core/event.ts';
import type { EventStore } from '../core/ports.ts';
import { dataFileName, openEmbedded, openLogReader, replicaFileName } from '../stores/embedded/index.ts';
import { openEventStoreDb } from '../stores/eventstoredb/index.ts';

/** A log to read from. */
export type Source = Pick<EventStore, 'readAll' | 'readStream' | 'head'> & {
  /** How many events it has, where that is known. */
  readonly count: () => number | undefined;
  readonly close: () => Promise<void>;
};

/** A log to write into. */
export type Target = Pick<EventStore, 'readAll'> & {
  /** Puts events at the end, in order; resolves when they are durable. The first of them may be stored where it throws. */
  readonly write: (events: readonly StoredEvent[]) => Promise<void>;
  /** Whether it has the events at the positions that they had; else it gives them its own, in the same order. */
  readonly keepsPositions: boolean;
  readonly close: () => Promise<void>;
};

/** The read models' module, for threads that load it themselves. */
export const projectionsModule = new URL('../projections/index.js', import.meta.url).href;

/** Whether the settings' log is kept on this machine, in `data_dir`. */
export const isEmbedded = ({ event_store }: Config): boolean => event_store === 'embedded';

/** The name of a folder's data file: that of a log, or of a copy of one elsewhere. */
export const fileNameOf = (config: Config): string => (isEmbedded(config) ? dataFileName : replicaFileName);

/** The settings' data file up to a position, for a thread of its own to read. */
export const aheadIn = (config: Config, head: Position) => ({
  path: join(config.data_dir, fileNameOf(config)),
  upTo: Number(head),
  projectionsModule,
});

/** Opens the log that the settings name, beside a service that runs on it. Throws where there is none. */
export const openSource = (config: Config): Source => {
  if (isEmbedded(config)) {
    const { readAll, readStream, head, count, close } = openLogReader(config.data_dir);
    return {
      readAll: async (after, limit) => readAll(after, limit),
      readStream: async (stream, from = 0) => readStream(stream, from),
      head: async () => head(),
      count,
      close: async () => close(),
    };
  }
  const { events, close } = openEventStoreDb({ connectionString: config.event_store });
  const { readAll, readStream, head } = events;
  return { readAll, readStream, head, count: () => undefined, close };
};

/** Every event up to a position, a page at a time. Throws where the log ends before it. */
export async function* pagesOf(
  { readAll }: Pick<Source, 'readAll'>,
  last: Position,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEvent[], void> {
  for (let after = startOfLog; after < last;) {
    signal.throwIfAborted();
    const page = await readAll(after);
    yield page.filter(({ position }) => position <= last);
    const end = page.at(-1);
    // Else what is missing would go unseen: the head was there when it was asked for.
    if (end === undefined) throw new Error('The log ends before its head.');
    after = end.position;
  }
  signal.throwIfAborted();
}

const openFolder = async (dir: string): Promise<Target> => {
  const { events, replicate, close } = await openEmbedded({
    dir,
    projectionsModule,
    // Whoever writes is told by the write.
    onFatal: () => undefined,
  });
  return { readAll: events.readAll, write: replicate, keepsPositions: true, close };
};

/**
 * One append at a time, for only so the order of the log is theirs, and one event in each: one that was stored and
 * not answered is found again by its id.
 */
const openServer = (connectionString: string): Target => {
  const { events, close } = openEventStoreDb({ connectionString });
  const write: Target['write'] = async (page) => {
    for (const event of page) {
      const { stream, revision, id, type, version, time, data, cause } = event;
      const { appended } = await events.append({
        stream,
        expected: revision === 0 ? 'none' : revision - 1,
        events: [{ id, type, version, time, data, cause, ...linksOf(event) }],
      });
      if (!appended)
        throw new Error(
          `Event ${id} does not follow the end of its stream: another program writes there too.`,
        );
    }
  };
  return { readAll: events.readAll, write, keepsPositions: false, close };
};

/** Opens the log that the settings name for writing. Throws where a service has the folder. */
export const openTarget = async (config: Config): Promise<Target> =>
  isEmbedded(config) ? openFolder(config.data_dir) : openServer(config.event_store);
