import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { z } from 'zod';
import type { Client } from '../client-process.ts';
import { formatMegabytes } from '../memory.ts';
import { startServer, type Server } from '../server-process.ts';
import { measureLists } from './lists.ts';
import { eventsRow, type HistoryRow } from './rows.ts';
import type { Seeded } from './seeded.ts';

/** How long the service is waited for until the log is sealed, and how often it is asked. */
const sealMsMax = 180_000;
const sealLookEveryMs = 200;
/** A checkpoint that stands behind this share of the log is near enough to its end. */
const sealedShareMin = 0.99;

/** An answer of the whole log that has not ended by then is given up. */
const linesMsMax = 300_000;

const newline = 0x0a;

const checkpoints = z.array(z.object({ tree_size: z.coerce.number() }));

/** Where the service runs on the seeded folder. */
export type ServedStart = {
  readonly program: string;
  readonly folder: string;
  readonly dataDir: string;
  readonly client: Client;
  readonly seeded: Seeded;
  readonly rounds: number;
  readonly seconds: number;
};

/** What was measured of the running service, and what went wrong, in words. */
export type Served = { readonly rows: readonly HistoryRow[]; readonly trouble: readonly string[] };

type Headers = Readonly<Record<string, string>>;

/** How many events the newest checkpoint covers; absent where this build makes none. */
const sealedTo = async (port: number, headers: Headers): Promise<number | undefined> => {
  const url = `http://127.0.0.1:${port}/admin/v1/checkpoints?order=desc&limit=1`;
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return checkpoints.parse(JSON.parse(text))[0]?.tree_size ?? 0;
};

/** Asks for a checkpoint, for the service by itself takes its time; answers why it refused, where it did. */
const askForSeal = async (port: number, headers: Headers): Promise<string | undefined> => {
  const url = `http://127.0.0.1:${port}/admin/v1/checkpoints`;
  const signal = AbortSignal.timeout(sealMsMax);
  return fetch(url, { method: 'POST', headers, signal }).then(
    async (answer) => (answer.status < 409 ? void (await answer.arrayBuffer()) : answer.text()),
    // A connection on which nothing moves for long is cut; the sealing goes on.
    () => undefined,
  );
};

/** Waits until the service has sealed the log: what is measured then is not measured beside that. */
const awaitSealed = async (
  { port, memory }: Server,
  headers: Headers,
  events: number,
): Promise<{ readonly row: HistoryRow; readonly trouble: readonly string[] } | undefined> => {
  const startMs = performance.now();
  const what = 'sealing the log';
  const refusal = await askForSeal(port, headers);
  if (refusal !== undefined)
    return { row: { what, result: 'refused' }, trouble: [`sealing was refused: ${refusal}`] };
  for (;;) {
    const size = await sealedTo(port, headers);
    if (size === undefined) return undefined;
    const ms = performance.now() - startMs;
    const { peakBytes } = await memory();
    if (size >= events * sealedShareMin)
      return { row: eventsRow(what, { events: size, ms, peakBytes }), trouble: [] };
    if (ms > sealMsMax)
      return {
        row: { what, result: `${size} of ${events} events`, peakBytes },
        trouble: [`the log was not sealed within ${sealMsMax / 1000} s`],
      };
    await passed(sealLookEveryMs);
  }
};

/** Takes the whole log as lines; answers how many. */
const takeLines = (port: number, headers: Headers): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/admin/v1/events',
      headers: { ...headers, Accept: 'application/x-ndjson' },
      signal: AbortSignal.timeout(linesMsMax),
    };
    const request = get(options, (answer) => {
      let lines = 0;
      if (answer.statusCode !== 200) reject(new Error(`the events were answered ${answer.statusCode}`));
      answer.on('data', (chunk: Uint8Array) => {
        for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) lines += 1;
      });
      answer.on('end', () => resolve(lines));
      answer.on('error', reject);
    });
    request.on('error', reject);
  });

const measureLines = async (server: Server, headers: Headers): Promise<HistoryRow> => {
  const before = await server.memory();
  const startMs = performance.now();
  const events = await takeLines(server.port, headers);
  const ms = performance.now() - startMs;
  const { rssBytes, peakBytes } = await server.memory();
  const row = eventsRow('`GET /admin/v1/events` as lines', { events, ms, peakBytes });
  const memory = `memory ${formatMegabytes(before.rssBytes)} before, ${formatMegabytes(rssBytes)} after`;
  return { ...row, result: `${row.result} · ${memory}` };
};

/** Starts the service on the folder, lets it seal the log, measures it, and ends it. */
export const measureServed = async (start: ServedStart): Promise<Served> => {
  const { program, folder, dataDir, seeded } = start;
  const token = randomBytes(32).toString('hex');
  const env = { SERVICE_CP_ADMIN_TOKEN: token, SERVICE_DATA_DIR: dataDir, SERVICE_PORT: '0' };
  const server = await startServer({ program, env, log: join(folder, 'service.log'), readyPath: '/readyz' });
  const headers = { Authorization: `Bearer ${token}` };
  try {
    const { peakBytes } = await server.memory();
    const started = {
      what: 'start of the service',
      result: `${(server.startMs / 1000).toFixed(1)} s`,
      peakBytes,
    };
    const sealed = await awaitSealed(server, headers, seeded.events);
    const lists = await measureLists({ ...start, port: server.port, headers });
    const lines = await measureLines(server, headers);
    const sealing = sealed === undefined ? [] : [sealed.row];
    return {
      rows: [started, ...sealing, ...lists.rows, lines],
      trouble: [...(sealed?.trouble ?? []), ...lists.trouble],
    };
  } finally {
    await server.stop();
  }
};
