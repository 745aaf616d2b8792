import type { RecordedEvent, StoredEvent } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { build } from './build.ts';
import { insertEvent, toRowValues } from './event-row.ts';
import { createDataFile } from './schema.ts';
import { openDatabase, type Database } from './sqlite.ts';
import { createTransact } from './transaction.ts';

/** Events per transaction: nobody waits in between, but what a chunk makes is held until its end (10,000: 80 MB more). */
const chunkEvents = 1_000;

/** Page cache of the connection, in KiB. */
const cacheKib = 32_768;

/** SQLite's name for a database in a file of its own that is gone when it is closed, or the process ends. */
const temporary = '';

/** What a replay needs around it. */
export type ReplayInput = {
  readonly projections: readonly Projection[];
  readonly decode: (event: StoredEvent) => RecordedEvent;
  /** Where the log is; the shadow's own where absent. */
  readonly log?: Database;
};

/**
 * A data file beside all service, that a log is replayed into from its beginning. Nothing in it is safe from a crash
 * before it is closed: whoever keeps it syncs it then. Without a path it is gone when it is closed.
 */
export const openShadow = (path = temporary) => {
  const db = openDatabase(path);
  db.exec(`
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -${cacheKib};
  `);
  createDataFile(db);
  const transact = createTransact(db);
  const put = db.prepare(insertEvent);
  return {
    db,
    /** Takes events at their positions, behind those that are here. */
    take: (events: readonly StoredEvent[]): void =>
      transact(() => {
        for (const event of events) put.run(...toRowValues(event, Number(event.position)));
      }),
    /** Fills every read model from the log, one transaction a step; answers how many events each took, at most. */
    *replay({ projections, decode, log = db }: ReplayInput): Generator<number, void> {
      const writing = { db, transact, decode, faults: undefined, live: [] };
      const options = { chunkEvents: () => chunkEvents, log, isServing: false };
      yield* build(writing, projections, options);
      yield chunkEvents;
    },
    close: (): void => db.close(),
  };
};

/** A data file that a log is replayed into. */
export type Shadow = ReturnType<typeof openShadow>;
