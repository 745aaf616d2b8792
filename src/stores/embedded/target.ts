import type { RecordedEvent } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { createDocumentTarget } from './document-target.ts';
import { createListTarget } from './list-target.ts';
import type { Database, SqlValue } from './sqlite.ts';

/** A read model's table on its writing side. Changes gather in memory and are written once, by `flush`. */
export type Target = {
  readonly projection: Projection;
  readonly table: string;
  /** Takes one event; throws what a reducer throws. */
  take(event: RecordedEvent, position: number): void;
  /** Takes what events have made by themselves, instead of these events. */
  bear(rows: readonly SqlValue[]): void;
  /** Writes what has gathered, inside the caller's transaction; in a long one several times. */
  flush(): void;
  /** The ids written since the last call, once the transaction is committed. */
  committed(): readonly string[];
  /** Forgets everything since the last `committed`: the transaction was rolled back. */
  rolledBack(): void;
  /** Makes the indexes that a bare table lacks and has to have before it is read, inside the caller's transaction. */
  index(): void;
};

/** What is known of a target's table. */
export type TargetOptions = {
  /** It is new and has no index yet; they can be made when the table is full, from what is sorted by then. */
  readonly isBare: boolean;
};

/** The writing side of the read model in this table, which has its indexes unless told. */
export const createTarget = (
  db: Database,
  projection: Projection,
  table: string,
  options: TargetOptions = { isBare: false },
): Target =>
  projection.kind === 'log'
    ? createListTarget(db, projection, table)
    : createDocumentTarget(db, projection, table, options);
