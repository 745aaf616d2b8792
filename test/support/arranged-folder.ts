import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredEvent } from '../../src/core/event.ts';
import { decode, projections } from '../../src/projections/index.ts';
import { dataFileName, openShadow } from '../../src/stores/embedded/index.ts';
import { openDatabase, type Database } from '../../src/stores/embedded/sqlite.ts';

/** The settings of the embedded engine in that folder. */
export const embedded = (dir: string) => ({
  SERVICE_EVENT_STORE: 'embedded',
  SERVICE_READ_MODELS: 'embedded',
  SERVICE_DATA_DIR: dir,
});

/** Makes a data folder that has this log and all read models of it, without a service. */
export const arrangeFolder = (dir: string, log: readonly StoredEvent[]): void => {
  mkdirSync(dir, { mode: 0o700 });
  const path = join(dir, dataFileName);
  closeSync(openSync(path, 'a', 0o600));
  const shadow = openShadow(path);
  shadow.take(log);
  for (const _ of shadow.replay({ projections, decode })) continue;
  shadow.close();
};

/** Changes a data file behind the back of all; `table` is that of a read model. */
export const tamper = (dir: string, name: string, change: (db: Database, table: string) => void): void => {
  const db = openDatabase(join(dir, dataFileName));
  try {
    const row = db.prepare<{ tbl: string }>('SELECT tbl FROM read_models WHERE name = ?').get(name);
    change(db, row?.tbl ?? '');
  } finally {
    db.close();
  }
};
