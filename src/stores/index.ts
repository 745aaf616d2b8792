import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { RecordedEvent, StoredEvent } from '../core/event.ts';
import type { EventStore, Health, ReadModels } from '../core/ports.ts';
import type { Projection } from '../core/projection.ts';
import { openEmbedded, openReplica, type Observe as ObserveEmbedded } from './embedded/index.ts';
import {
  openEventStoreDb,
  type EventStoreDb,
  type Observe as ObserveEventStore,
} from './eventstoredb/index.ts';
import { openMongoDb, type Observe as ObserveMongoDb } from './mongodb/index.ts';
import { retrying } from './retrying.ts';

/** What the engines tell of their work, for metrics and the log. Must not throw. */
export type Observe = ObserveEmbedded & ObserveEventStore & ObserveMongoDb;

/** Which engines, and what they need around them. */
export type StoresOptions = {
  /** `embedded`, or a connection string of EventStoreDB. */
  readonly eventStore: string;
  /** `embedded`, or a connection string of MongoDB; the latter with a remote event store only. */
  readonly readModels: string;
  /** The folder of the embedded engine, and of embedded read models. */
  readonly dir: string;
  readonly projections: readonly Projection[];
  readonly decode: (event: StoredEvent) => RecordedEvent;
  /** URL of a module that exports the same two, for an engine that projects in a thread of its own. */
  readonly projectionsModule: string;
  readonly faultsModule?: string | undefined;
  readonly onFatal: (error: unknown) => void;
  readonly observe: Observe;
  /** Told, while the engines are opened, what is waited for. */
  readonly waiting: (reason: string) => void;
};

/** The engines, open. */
export type Stores = {
  readonly events: EventStore;
  readonly readModels: ReadModels;
  readonly health: () => Health;
  /** When the last event of the log happened, ISO 8601, as the log was when it was opened; absent where it is empty. */
  readonly lastEventTime: string | undefined;
  readonly close: () => Promise<void>;
};

/** Does it again as long as an engine is away: whoever starts the service need not start the engines first. */
const untilThere = <T>(work: () => Promise<T>, waiting: (reason: string) => void): Promise<T> =>
  retrying(new AbortController().signal, work, ({ message }) => waiting(message));

/** Ready when all are; else the first reason, else the first warning. */
const healthOf = (all: readonly Health[]): Health =>
  all.find(({ ready }) => !ready) ??
  all.find((health) => 'warning' in health && health.warning !== undefined) ?? { ready: true };

const embeddedOptions = ({ dir, projectionsModule, faultsModule, onFatal, observe }: StoresOptions) => ({
  dir,
  projectionsModule,
  ...(faultsModule === undefined ? {} : { faultsModule }),
  onFatal,
  observe,
});

const openOneMachine = async (options: StoresOptions): Promise<Stores> => {
  const engine = await openEmbedded(embeddedOptions(options));
  return { ...engine, lastEventTime: engine.lastEventTime() };
};

/** The log is elsewhere, and this node alone keeps read models of it in its folder. */
const openWithReplica = async (options: StoresOptions, log: EventStoreDb): Promise<Stores> => {
  const { events } = log;
  // What the server tells of appends is the log's; the copy's own commits are no appends of anybody.
  const { committed: _, ...observe } = options.observe;
  const open = () => openReplica({ ...embeddedOptions(options), observe, source: events });
  const replica = await untilThere(open, options.waiting);
  return {
    events,
    readModels: replica.readModels,
    health: () => healthOf([log.health(), replica.health()]),
    lastEventTime: replica.lastEventTime(),
    close: async () => {
      await replica.close();
      await log.close();
    },
  };
};

/** Any number of nodes over the same two engines. */
const openOnServers = async (options: StoresOptions, log: EventStoreDb): Promise<Stores> => {
  const { events } = log;
  const { readModels: connectionString, projections, decode, observe } = options;
  const mongoDb = await openMongoDb({
    connectionString,
    projections,
    decode,
    events,
    nodeId: `${hostname()}/${process.pid}/${randomUUID()}`,
    observe,
  });
  const close = async (): Promise<void> => {
    await mongoDb.close();
    await log.close();
  };
  try {
    const lastEventTime = await untilThere(log.lastEventTime, options.waiting);
    return {
      events,
      readModels: mongoDb.readModels,
      health: () => healthOf([log.health(), mongoDb.health()]),
      lastEventTime,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/**
 * Opens the engines that the settings name. Waits for a remote log that is away; remote read models may be away, and
 * `health` then says so. Throws on a connection string that can't be read, and where a folder can't be opened.
 */
export const openStores = async (options: StoresOptions): Promise<Stores> => {
  if (options.eventStore === 'embedded') {
    if (options.readModels !== 'embedded') throw new Error('Remote read models need a remote event store.');
    return openOneMachine(options);
  }
  const log = openEventStoreDb({ connectionString: options.eventStore, observe: options.observe });
  if (options.readModels !== 'embedded') return openOnServers(options, log);
  return openWithReplica(options, log);
};
