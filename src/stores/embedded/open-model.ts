import type { Position, RecordedEvent, StoredEvent } from '../../core/event.ts';
import type { Documents } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import { createDocuments } from './documents.ts';
import { createListedEvents } from './listed-events.ts';
import { createPast } from './past.ts';
import type { Database } from './sqlite.ts';

/** One read model on its reading side. */
export type OpenModel = {
  readonly documents: Documents<unknown>;
  /** The same as they were at a position. */
  readonly asOf: (position: Position) => Documents<unknown>;
  /** Forgets what a commit changed. */
  readonly drop: (ids: readonly string[]) => void;
  readonly clear: () => void;
  /** Reads from another table from now on. */
  readonly swap: (table: string) => void;
};

const nothing = (): void => {};

/** Opens a read model whose documents stand in this table; of kind `log`, whose events do. */
export const openModel = (
  db: Database,
  table: string,
  projection: Projection,
  decode: (event: StoredEvent) => RecordedEvent,
  cacheEntriesMax: number,
): OpenModel => {
  let live = table;
  const current = (): string => live;
  const swap = (to: string): void => {
    live = to;
  };
  if (projection.kind === 'log') {
    const events = createListedEvents(db, projection, decode);
    return {
      documents: events(current),
      asOf: (at) => events(current, at),
      drop: nothing,
      clear: nothing,
      swap,
    };
  }
  const past = createPast(db);
  const { swap: leave, ...model } = createDocuments(db, table, cacheEntriesMax);
  return {
    ...model,
    asOf: (at) => past(current, at),
    swap: (to) => {
      leave(to);
      swap(to);
    },
  };
};
