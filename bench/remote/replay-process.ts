import { MongoClient, type Collection, type Db } from 'mongodb';
import { randomUUID } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';
import type { StoredEvent } from '../../src/core/event.ts';
import { readPageEventsMax, type EventStore } from '../../src/core/ports.ts';
import { decode, projections } from '../../src/projections/index.ts';
import { openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { openMongoDb } from '../../src/stores/mongodb/index.ts';
import { seed } from '../seeding.ts';
import type { Replay, Timed } from './replay.ts';

/** How often it is looked whether all is there, in milliseconds. */
const lookEveryMs = 20;
const replayMsMax = 300_000;
/** What the adapter inserts at once. */
const insertRowsMax = 1_000;

const timed = async (work: () => Promise<number>): Promise<Timed> => {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const amount = await work();
  const ms = performance.now() - startMs;
  const cpu = process.cpuUsage(cpuBefore);
  return { amount, ms, perSecond: amount / (ms / 1000), cpu: (cpu.user + cpu.system) / 1000 / ms };
};

/** Reads the whole log and does nothing with it: what a replay can't be faster than. */
const readLog = async (events: EventStore): Promise<number> => {
  let amount = 0;
  for (let page: readonly StoredEvent[] = await events.readAll('0'); ;) {
    amount += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < readPageEventsMax) return amount;
    page = await events.readAll(last.position);
  }
};

/** From an empty database until every read model stands at the log's head. */
const replay = async (
  events: EventStore,
  connectionString: string,
  eventsAmount: number,
): Promise<number> => {
  const head = await events.head();
  const nodeId = randomUUID();
  const faults: unknown[] = [];
  const observe = { failed: ({ error }: { readonly error: unknown }) => void faults.push(error) };
  const { readModels, close } = await openMongoDb({
    connectionString,
    projections,
    decode,
    events,
    nodeId,
    observe,
  });
  try {
    const deadlineMs = performance.now() + replayMsMax;
    const isThere = async (): Promise<boolean> => {
      const all = await readModels.status().catch(() => []);
      return all.length > 0 && all.every(({ checkpoint }) => checkpoint >= head);
    };
    while (!(await isThere())) {
      if (performance.now() > deadlineMs)
        throw new Error(`the replay takes too long: ${String(faults.at(-1))}`);
      await passed(lookEveryMs);
    }
    return eventsAmount;
  } finally {
    void close();
  }
};

type Row = { readonly _id: string };
type Filled = { readonly collection: Collection<Row>; readonly rows: readonly Row[] };

/** The rows that a replay has made, and an empty collection with the same indexes for each read model. */
const prepareCopy = async (from: Db, to: Db): Promise<readonly Filled[]> => {
  const models = await from.collection<{ _id: string; live: string }>('keyledger_register').find().toArray();
  const filled: Filled[] = [];
  for (const rows of models.flatMap(({ live }) => [live, live.replace(/_now$/, '_past')])) {
    const source = from.collection<Row>(rows);
    const collection = to.collection<Row>(rows);
    if ((await source.findOne()) === null) continue;
    const indexes = (await source.indexes()).filter(({ name }) => name !== '_id_');
    await collection.createIndexes(
      indexes.map(({ key, name }) => ({ key, ...(name === undefined ? {} : { name }) })),
    );
    filled.push({ collection, rows: await source.find().toArray() });
  }
  return filled;
};

/** The driver alone: the same rows into the same indexes, in batches of the same size. */
const insertAll = async (filled: readonly Filled[]): Promise<number> => {
  let amount = 0;
  for (const { collection, rows } of filled) {
    for (let n = 0; n < rows.length; n += insertRowsMax)
      await collection.insertMany(rows.slice(n, n + insertRowsMax), { ordered: false });
    amount += rows.length;
  }
  return amount;
};

const env = (name: string): string => process.env[name] ?? '';
const log = openEventStoreDb({ connectionString: env('BENCH_LOG') });
const { events } = log;
await seed({ events, readModels: { settle: async () => undefined } }, Number(env('BENCH_CREDENTIALS')));
// Once unmeasured, so that neither of the two that are measured runs uncompiled.
const amount = await readLog(events);
const replaying = await timed(() => replay(events, env('BENCH_DATABASE'), amount));
const reading = await timed(() => readLog(events));
const from = new MongoClient(env('BENCH_DATABASE'));
const to = new MongoClient(env('BENCH_COPY'), { writeConcern: { w: 'majority', journal: true } });
const filled = await prepareCopy(from.db(), to.db());
const inserting = await timed(() => insertAll(filled));
const report: Replay = { reading, replaying, inserting };
console.log(JSON.stringify(report));
process.exit(0);
