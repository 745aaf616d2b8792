import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { percentile } from './statistics.ts';

/** A page, as the engine's log grows by. */
const writeBytes = 4096;

/** A rate with its latencies. */
export type Rate = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number };

/** The rate of the measured latencies over their time. */
export const toRate = (latenciesMs: readonly number[], elapsedMs: number): Rate => {
  const sorted = Float64Array.from(latenciesMs).toSorted();
  return {
    perSecond: sorted.length / (elapsedMs / 1000),
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
};

/** How often the disk takes an appended 4 KiB for good, one after the other: what a lone durable write can reach. */
export const measureDisk = (file: string, seconds: number): Rate => {
  const page = Buffer.alloc(writeBytes, 'x');
  const latenciesMs: number[] = [];
  const descriptor = openSync(file, 'w');
  const startMs = performance.now();
  try {
    for (let nowMs = startMs; nowMs < startMs + seconds * 1000;) {
      writeSync(descriptor, page);
      fdatasyncSync(descriptor);
      const doneMs = performance.now();
      latenciesMs.push(doneMs - nowMs);
      nowMs = doneMs;
    }
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
  return toRate(latenciesMs, performance.now() - startMs);
};
