import { randomUUID } from 'node:crypto';
import { MongoClient, type Document } from 'mongodb';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EventStore } from '../../src/core/ports.ts';
import { openMongoDb, type MongoDb, type MongoDbOptions } from '../../src/stores/mongodb/index.ts';
import type { RowState } from '../../src/stores/mongodb/client.ts';
import { pastOf } from '../../src/stores/mongodb/past.ts';
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

/** The rows of a read model's live collection as the server holds them, and of its past, in the order of their ids. */
export const readRows = async (
  connectionString: string,
  key: string,
): Promise<{
  readonly collection: string;
  readonly rows: readonly Document[];
  readonly past: readonly Document[];
}> => {
  const client = new MongoClient(connectionString);
  try {
    const db = client.db();
    const model = await db
      .collection<{ _id: string; live: string }>('keyledger_register')
      .findOne({ _id: key });
    const collection = model?.live ?? '';
    const all = (name: string): Promise<readonly Document[]> =>
      db.collection(name).find({}).sort({ _id: 1 }).toArray();
    return { collection, rows: await all(collection), past: await all(pastOf(collection)) };
  } finally {
    await client.close();
  }
};

/** A row as an earlier version of the program wrote it: it does not say since when it holds, and what it was. */
export const undatedRow = (row: RowState): RowState =>
  JSON.parse(JSON.stringify({ ...row, p: undefined, h: undefined }));

/** A node in a process of its own, and the lines that it has written; see `mongodb-child.ts`. */
export type NodeProcess = { readonly process: ChildProcess; readonly lines: string[] };

/** Starts a node that reads the log from another process's data folder. */
export const startNodeProcess = (connectionString: string, dir: string): NodeProcess => {
  const program = fileURLToPath(new URL('mongodb-child.js', import.meta.url));
  const child = spawn(process.execPath, [program, connectionString, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { process: child, lines };
};
