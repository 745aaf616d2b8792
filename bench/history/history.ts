import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import type { Client } from '../client-process.ts';
import type { Options } from '../options.ts';
import { formatRate } from '../table.ts';
import { measureCommands } from './commands.ts';
import { formatHistory, type HistoryRow } from './rows.ts';
import { seedHistory } from './seeded.ts';
import { measureServed } from './served.ts';

/** What a long log costs whoever uses its history. */
export type HistoryReport = {
  readonly title: string;
  readonly rows: readonly HistoryRow[];
  /** What went wrong, in words; the figures hold only where this is empty. */
  readonly trouble: readonly string[];
  /** The table in Markdown. */
  readonly text: string;
};

const loadNow = (): string => (loadavg()[0] ?? 0).toFixed(1);

/** Fills a data folder, measures the service on it, and then each command that needs none. */
export const measureHistory = async (
  { historyEvents, rounds, seconds, service: program }: Options,
  start: { readonly folder: string; readonly client: Client },
): Promise<HistoryReport> => {
  const folder = resolve(start.folder);
  const dataDir = join(folder, 'history');
  console.error(`seeding ${historyEvents} events`);
  const seeded = await seedHistory(dataDir, historyEvents);
  const { client } = start;
  const loadBefore = loadNow();
  const served = await measureServed({ program, folder, dataDir, client, seeded, rounds, seconds });
  const commands = await measureCommands({ program, folder, dataDir, events: seeded.events });
  const rows = [...served.rows, ...commands.rows];
  return {
    title: `A history of ${formatRate(seeded.events)} events, load average ${loadBefore} to ${loadNow()}`,
    rows,
    trouble: [...served.trouble, ...commands.trouble],
    text: formatHistory(rows),
  };
};
