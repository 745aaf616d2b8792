import { basename, join } from 'node:path';
import { startOfLog, type StoredEvent } from '../../src/core/event.ts';
import { openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { readLog } from './contents.ts';
import { startEventStoreDouble, type EventStoreDouble } from './eventstore-double/index.ts';
import { wholeLog } from './eventstore.ts';
import { findFerretDb, startFerretDb, type FerretDb } from './ferretdb.ts';

/**
 * The engines that programs under test run on, unless they name their own: by `KEYLEDGER_TEST_ENGINES` the embedded
 * one; `log`: the double of EventStoreDB, one for each folder, with embedded read models; or `servers`: the double, and
 * one FerretDB with a database for each folder.
 */
const engines = process.env['KEYLEDGER_TEST_ENGINES'] ?? 'embedded';
if (!['embedded', 'log', 'servers'].includes(engines))
  throw new Error('KEYLEDGER_TEST_ENGINES names no engines.');

/**
 * Why a log of tens of thousands of events is left out, where it is: FerretDB looks through a collection for each document
 * by its id, so that read models follow such a log for minutes.
 */
export const whyNoLongLog =
  engines === 'servers' ? 'FerretDB takes minutes for the read models of so long a log' : undefined;

const doubles = new Map<string, Promise<EventStoreDouble>>();
let ferretDb: Promise<FerretDb> | undefined;

const startReadModels = async (): Promise<FerretDb> => {
  const found = findFerretDb();
  if ('missing' in found) throw new Error(found.missing);
  return startFerretDb(found.program);
};

/** What a program is told of the engines of its folder; the same each time that it is started there. */
export const engineSettings = async (dir: string): Promise<Readonly<Record<string, string>>> => {
  if (engines === 'embedded') return {};
  const starting = doubles.get(dir) ?? startEventStoreDouble({ file: join(dir, 'double.log') });
  doubles.set(dir, starting);
  const log = { SERVICE_EVENT_STORE: (await starting).connectionString };
  if (engines === 'log') return log;
  const server = await (ferretDb ??= startReadModels());
  return { ...log, SERVICE_READ_MODELS: server.url(basename(dir)) };
};

/** Ends the log's server of a folder that nobody needs any more. */
export const leaveEngines = (dir: string): void => {
  const double = doubles.get(dir);
  doubles.delete(dir);
  void double?.then(({ close }) => close());
};

/** Every event of a folder's program, also while it runs. */
export const logOf = async (dir: string): Promise<readonly StoredEvent[]> => {
  const double = await doubles.get(dir);
  if (double === undefined) return readLog(dir);
  const store = openEventStoreDb({ connectionString: double.connectionString });
  try {
    return await wholeLog(store.events);
  } finally {
    await store.close();
  }
};

/** The header of a read that sees all that a folder's program has appended: read models beside the log come to it later. */
export const asOfEnd = async (dir: string): Promise<Readonly<Record<string, string>>> => ({
  'X-Min-Position': (await logOf(dir)).at(-1)?.position ?? startOfLog,
});

if (engines !== 'embedded') {
  // Once for the whole run, and not for each suite.
  after(async function () {
    this.timeout(20_000);
    for (const dir of doubles.keys()) leaveEngines(dir);
    await (await ferretDb)?.close();
  });
}
