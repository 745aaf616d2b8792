import { MongoClient } from 'mongodb';
import { setTimeout as passed } from 'node:timers/promises';
import { credentials } from '../../src/projections/credentials.ts';
import { openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import type { Client, Worker } from '../client-process.ts';
import type { JobResult } from '../job.ts';
import { connectionCounts } from '../operations.ts';
import { findTrouble, type Cell } from '../rounds.ts';
import type { ServiceSide } from '../sides/service.ts';
import { formatRows, summarise, type Row } from '../table.ts';
import type { Load } from './lanes.ts';
import type { RawJob } from './raw.ts';

/** What is measured here: that of the service which has a single call of an engine's client at its bottom. */
const measured = ['mint', 'authenticate'] as const;

/** Uncounted load at the start of each cell, and before the first round. */
const cellWarmupSeconds = 0.15;
const warmupSeconds = 1;
const warmupConnections = 64;

/** How long the read models may take to come to the log's head between two cells, in milliseconds. */
const restMsMax = 30_000;
const lookEveryMs = 50;

const titles = ['service', 'official client'] as const;

/** The service, and what is beside it. */
export type RatesInput = {
  readonly client: Client;
  readonly raw: Worker<RawJob, JobResult>;
  readonly service: ServiceSide;
  /** The service's own log and database. */
  readonly log: string;
  readonly database: string;
  /** The log that the official client appends to: another one, so that the service hears nothing of it. */
  readonly rawLog: string;
  readonly rounds: number;
  readonly seconds: number;
};

/** The rows with what stands behind them. */
export type Rates = {
  readonly rows: readonly Row[];
  readonly trouble: readonly string[];
  readonly text: string;
};

type Model = { readonly _id: string; readonly live?: string; readonly checkpoint: string };

/** Looks at the service's engines from outside. */
const openLook = (log: string, database: string) => {
  const eventStore = openEventStoreDb({ connectionString: log });
  const mongoDb = new MongoClient(database);
  const models = mongoDb.db().collection<Model>('keyledger_register');
  return {
    /** Waits until the projector has nothing left to do, so that no cell pays for the one before. */
    rest: async (): Promise<void> => {
      const head = await eventStore.events.head();
      const deadlineMs = performance.now() + restMsMax;
      while (await models.findOne({ checkpoint: { $lt: head } })) {
        if (performance.now() > deadlineMs) throw new Error('the projector does not come to the head');
        await passed(lookEveryMs);
      }
    },
    credentials: async (): Promise<string> => {
      const model = await models.findOne({ _id: `${credentials.name}@${credentials.version}` });
      if (model?.live === undefined) throw new Error('there is no collection of credentials');
      return model.live;
    },
    close: async (): Promise<void> => {
      await mongoDb.close();
      await eventStore.close();
    },
  };
};

/** Both sides in turn for each row, in rounds, each once the engines are at rest. */
export const measureRates = async (input: RatesInput): Promise<Rates> => {
  const { client, raw, service, log, database, rawLog, rounds, seconds } = input;
  const look = openLook(log, database);
  const cells: Cell[] = [];
  try {
    const collection = await look.credentials();
    const ids = service.pool.map(({ username }) => username);
    const rawJob = (operation: (typeof measured)[number], load: Load): RawJob =>
      operation === 'mint'
        ? { ...load, call: 'append', log: rawLog }
        : { ...load, call: 'find', database, collection, ids };
    const ofService = async (operation: (typeof measured)[number], load: Load): Promise<JobResult> => {
      const requests = await service.requestsFor(operation, 0);
      if (requests === undefined) throw new Error(`the service has no requests for ${operation}`);
      return client.run({ ...load, port: service.server.port, connections: load.inFlight, requests });
    };
    const measure = async (operation: (typeof measured)[number], load: Load): Promise<JobResult[]> => {
      await look.rest();
      const one = await ofService(operation, load);
      await look.rest();
      return [one, await raw.run(rawJob(operation, load))];
    };
    for (const operation of measured)
      await measure(operation, {
        inFlight: warmupConnections,
        warmupSeconds: 0,
        seconds: Math.min(warmupSeconds, seconds),
      });
    for (let round = 1; round <= rounds; round++) {
      for (const operation of measured) {
        console.error(`round ${round} of ${rounds}: ${operation}`);
        for (const connections of connectionCounts) {
          const load = { inFlight: connections, warmupSeconds: cellWarmupSeconds, seconds };
          const results = await measure(operation, load);
          for (const [n, result] of results.entries())
            cells.push({ round, operation, connections, side: titles[n] ?? '', result });
        }
      }
    }
  } finally {
    await look.close();
  }
  const rows = summarise(cells, titles, titles.slice(1));
  return { rows, trouble: findTrouble(cells), text: formatRows(rows, titles, titles.slice(1)) };
};
