import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import type { EventStore } from '../../src/core/ports.ts';
import { openMongoDb, type MongoDb, type MongoDbOptions } from '../../src/stores/mongodb/index.ts';
import { findFerretDb, startFerretDb, type FerretDb } from './ferretdb.ts';
import { decode, projections } from './tally-projections.ts';
import { until } from './waiting.ts';

/** How long read models may take to be filled, in milliseconds. */
const readyMs = 20_000;

/** Opens a node on the tally read models, without waiting for it. */
export const openNode = (
  connectionString: string,
  events: EventStore,
  options: Partial<MongoDbOptions> = {},
): Promise<MongoDb> =>
  openMongoDb({ connectionString, projections, decode, events, nodeId: randomUUID(), ...options });

/** Waits until a node can answer. */
export const ready = (node: MongoDb): Promise<void> =>
  until('the read models are ready', () => node.health().ready, readyMs);

/** A database's name that no other test has. */
export const freshDatabase = (): string => `t${randomUUID().replaceAll('-', '').slice(0, 12)}`;

/**
 * Has a suite run on a FerretDB that is started for it, or stand as pending with the reason where there is none.
 * The database is started before the suite and removed after it.
 */
export const withFerretDb = (name: string, suite: (ferretDb: () => FerretDb) => void): void => {
  const found = findFerretDb();
  if ('missing' in found) {
    describe(name, () => {
      it(found.missing);
    });
    return;
  }
  describe(name, () => {
    let running: FerretDb | undefined;
    before(async function () {
      this.timeout(30_000);
      running = await startFerretDb(found.program);
    });
    suite(() => {
      if (running === undefined) throw new Error('FerretDB is not running.');
      return running;
    });
    // After the suite's own hooks, whose nodes would else wait for it.
    after(() => running?.close());
  });
};

/** Why the suites that need a server are left out. */
export const serverMissing = 'skipped: set SERVICE_TEST_READ_MODELS to a mongodb:// connection string';

/** Fresh databases on the server that `SERVICE_TEST_READ_MODELS` names; absent where it names none. */
export const givenServer = (): (() => string) | undefined => {
  const given = process.env['SERVICE_TEST_READ_MODELS'];
  if (given === undefined || given === '') return undefined;
  const [, before = given, after = ''] =
    /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(given) ?? [];
  return () => `${before}/${freshDatabase()}${after}`;
};

/** The rows of a read model's live collection as the server holds them, in the order of their ids. */
export const readRows = async (
  connectionString: string,
  key: string,
): Promise<{ readonly collection: string; readonly rows: readonly unknown[] }> => {
  const client = new MongoClient(connectionString);
  try {
    const db = client.db();
    const model = await db
      .collection<{ _id: string; live: string }>('keyledger_models')
      .findOne({ _id: key });
    const collection = model?.live ?? '';
    return { collection, rows: await db.collection(collection).find({}).sort({ _id: 1 }).toArray() };
  } finally {
    await client.close();
  }
};
