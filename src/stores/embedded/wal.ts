import type { WalState } from './protocol.ts';
import { busyMs, codeOf, resultCode, type Database } from './sqlite.ts';
import { Unwritable } from './transaction.ts';

/** Bytes of the WAL per frame: a page and its header. */
export const walFrameBytes = 4_096 + 24;

/** Where the checkpointer sets to work: 24 MiB. */
export const walFramesDue = 6_144;

/** Where the writer moves what the checkpointer leaves over, however much that is: 128 MiB. */
export const walFramesFinish = 32_768;

/** Where the writer moves everything by itself, whatever it costs: 256 MiB. */
export const walFramesHardMax = 65_536;

/** How long a truncating checkpoint waits for readers, with the writer standing still. */
const truncateWaitMs = 20;

type Row = { readonly busy: number; readonly log: number; readonly checkpointed: number };

/** Answers how many frames of the WAL are in use, without doing anything: microseconds. */
export const createWalProbe = (db: Database): (() => number) => {
  const probe = db.prepare<Row>('PRAGMA wal_checkpoint(NOOP)');
  return () => Math.max(0, probe.get()?.log ?? 0);
};

const checkpoint = (db: Database, mode: 'PASSIVE' | 'TRUNCATE'): WalState => {
  try {
    const row = db.prepare<Row>(`PRAGMA wal_checkpoint(${mode})`).get();
    return { log: row?.log ?? 0, checkpointed: row?.checkpointed ?? 0 };
  } catch (error) {
    const code = codeOf(error);
    // A full disk or a lock leaves everything in the WAL, where it is as safe as before.
    if (code === resultCode.full || code === resultCode.busy) return { log: 1, checkpointed: 0 };
    // A sync that failed is never tried again: the second try would succeed and the pages be lost.
    throw new Unwritable('broken', error);
  }
};

/** Moves what it can into the data file, waiting for nobody. Throws `Unwritable` where the disk fails. */
export const checkpointPassive = (db: Database): WalState => checkpoint(db, 'PASSIVE');

/** Moves everything and empties the WAL's file, unless a reader stays in the way. */
export const checkpointTruncate = (db: Database): WalState => {
  db.exec(`PRAGMA busy_timeout = ${truncateWaitMs}`);
  try {
    return checkpoint(db, 'TRUNCATE');
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
  }
};
