import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decode, projections } from '../../src/projections/index.ts';
import { dataFileName, openShadow } from '../../src/stores/embedded/index.ts';
import { createLogWriter } from './log-writer.ts';
import type { Seeded } from './seeded.ts';
import { tellStory } from './story.ts';

/** The log is so old when the run begins. */
const ageMs = 30 * 86_400_000;

// Fills a data folder with a log and all read models without the service; prints what can be asked for as JSON.
const dir = process.env['BENCH_DIR'] ?? '';
const amount = Number(process.env['BENCH_EVENTS']);
await mkdir(dir, { recursive: true, mode: 0o700 });
const shadow = openShadow(join(dir, dataFileName));
const log = createLogWriter({
  take: shadow.take,
  fromMs: Date.now() - ageMs,
  stepMs: (ageMs * 0.99) / amount,
});
const lasting = tellStory(log, amount);
for (const _ of shadow.replay({ projections, decode }));
shadow.close();
const seeded: Seeded = { events: log.events(), lasting };
console.log(JSON.stringify(seeded));
