import { z } from 'zod';
import { runProgram } from './child.ts';
import { formatMs, formatRate, formatTable } from './table.ts';

const rate = z.object({ perSecond: z.number(), p50Ms: z.number(), p99Ms: z.number() });

/** What the engine's program prints: the disk's own rate, and the engine's by appends in flight. */
export const engineReportSchema = z.object({
  disk: rate,
  appends: z.array(rate.extend({ inFlight: z.number() })),
});
export type EngineReport = z.infer<typeof engineReportSchema>;

/** Measures the embedded engine without HTTP, in its own process, in a new folder. */
export const measureEngine = async (dir: string, rounds: number, seconds: number): Promise<EngineReport> => {
  const env = { BENCH_DIR: dir, BENCH_ROUNDS: String(rounds), BENCH_SECONDS: String(seconds) };
  return engineReportSchema.parse(JSON.parse(await runProgram('engine-process', env)));
};

/** The rates as a Markdown table, each beside the disk's. */
export const formatEngine = ({ disk, appends }: EngineReport): string =>
  formatTable(
    ['durable writes', 'in flight', 'per second', 'p50 / p99 ms', '÷ disk'],
    [
      ['disk: 4 KiB appended and synced', 1, disk] as const,
      ...appends.map((it) => ['embedded engine: one event appended', it.inFlight, it] as const),
    ].map(([title, inFlight, it]) => [
      title,
      String(inFlight),
      formatRate(it.perSecond),
      `${formatMs(it.p50Ms)} / ${formatMs(it.p99Ms)}`,
      `${(it.perSecond / disk.perSecond).toFixed(2)} ×`,
    ]),
  );
