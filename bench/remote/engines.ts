import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startEventStoreProcess } from '../../test/support/eventstore-process.ts';
import { findFerretDb, startFerretDb } from '../../test/support/ferretdb.ts';

/** The engines that the service runs on here, and what they are. */
export type Engines = {
  readonly eventStoreTitle: string;
  readonly readModelsTitle: string;
  /** A log of its own with each call, where the engine is the double; the one log of a server that is given. */
  readonly log: () => Promise<string>;
  /** An empty database with each call. */
  readonly database: () => string;
  readonly stop: () => Promise<void>;
};

type Logs = Pick<Engines, 'log' | 'stop'> & { readonly title: string };
type Databases = Pick<Engines, 'database' | 'stop'> & { readonly title: string };

const freshName = (): string => `bench${randomUUID().replaceAll('-', '').slice(0, 12)}`;

const startLogs = (given: string | undefined, folder: string): Logs => {
  if (given !== undefined && given !== '')
    return { title: 'EventStoreDB', log: async () => given, stop: async () => undefined };
  const stops: (() => Promise<void>)[] = [];
  return {
    title: 'the double of EventStoreDB',
    log: async () => {
      const { connectionString, kill } = await startEventStoreProcess(join(folder, `${freshName()}.log`));
      // A run that is cut short leaves no server behind.
      process.once('exit', () => void kill());
      stops.push(kill);
      return connectionString;
    },
    stop: async () => {
      for (const stop of stops) await stop();
    },
  };
};

const startDatabases = async (given: string | undefined, folder: string): Promise<Databases> => {
  if (given !== undefined && given !== '') {
    const [, before = given, after = ''] =
      /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(given) ?? [];
    const database = (): string => `${before}/${freshName()}${after}`;
    return { title: 'MongoDB', database, stop: async () => undefined };
  }
  const found = findFerretDb();
  if ('missing' in found) throw new Error(found.missing);
  // Its data goes where the system's temporary files go, which may be memory.
  process.env['TMPDIR'] = folder;
  const server = await startFerretDb(found.program);
  return { title: 'FerretDB 1.24', database: () => server.url(freshName()), stop: server.close };
};

/**
 * Starts the double of EventStoreDB and FerretDB, or takes the servers that `SERVICE_TEST_EVENT_STORE` and
 * `SERVICE_TEST_READ_MODELS` name; of those, what the run writes stays. `folder` is absolute.
 */
export const startEngines = async (folder: string): Promise<Engines> => {
  const logs = startLogs(process.env['SERVICE_TEST_EVENT_STORE'], folder);
  const databases = await startDatabases(process.env['SERVICE_TEST_READ_MODELS'], folder);
  return {
    eventStoreTitle: logs.title,
    readModelsTitle: databases.title,
    log: logs.log,
    database: databases.database,
    stop: async () => {
      await databases.stop();
      await logs.stop();
    },
  };
};

/** The settings that tell the service where its engines are. */
export const settingsOf = (log: string, database: string): Readonly<Record<string, string>> => ({
  SERVICE_EVENT_STORE: log,
  SERVICE_READ_MODELS: database,
});
