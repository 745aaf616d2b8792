import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataFileName } from './folder.ts';
import { startOfLog, toPosition, type Position } from '../../core/event.ts';
import { createLog, reading } from './log.ts';
import { insistOurs, openReading } from './schema.ts';

/** The log of a data folder, for reading alone. */
export type LogReader = Pick<ReturnType<typeof createLog>, 'readAll' | 'readStream'> & {
  /** The position of the last event, as it is now. */
  readonly head: () => Position;
  /** How many events the log has; looks at all of them. */
  readonly count: () => number;
  readonly close: () => void;
};

/**
 * Opens a folder's log beside the process that owns the folder. Throws where there is none, and where the data file is
 * foreign or of a later version.
 */
export const openLogReader = (dir: string): LogReader => {
  const path = join(dir, dataFileName);
  if (!existsSync(path))
    throw new Error(`The data folder ${dir} has no ${dataFileName}: there is no log in it.`);
  return openLogOf(path);
};

/** Opens the log of a data file of any name; throws as that does. */
export const openLogOf = (path: string): LogReader => {
  const db = openReading(path);
  try {
    insistOurs(db, path);
    const log = createLog(db);
    const counted = db.prepare<{ events: number }>('SELECT count(*) AS events FROM events');
    const last = db.prepare<{ head: number | null }>('SELECT max(position) AS head FROM events');
    return {
      readAll: log.readAll,
      readStream: log.readStream,
      // Asked each time: nobody tells this connection of a commit.
      head: () => {
        const head = reading(() => last.get()?.head ?? null);
        return head === null ? startOfLog : toPosition(head);
      },
      count: () => reading(() => counted.get()?.events ?? 0),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
};
