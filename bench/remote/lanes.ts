import type { JobResult } from '../job.ts';
import { percentile } from '../statistics.ts';

/** So many calls in flight for so long, after a warm-up that is not counted. */
export type Load = { readonly inFlight: number; readonly warmupSeconds: number; readonly seconds: number };

/** Keeps calls in flight and answers what an HTTP job answers, so that one table holds both. Never rejects. */
export const runLanes = async (
  { inFlight, warmupSeconds, seconds }: Load,
  callOnce: () => Promise<unknown>,
): Promise<JobResult> => {
  const latenciesMs: number[] = [];
  const faults: string[] = [];
  let firstMs = 0;
  let lastMs = 0;
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const measureFromMs = startMs + warmupSeconds * 1000;
  const endMs = measureFromMs + seconds * 1000;
  const lane = async (): Promise<void> => {
    try {
      for (let nowMs = startMs; nowMs < endMs;) {
        await callOnce();
        const doneMs = performance.now();
        if (nowMs >= measureFromMs) {
          if (latenciesMs.push(doneMs - nowMs) === 1) firstMs = nowMs;
          lastMs = doneMs;
        }
        nowMs = doneMs;
      }
    } catch (error) {
      faults.push(String(error));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const cpu = process.cpuUsage(cpuBefore);
  const sorted = Float64Array.from(latenciesMs).toSorted();
  return {
    requests: sorted.length,
    requestsPerSecond: sorted.length / Math.max((lastMs - firstMs) / 1000, 0.001),
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    failures: {},
    faults,
    bodies: [],
    clientCpu: (cpu.user + cpu.system) / 1000 / (performance.now() - startMs),
  };
};
