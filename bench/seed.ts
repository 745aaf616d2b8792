import { mkdir } from 'node:fs/promises';
import { openEngine } from './engine-folder.ts';
import { seed } from './seeding.ts';

// Fills a data folder with credentials without HTTP; prints some of them as JSON.
const dir = process.env['BENCH_DIR'] ?? '';
await mkdir(dir, { recursive: true });
const engine = await openEngine(dir);
const credentials = await seed(engine, Number(process.env['BENCH_CREDENTIALS']));
await engine.close();
console.log(JSON.stringify(credentials));
