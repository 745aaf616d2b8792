import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventStore } from '../src/core/ports.ts';
import { measureDisk, toRate, type Rate } from './disk.ts';
import { openEngine } from './engine-folder.ts';
import type { EngineReport } from './engine.ts';
import { createMintedEvent } from './minted-event.ts';
import { connectionCounts } from './operations.ts';
import { median } from './statistics.ts';

const appendOne = async (events: EventStore): Promise<void> => {
  const { stream, event } = createMintedEvent();
  const result = await events.append({ stream, expected: 'none', events: [event] });
  if (!result.appended) throw new Error('an append to a fresh stream was refused');
};

const measureAppends = async (events: EventStore, inFlight: number, seconds: number): Promise<Rate> => {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const lane = async (): Promise<void> => {
    for (let nowMs = startMs; nowMs < endMs;) {
      await appendOne(events);
      const doneMs = performance.now();
      latenciesMs.push(doneMs - nowMs);
      nowMs = doneMs;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return toRate(latenciesMs, performance.now() - startMs);
};

const middle = (rates: readonly Rate[]): Rate => ({
  perSecond: median(rates.map(({ perSecond }) => perSecond)),
  p50Ms: median(rates.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(rates.map(({ p99Ms }) => p99Ms)),
});

const dir = process.env['BENCH_DIR'] ?? '';
const rounds = Number(process.env['BENCH_ROUNDS']);
const seconds = Number(process.env['BENCH_SECONDS']);
await mkdir(dir, { recursive: true });
const engine = await openEngine(join(dir, 'data'));
const disk: Rate[] = [];
const appends = new Map<number, Rate[]>(connectionCounts.map((inFlight) => [inFlight, []]));
await measureAppends(engine.events, Math.max(...connectionCounts), Math.min(seconds, 1));
for (let round = 0; round < rounds; round++) {
  disk.push(measureDisk(join(dir, 'disk'), seconds));
  for (const [inFlight, rates] of appends) rates.push(await measureAppends(engine.events, inFlight, seconds));
}
await engine.close();
const report: EngineReport = {
  disk: middle(disk),
  appends: [...appends].map(([inFlight, rates]) => ({ inFlight, ...middle(rates) })),
};
console.log(JSON.stringify(report));
