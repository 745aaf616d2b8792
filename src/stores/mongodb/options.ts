import type { RecordedEvent, StoredEvent } from '../../core/event.ts';
import type { EventStore } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';

/** What the adapter tells of its work, for metrics and the log. Must not throw. */
export type Observe = {
  /** The projector applied events to these read models. */
  readonly projected?: (it: {
    readonly projections: readonly string[];
    readonly events: number;
    readonly ms: number;
  }) => void;
  /** An event can't be projected; told at each try. */
  readonly stopped?: (it: {
    readonly projection: string;
    readonly event: string;
    readonly error: unknown;
  }) => void;
  /** Work in the background failed and will be tried again. */
  readonly failed?: (it: { readonly task: string; readonly error: unknown }) => void;
  /** This node became the one that projects, or is it no more. */
  readonly lease?: (it: { readonly held: boolean; readonly token: number }) => void;
};

/** How the adapter is opened. */
export type MongoDbOptions = {
  /** `mongodb://…` or `mongodb+srv://…`; the database it names, `keyledger` where it names none. */
  readonly connectionString: string;
  readonly projections: readonly Projection[];
  readonly decode: (event: StoredEvent) => RecordedEvent;
  readonly events: EventStore;
  /** Another one for each process; told to those who wait for the projector. */
  readonly nodeId: string;
  readonly observe?: Observe;
};
