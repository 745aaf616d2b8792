import { workerData } from 'node:worker_threads';
import { loadProjections } from './modules.ts';
import { createPages, pageEventsMax, type NextPage } from './pages.ts';
import { counted, type FromPageReader, type PageReaderInput } from './pages-ahead.ts';
import { toWireError } from './protocol.ts';
import { openReading } from './schema.ts';
import type { Database } from './sqlite.ts';

/** How often it is looked whether pages are still wanted, while as many as may be are made, in milliseconds. */
const lookEveryMs = 1_000;

/** Page cache, in KiB: what is read once from one end to the other needs none. */
const cacheKib = 1_024;

/** The page reader's thread: reads the log and makes pages of it, ahead of the thread that writes them. */
const { path, upTo, projectionsModule, names, port, counts, aheadMax }: PageReaderInput = workerData;

const tell = (message: FromPageReader): void => {
  port.postMessage(message);
  Atomics.add(counts, counted.made, 1);
  Atomics.notify(counts, counted.made);
};

const isOver = (): boolean => Atomics.load(counts, counted.isOver) === 1;

const waitForRoom = (): void => {
  while (!isOver()) {
    const taken = Atomics.load(counts, counted.taken);
    if (Atomics.load(counts, counted.made) - taken < aheadMax) return;
    Atomics.wait(counts, counted.taken, taken, lookEveryMs);
  }
};

const open = async (log: Database): Promise<NextPage> => {
  const module = await loadProjections(projectionsModule);
  const projections = names.map((name) => {
    const projection = module.projections.find((it) => it.name === name);
    if (projection === undefined) throw new Error(`${projectionsModule} has no read model ${name}.`);
    return projection;
  });
  return createPages({ log, projections, decode: module.decode, upTo });
};

let db: Database | undefined;
try {
  db = openReading(path, cacheKib);
  const next = await open(db);
  for (let behind = 0; !isOver();) {
    const page = next(behind, pageEventsMax);
    tell({ page });
    if (page === undefined) break;
    behind = page.end;
    waitForRoom();
  }
} catch (error) {
  tell({ error: toWireError(error) });
} finally {
  db?.close();
  Atomics.store(counts, counted.hasEnded, 1);
  Atomics.notify(counts, counted.hasEnded);
  port.close();
}
