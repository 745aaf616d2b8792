import type { Projection } from '../../core/projection.ts';
import type { Writing } from './batch.ts';
import { build, leftovers } from './build.ts';
import { createTarget } from './target.ts';

/** Events per transaction while nobody is served yet. */
const startChunkEvents = 10_000;

type Registered = { readonly version: number; readonly tbl: string; readonly checkpoint: number };

/**
 * Makes every projection live: those that are new, changed or behind the log are filled from it first. Tables of
 * projections that are gone, and of a build that a crash cut short, are removed. `stepped` is called after each
 * transaction of a longer fill.
 */
export const openReadModels = (
  writing: Writing,
  projections: readonly Projection[],
  stepped: () => void,
): void => {
  const { db, transact, live } = writing;
  const registered = db.prepare<Registered>(
    'SELECT version, tbl, checkpoint FROM read_models WHERE name = ?',
  );
  const head =
    db.prepare<{ head: number | null }>('SELECT max(position) AS head FROM events').get()?.head ?? 0;
  const current = (projection: Projection): Registered | undefined => {
    const found = registered.get(projection.name);
    return found?.version === projection.version && found.checkpoint === head ? found : undefined;
  };

  const names = projections.map(({ name }) => name);
  transact(() =>
    db
      .prepare('DELETE FROM read_models WHERE name NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(names)),
  );
  const stale = projections.filter((projection) => current(projection) === undefined);
  // One pass over the log fills them all.
  if (stale.length > 0)
    for (const _ of build(writing, stale, { chunkEvents: () => startChunkEvents, isServing: false }))
      stepped();
  for (const table of leftovers(db)) transact(() => db.exec(`DROP TABLE ${table}`));
  for (const projection of projections) {
    const found = current(projection);
    if (found === undefined) throw new Error(`The read model ${projection.name} could not be filled.`);
    live.push(createTarget(db, projection, found.tbl));
  }
};
