import type { StoredEvent } from '../../core/event.ts';
import type { Append } from '../../core/ports.ts';

/**
 * Appends on their way to the writer, as one flat array of strings and numbers: per append the stream, the
 * expected revision (-1: none) and the number of events, then eight values per event. Cloning it from thread to
 * thread costs a fraction of cloning objects, whose keys travel each time.
 */
export type WireAppends = readonly (string | number)[];

/** How many values one event takes on the wire. */
export const wireEventValues = 8;

/** What stands on the wire for a text that an event does not have. */
export const absent = 0;

/** Writes one append behind those already on the wire. */
export const putAppend = (wire: (string | number)[], { stream, expected, events }: Append): void => {
  wire.push(stream, expected === 'none' ? -1 : expected, events.length);
  for (const { id, type, version, time, data, cause, hash = absent, previous = absent } of events)
    wire.push(id, type, version, time, data, cause, hash, previous);
};

/** What became of one append: two numbers on the wire, this one and its value. */
export const outcome = {
  /** Value: the position of the first event; the others follow it without gap. */
  appended: 0,
  /** Value: the stream's current revision, -1 for none. */
  conflict: 1,
  /** The same ids stand there already. No value. */
  repeated: 2,
  /** Value: the index in `errors` of what its reducer or decoder threw. Nothing is stored. */
  failed: 3,
  /** Value: the index in `errors` of why the engine can't write now. Nothing is stored. */
  refused: 4,
} as const;

/** An error on the wire, where classes are lost. */
export type WireError = { readonly message: string; readonly stack: string };

/** Any thrown value as it can travel. */
export const toWireError = (error: unknown): WireError =>
  error instanceof Error
    ? { message: error.message, stack: error.stack ?? error.message }
    : { message: String(error), stack: String(error) };

/** The error that travelled, with the stack of its thread. */
export const fromWireError = ({ message, stack }: WireError): Error =>
  Object.assign(new Error(message), { stack });

/** A read model as the readers have to know it; `touched` lists are in the order of these. */
export type LiveModel = { readonly name: string; readonly version: number; readonly table: string };

/** What the writer is started with. */
export type WriterInput = {
  readonly path: string;
  readonly projectionsModule: string;
  readonly faultsModule: string | undefined;
};

/** What the checkpointer is started with. */
export type CheckpointerInput = {
  readonly path: string;
  /** The data file, opened by the main thread. */
  readonly fd: number;
  readonly faultsModule: string | undefined;
};

/** How far the WAL is written, and how much of that is in the data file, in frames. */
export type WalState = { readonly log: number; readonly checkpointed: number };

export type ToWriter =
  | { readonly kind: 'appends'; readonly wire: WireAppends }
  /** Events of another log, with their positions there, in order. */
  | { readonly kind: 'replicate'; readonly events: readonly StoredEvent[] }
  /** An empty write, to learn whether writing works again. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'rebuild'; readonly name: string }
  /** The readers have left the table. */
  | { readonly kind: 'left'; readonly table: string }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'close' }
  /** A disk failed under another thread: ends without touching the files again. */
  | { readonly kind: 'rest' };

/** The answer to one message of appends. */
export type BatchReply = {
  readonly kind: 'batch';
  /** Two numbers per append, in the order of the appends. */
  readonly outcomes: readonly number[];
  readonly errors: readonly WireError[];
  /** Per read model the ids of the documents that changed. */
  readonly touched: readonly (readonly string[])[];
  readonly events: number;
  readonly ms: number;
  readonly walFrames: number;
};

export type FromWriter =
  | { readonly kind: 'ready'; readonly models: readonly LiveModel[] }
  | BatchReply
  | {
      readonly kind: 'replicated';
      readonly touched: readonly (readonly string[])[];
      readonly error?: WireError;
      readonly refused?: boolean;
      readonly walFrames: number;
    }
  | { readonly kind: 'probed'; readonly refused?: WireError }
  /** A rebuild that merges into the live table changed these. */
  | { readonly kind: 'touched'; readonly touched: readonly (readonly string[])[] }
  | { readonly kind: 'rebuilding'; readonly names: readonly string[]; readonly checkpoint: number }
  | { readonly kind: 'swapped'; readonly model: LiveModel; readonly left: string }
  | {
      readonly kind: 'rebuilt';
      readonly name: string;
      readonly error?: WireError;
      readonly refused?: boolean;
    }
  /** A rebuild has written: the WAL's size now. */
  | { readonly kind: 'grown'; readonly walFrames: number }
  | { readonly kind: 'checkpointed'; readonly wal: WalState }
  | { readonly kind: 'fatal'; readonly error: WireError }
  | { readonly kind: 'closed' };

/** `rest` is as the writer's. */
export type ToCheckpointer = 'checkpoint' | 'close' | 'rest';

export type FromCheckpointer =
  | { readonly kind: 'checkpointed'; readonly wal: WalState; readonly ms: number }
  | { readonly kind: 'fatal'; readonly error: WireError };
