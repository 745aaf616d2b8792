import { pathToFileURL } from 'node:url';
import type { RecordedEvent, StoredEvent } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { build } from './build.ts';
import { eventColumns, insertEvent, toRowValues } from './event-row.ts';
import type { AheadInput } from './pages-ahead.ts';
import { createDataFile, dropStreamIndex, fillCacheKib, sortingInFiles, streamIndex } from './schema.ts';
import { openDatabase, type Database } from './sqlite.ts';
import { createTransact } from './transaction.ts';

/** Events per transaction: nobody waits in between, but what a chunk makes is held until its end (10,000: 80 MB more). */
const chunkEvents = 1_000;

/** Positions of a log that are copied at a time. */
const copiedEvents = 10_000;

/** SQLite's name for a database in a file of its own that is gone when it is closed, or the process ends. */
const temporary = '';

/** What a replay needs around it. */
export type ReplayInput = {
  readonly projections: readonly Projection[];
  readonly decode: (event: StoredEvent) => RecordedEvent;
  /** Where the log is; the shadow's own where absent. */
  readonly log?: Database;
  /** A data file with that log, and how a thread of its own reads it; without it that is done here. */
  readonly ahead?: Omit<AheadInput, 'names'> | undefined;
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
    PRAGMA cache_size = -${fillCacheKib};
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
    /**
     * Takes the events of another data file, which may be in use, up to a position, into a log that has none yet; one
     * transaction a step, which answers how many it took at most.
     */
    *takeFile({ path: from, upTo }: Pick<AheadInput, 'path' | 'upTo'>): Generator<number, void> {
      db.prepare('ATTACH ? AS source').run(`${pathToFileURL(from).href}?mode=ro`);
      try {
        const some = db.prepare(
          `INSERT INTO events (${eventColumns}) SELECT ${eventColumns} FROM source.events
           WHERE position > ? AND position <= ? ORDER BY position`,
        );
        // An index that is made when its table is full takes a third of the time.
        transact(() => db.exec(dropStreamIndex));
        for (let behind = 0; behind < upTo; behind += copiedEvents) {
          transact(() => some.run(behind, Math.min(behind + copiedEvents, upTo)));
          yield copiedEvents;
        }
        sortingInFiles(db, () => transact(() => db.exec(streamIndex)));
      } finally {
        db.exec('DETACH source');
      }
    },
    /** Fills every read model from the log, one transaction a step; answers how many events each took, at most. */
    *replay({ projections, decode, log = db, ahead }: ReplayInput): Generator<number, void> {
      const writing = { db, transact, decode, faults: undefined, live: [] };
      yield* build(writing, projections, { chunkEvents: () => chunkEvents, log, isServing: false, ahead });
      yield chunkEvents;
    },
    close: (): void => db.close(),
  };
};

/** A data file that a log is replayed into. */
export type Shadow = ReturnType<typeof openShadow>;
