import { codeOf, resultCode, type Database } from './sqlite.ts';

/** What stands against a write: a full disk, a foreign lock, or an engine whose disk can't be trusted any more. */
export class Unwritable extends Error {
  override readonly name = 'Unwritable';
  readonly reason: 'full' | 'busy' | 'broken';
  constructor(reason: 'full' | 'busy' | 'broken', cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.reason = reason;
  }
}

/** Codes that speak of the values of one append, and not of the disk. */
const ownFaults: readonly number[] = [
  resultCode.error,
  resultCode.tooBig,
  resultCode.constraint,
  resultCode.mismatch,
];

/** An error in the middle of a transaction, as the engine has to take it: the work's own, or `Unwritable`. */
const inWork = (error: unknown): unknown => {
  const code = codeOf(error);
  if (code === undefined || ownFaults.includes(code)) return error;
  return new Unwritable(code === resultCode.full ? 'full' : 'broken', error);
};

/** Runs work as one durable transaction. */
export type Transact = <T>(work: () => T) => T;

/**
 * Throws what the work threw, or `Unwritable`; in either case nothing of it is stored, except where the reason is
 * `broken`: then nobody knows, and no sync may be tried again, for the kernel forgets what it failed to write.
 */
export const createTransact = (db: Database): Transact => {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollBack = (): void => {
    try {
      // A full disk can have rolled it back already.
      if (db.isTransaction) db.exec('ROLLBACK');
    } catch (error) {
      throw new Unwritable('broken', error);
    }
  };
  return (work) => {
    try {
      begin.run();
    } catch (error) {
      throw codeOf(error) === resultCode.busy ? new Unwritable('busy', error) : inWork(error);
    }
    let result;
    try {
      result = work();
    } catch (error) {
      rollBack();
      throw inWork(error);
    }
    try {
      commit.run();
    } catch (error) {
      if (codeOf(error) !== resultCode.full) throw new Unwritable('broken', error);
      rollBack();
      throw new Unwritable('full', error);
    }
    return result;
  };
};
