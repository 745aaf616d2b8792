import type { Fact, RecordedEvent } from './event.ts';

/** What one event does to one document: from the document as it was (absent: none) to what it becomes (absent: gone). */
export type Change<D> = {
  readonly id: string;
  readonly to: (current: D | undefined) => D | undefined;
  /** The list the document stands in, where that is known without making the document; the same as its `group`. */
  readonly group?: string;
};

/**
 * - `stream`: each document is a function of one stream, so a document takes an event only where the event's
 *   revision is above its own; a document that is gone keeps its revision, so that no late event raises it.
 * - `log`: each document is one event, shown: its id is the event's position, and what it is hangs from nothing else, so
 *   that an engine which has the log at hand need keep only which list the event stands in. Lists are asked for by group.
 * - `tombstones`: a grow-only set whose changes commute and may repeat; a rebuild merges and never empties.
 */
export type ProjectionKind = 'stream' | 'log' | 'tombstones';

/** A read model: its shape, and what each event does to it. Reducers are pure. */
export type Projection<D = unknown, F extends Fact = Fact> = {
  readonly name: string;
  /** Raise it when the shape or a reducer changes: the read model is then rebuilt at the start. */
  readonly version: number;
  readonly kind: ProjectionKind;
  /** The list a document stands in; fixed for the document's life. Absent: one list of all. */
  readonly group?: (document: D, id: string) => string;
  /** A second list that a document stands in, beside its group; fixed as well. */
  readonly subgroup?: (document: D, id: string) => string;
  readonly on: {
    readonly [T in F['type']]?: (event: RecordedEvent<Extract<F, { type: T }>>) => readonly Change<D>[];
  };
};
