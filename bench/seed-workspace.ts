import { mkdir } from 'node:fs/promises';
import { openEngine } from './engine-folder.ts';
import { seedWorkspace } from './seeding.ts';

// Makes a workspace in a data folder without HTTP; prints its API key.
const dir = process.env['BENCH_DIR'] ?? '';
await mkdir(dir, { recursive: true });
const engine = await openEngine(dir);
const apiKey = await seedWorkspace(engine);
await engine.close();
process.stdout.write(apiKey);
