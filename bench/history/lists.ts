import { toPosition } from '../../src/core/event.ts';
import type { Client } from '../client-process.ts';
import type { JobResult } from '../job.ts';
import { median } from '../statistics.ts';
import { formatMs, formatRate } from '../table.ts';
import { call } from '../sides/call.ts';
import type { HistoryRow } from './rows.ts';
import type { Seeded } from './seeded.ts';

const connections = 16;
const warmupSeconds = 0.3;
/** Pages that are asked for in turn of each workspace's list, and the share of the log in which they begin. */
const pagesOfEach = 10;
const pagesShare = 0.3;
/** An answer as of then should take at most so many times as long as one of now. */
const slowerMax = 2;

/** What is asked of which service. */
export type ListsStart = {
  readonly client: Client;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly seeded: Seeded;
  readonly rounds: number;
  readonly seconds: number;
};

/** What was measured, and what went wrong, in words. */
export type Lists = { readonly rows: readonly HistoryRow[]; readonly trouble: readonly string[] };

/** One kind of request, as paths that are asked in turn. */
type Question = { readonly what: string; readonly paths: readonly string[] };

const pathOf = (tenant: string): string => `/admin/v1/tenants/${tenant}`;

/**
 * Pages that begin at places spread over the older part of a list, so that each is as long then as now. They are more
 * than the service keeps of what is now: nobody asks for the same page all the time.
 */
const pagesOf = (list: string, { events, lasting }: Seeded): readonly string[] =>
  Array.from({ length: pagesOfEach }, (_, n) => Math.floor((n * events * pagesShare) / pagesOfEach)).flatMap(
    (place) => lasting.map(({ tenant }) => `${pathOf(tenant)}/${list}?limit=100&cursor=${toPosition(place)}`),
  );

const questionsOf = (seeded: Seeded): readonly Question[] => [
  { what: 'list 100 users', paths: pagesOf('users', seeded) },
  { what: 'list 100 credentials', paths: pagesOf('tokens', seeded) },
  {
    what: 'get a credential',
    paths: seeded.lasting.flatMap(({ tenant, credentials }) =>
      credentials.map((username) => `${pathOf(tenant)}/tokens/${username}?`),
    ),
  },
];

/** The middle of the log, by position and by time, as queries name it. */
const middleOf = async ({ port, headers, seeded }: ListsStart): Promise<Record<string, string>> => {
  const position = toPosition(Math.floor(seeded.events / 2));
  const { body } = await call(port, { method: 'GET', path: `/admin/v1/events/${position}`, headers });
  const { time } = body as { readonly time: string };
  return { at_position: position, as_of: time };
};

const runCell = ({ client, port, headers, seconds }: ListsStart, paths: readonly string[]) =>
  client.run({
    port,
    connections,
    requests: { method: 'GET', paths, headers, bodies: [] },
    warmupSeconds,
    seconds,
  });

const troubleOf = (what: string, { requests, failures, faults }: JobResult): readonly string[] => [
  ...Object.entries(failures).map(([status, times]) => `${what}: ${times} answers with status ${status}`),
  ...faults.slice(0, 1).map((fault) => `${what}: ${faults.length} broken connections: ${fault}`),
  ...(requests === 0 ? [`${what}: nothing was measured`] : []),
];

const figureOf = (cells: readonly JobResult[]): string => {
  const rate = median(cells.map(({ requestsPerSecond }) => requestsPerSecond));
  return `${formatRate(rate)}/s · ${formatMs(median(cells.map(({ p50Ms }) => p50Ms)))} ms`;
};

/** Asks the same of now and of the middle of the log in turn, in several rounds; a ratio is the median of the rounds' own. */
export const measureLists = async (start: ListsStart): Promise<Lists> => {
  const middle = await middleOf(start);
  const rows: HistoryRow[] = [];
  const trouble: string[] = [];
  for (const { what, paths } of questionsOf(start.seeded)) {
    console.error(`measuring: ${what}`);
    const forms = ['now', ...Object.keys(middle)];
    const cells: Record<string, JobResult[]> = {};
    for (let round = 0; round < start.rounds; round += 1) {
      for (const form of forms) {
        const then = middle[form];
        const asked =
          then === undefined ? paths : paths.map((path) => `${path}&${form}=${encodeURIComponent(then)}`);
        const result = await runCell(start, asked);
        trouble.push(...troubleOf(`${what}, ${form}`, result));
        (cells[form] ??= []).push(result);
      }
    }
    const now = cells['now'] ?? [];
    for (const form of Object.keys(middle)) {
      const then = cells[form] ?? [];
      const slower = median(
        then.map(({ requestsPerSecond }, n) => (now[n]?.requestsPerSecond ?? 0) / requestsPerSecond),
      );
      rows.push({
        what: `${what}, \`${form}\``,
        result: `${slower.toFixed(2)} × as long: ${figureOf(then)}, now ${figureOf(now)}`,
        aim: { text: `${slowerMax} ×`, reached: slower <= slowerMax },
      });
    }
  }
  return { rows, trouble };
};
