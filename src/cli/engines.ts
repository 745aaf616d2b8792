import type { Config } from '../config.ts';
import type { StoredEvent } from '../core/event.ts';
import type { EventStore } from '../core/ports.ts';
import { openEmbedded, openLogReader } from '../stores/embedded/index.ts';
import { openEventStoreDb } from '../stores/eventstoredb/index.ts';

/** A log to read from. */
export type Source = Pick<EventStore, 'readAll' | 'head'> & {
  /** How many events it has, where that is known. */
  readonly count: number | undefined;
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

/** Whether the settings' log is kept on this machine, in `data_dir`. */
export const isEmbedded = ({ event_store }: Config): boolean => event_store === 'embedded';

/** Opens the log that the settings name, beside a service that runs on it. Throws where there is none. */
export const openSource = (config: Config): Source => {
  if (isEmbedded(config)) {
    const { readAll, head, count, close } = openLogReader(config.data_dir);
    return {
      readAll: async (after, limit) => readAll(after, limit),
      head: async () => head(),
      count: count(),
      close: async () => close(),
    };
  }
  const { events, close } = openEventStoreDb({ connectionString: config.event_store });
  return { readAll: events.readAll, head: events.head, count: undefined, close };
};

const openFolder = async (dir: string): Promise<Target> => {
  const { events, replicate, close } = await openEmbedded({
    dir,
    projectionsModule: new URL('../projections/index.js', import.meta.url).href,
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
    for (const { stream, revision, ...event } of page) {
      const { id, type, version, time, data, cause } = event;
      const { appended } = await events.append({
        stream,
        expected: revision === 0 ? 'none' : revision - 1,
        events: [{ id, type, version, time, data, cause }],
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
