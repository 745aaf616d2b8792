import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import type { Client } from '../client-process.ts';
import { startService, type ServiceSide } from '../sides/service.ts';
import { formatTable } from '../table.ts';
import {
  createCallReader,
  createCommandReader,
  startCountingRelay,
  type CountingRelay,
  type Reader,
} from './counting-relay.ts';
import { settingsOf, type Engines } from './engines.ts';

const poolAmount = 100;
const requestsCounted = { 1: 200, 64: 1_000 } as const;
const secondsMax = 30;
/** How long what a request leaves to be done is counted after it, in milliseconds; also how long rest is counted. */
const afterMs = 1_000;

/** What one request asked of the engines, in the middle. */
export type Count = {
  readonly what: string;
  readonly commands: Readonly<Record<string, number>>;
  readonly calls: Readonly<Record<string, number>>;
};

const local = /127\.0\.0\.1:(\d+)/;

/** A relay before the server that a connection string names, and the string that leads there. */
const relayTo = async (connectionString: string, createReader: () => Reader) => {
  const port = local.exec(connectionString)?.[1];
  if (port === undefined) return undefined;
  const relay = await startCountingRelay(Number(port), createReader);
  return { relay, through: connectionString.replace(local, `127.0.0.1:${relay.port}`) };
};

const since = (
  relay: CountingRelay,
  before: ReadonlyMap<string, number>,
  requests: number,
): Record<string, number> =>
  Object.fromEntries(
    [...relay.counts()]
      .map(([name, times]) => [name, (times - (before.get(name) ?? 0)) / requests] as const)
      .filter(([, times]) => times > 0)
      .toSorted(([, one], [, other]) => other - one),
  );

const countAll = async (
  client: Client,
  service: ServiceSide,
  mongoDb: CountingRelay,
  eventStore: CountingRelay,
): Promise<Count[]> => {
  const around = async (what: string, requests: number, work: () => Promise<unknown>): Promise<Count> => {
    const [commands, calls] = [mongoDb.counts(), eventStore.counts()];
    await work();
    await passed(afterMs);
    return { what, commands: since(mongoDb, commands, requests), calls: since(eventStore, calls, requests) };
  };
  // What filling has left to be done is not counted.
  await passed(afterMs);
  const found = [await around('a second of rest', 1, async () => undefined)];
  for (const operation of ['mint', 'authenticate'] as const) {
    for (const connections of [1, 64] as const) {
      const requests = await service.requestsFor(operation, 0);
      if (requests === undefined) throw new Error(`the service has no requests for ${operation}`);
      const requestsMax = requestsCounted[connections];
      const job = { port: service.server.port, requests, requestsMax, warmupSeconds: 0, seconds: secondsMax };
      const run = async (): Promise<void> => {
        const { requests: answered, failures } = await client.run({ ...job, connections });
        if (answered !== requestsMax || Object.keys(failures).length > 0)
          throw new Error(`counting ${operation} failed: ${JSON.stringify({ answered, failures })}`);
      };
      found.push(await around(`${operation}, ${connections} in flight`, requestsMax, run));
    }
  }
  return found;
};

/**
 * What the service asks of its engines for each request, counted by relays before them, in a start of its own: a
 * relay takes time. Absent where the engines are not on this machine.
 */
export const countCalls = async (
  engines: Engines,
  start: { readonly folder: string; readonly client: Client; readonly program: string },
): Promise<readonly Count[] | undefined> => {
  const eventStore = await relayTo(await engines.log(), createCallReader);
  const mongoDb = await relayTo(engines.database(), createCommandReader);
  let service: ServiceSide | undefined;
  try {
    if (eventStore === undefined || mongoDb === undefined) return undefined;
    service = await startService({
      ...start,
      title: 'service counted',
      dataDir: join(start.folder, 'counted'),
      poolAmount,
      engines: settingsOf(eventStore.through, mongoDb.through),
    });
    return await countAll(start.client, service, mongoDb.relay, eventStore.relay);
  } finally {
    await service?.server.stop();
    eventStore?.relay.close();
    mongoDb?.relay.close();
  }
};

const formatNames = (counted: Readonly<Record<string, number>>): string =>
  Object.entries(counted)
    .map(([name, times]) => `${times.toFixed(2)} ${name}`)
    .join(', ');

const sum = (counted: Readonly<Record<string, number>>): string =>
  Object.values(counted)
    .reduce((all, times) => all + times, 0)
    .toFixed(2);

/** The counts as a Markdown table. */
export const formatCounts = (counts: readonly Count[]): string =>
  formatTable(
    ['for each', 'MongoDB commands', 'of them', 'gRPC'],
    counts.map(({ what, commands, calls }) => [
      what,
      sum(commands),
      formatNames(commands),
      formatNames(calls),
    ]),
  );
