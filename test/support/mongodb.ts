import { randomUUID } from 'node:crypto';
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
    after(() => running?.close());
    suite(() => {
      if (running === undefined) throw new Error('FerretDB is not running.');
      return running;
    });
  });
};
