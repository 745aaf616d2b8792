import { join } from 'node:path';
import { z } from 'zod';
import { runProgram } from './child.ts';
import type { Client } from './client-process.ts';
import { formatMegabytes } from './memory.ts';
import type { Options } from './options.ts';
import { findTrouble, runRounds } from './rounds.ts';
import { credentialSchema, type Credential } from './sides/requests.ts';
import { startConstant } from './sides/constant.ts';
import { exampleAnswers } from './sides/examples.ts';
import { oidcTitle, startOidc } from './sides/oidc.ts';
import { startService, type ServiceSide } from './sides/service.ts';
import type { Side, SideStart } from './sides/side.ts';
import { formatAims, formatMs, formatRows, formatTable, summarise, type Aims, type Row } from './table.ts';

/** What one server took. */
export type Footprint = {
  readonly side: string;
  readonly startMs: number;
  readonly rssBytesAtStart: number;
  readonly rssBytesAtEnd: number;
};

/** One table with all that stands behind it. */
export type Comparison = {
  readonly rows: readonly Row[];
  readonly footprints: readonly Footprint[];
  /** What went wrong, in words; the figures hold only where this is empty. */
  readonly trouble: readonly string[];
  /** The tables in Markdown. */
  readonly text: string;
};

const koaTitle = '(a) Koa';
const nodeTitle = '(b) node:http';

/** The least that the service should reach of another side's rate at the most connections, by that side's title. */
const aims: Aims = {
  [koaTitle]: {
    mint: 0.6,
    authenticate: 0.8,
    get: 0.8,
    list: 0.8,
    revoke: 0.6,
    agents: 0.75,
    workflow: 0.55,
  },
  [oidcTitle]: { mint: 1.3, authenticate: 2, revoke: 1 },
};

/** The service beside the constant servers and the peer. Ends every server it started. */
export const compareSides = async (options: Options, start: SideStart): Promise<Comparison> => {
  const sides: Side[] = [];
  try {
    let service: ServiceSide | undefined;
    if (options.sides.includes('service')) {
      const dataDir = join(start.folder, 'service');
      service = await startService({ ...start, title: 'service', program: options.service, dataDir });
      sides.push(service);
    }
    const answers = service?.answers ?? exampleAnswers;
    if (options.sides.includes('koa'))
      sides.push(await startConstant({ ...start, name: 'koa', title: koaTitle, answers }));
    if (options.sides.includes('node'))
      sides.push(await startConstant({ ...start, name: 'node', title: nodeTitle, answers }));
    if (options.sides.includes('oidc')) sides.push(await startOidc(start));
    const compared = await compare(options, start.client, sides);
    return { ...compared, text: `${compared.text}\n\n${formatAims(compared.rows, aims)}` };
  } finally {
    for (const { server } of sides) await server.stop();
  }
};

/** The service on a new store beside the service on a store that already holds many credentials. */
export const compareSizes = async (options: Options, start: SideStart): Promise<Comparison> => {
  const service = { ...start, program: options.service };
  const dataDir = join(start.folder, 'large');
  const seeded = await seedFolder(dataDir, options.largeCredentials);
  const sides: Side[] = [];
  try {
    sides.push(
      await startService({
        ...service,
        title: `service, ${options.largeCredentials.toLocaleString('en-US')} credentials`,
        dataDir,
        seeded,
      }),
    );
    sides.push(
      await startService({ ...service, title: 'service, new store', dataDir: join(start.folder, 'small') }),
    );
    return await compare(options, start.client, sides);
  } finally {
    for (const { server } of sides) await server.stop();
  }
};

const seedFolder = async (dir: string, amount: number): Promise<Credential[]> => {
  console.error(`seeding ${amount} credentials`);
  const printed = await runProgram('seed', { BENCH_DIR: dir, BENCH_CREDENTIALS: String(amount) });
  return z.array(credentialSchema).parse(JSON.parse(printed));
};

/** Measures sides that are up. Ratios are of the first side to every other but the raw server, whose own are in reach. */
export const compare = async (
  options: Options,
  client: Client,
  sides: readonly Side[],
): Promise<Comparison> => {
  const rssBytesAtStart = await Promise.all(sides.map(({ server }) => server.rssBytes()));
  const cells = await runRounds({ ...options, client, sides });
  const rssBytesAtEnd = await Promise.all(sides.map(({ server }) => server.rssBytes()));
  const titles = sides.map(({ title }) => title);
  const ratiosTo = titles.slice(1).filter((title) => title !== nodeTitle);
  const rows = summarise(cells, titles, ratiosTo);
  const footprints = sides.map(({ title, server }, i) => ({
    side: title,
    startMs: server.startMs,
    rssBytesAtStart: rssBytesAtStart[i] ?? Number.NaN,
    rssBytesAtEnd: rssBytesAtEnd[i] ?? Number.NaN,
  }));
  const text = `${formatRows(rows, titles, ratiosTo)}\n\n${formatFootprints(footprints)}`;
  return { rows, footprints, trouble: findTrouble(cells), text };
};

const formatFootprints = (footprints: readonly Footprint[]): string =>
  formatTable(
    ['server', 'start', 'memory at start', 'memory at end'],
    footprints.map(({ side, startMs, rssBytesAtStart, rssBytesAtEnd }) => [
      side,
      `${formatMs(startMs)} ms`,
      formatMegabytes(rssBytesAtStart),
      formatMegabytes(rssBytesAtEnd),
    ]),
  );
