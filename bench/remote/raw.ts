import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { MongoClient } from 'mongodb';
import type { JobResult } from '../job.ts';
import { createMintedEvent } from '../minted-event.ts';
import { runLanes, type Load } from './lanes.ts';

/** What the official clients do by themselves. */
export type RawJob = Load &
  (
    | { readonly call: 'append'; readonly log: string }
    | {
        readonly call: 'find';
        readonly database: string;
        readonly collection: string;
        readonly ids: readonly string[];
      }
  );

const eventStores = new Map<string, EventStoreDBClient>();
const mongoDbs = new Map<string, MongoClient>();

const kept = <C>(all: Map<string, C>, key: string, make: (key: string) => C): C => {
  const client = all.get(key) ?? make(key);
  all.set(key, client);
  return client;
};

const appendOne = async (client: EventStoreDBClient): Promise<unknown> => {
  const { stream, event } = createMintedEvent();
  const { id, type, version, time } = event;
  // As much as the service sends, but not in its form: no service that shares the log takes it for its own.
  const metadata = { as: { version, time, cause: JSON.parse(event.cause) } };
  const sent = jsonEvent({ id, type, data: JSON.parse(event.data), metadata });
  return client.appendToStream(stream, sent, { expectedRevision: NO_STREAM });
};

/** Appends one event to a new stream with each call, or finds one document by its id. */
const runRaw = (job: RawJob): Promise<JobResult> => {
  if (job.call === 'append') {
    const client = kept(eventStores, job.log, (log) => EventStoreDBClient.connectionString(log));
    return runLanes(job, () => appendOne(client));
  }
  const { ids } = job;
  const client = kept(mongoDbs, job.database, (database) => new MongoClient(database));
  const collection = client.db().collection<{ _id: string }>(job.collection);
  let n = 0;
  return runLanes(job, async () => {
    const found = await collection.findOne({ _id: ids[n++ % ids.length] ?? '' });
    if (found === null) throw new Error('a document is missing');
  });
};

// A process of its own: it takes one job at a time from the benchmark and answers its result.
process.on('message', (job: RawJob) => {
  void runRaw(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
