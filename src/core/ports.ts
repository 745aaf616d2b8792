import type { NewEvent, Position, StoredEvent } from './event.ts';

/** The most events one call of `readStream`, `readAll` or `readAllBack` answers. */
export const readPageEventsMax = 1_000;

/** One atomic write: all events or none, and only where the stream ends at `expected`. */
export type Append = {
  readonly stream: string;
  /** The revision of the stream's last event, or `none` where the stream must not exist yet. */
  readonly expected: number | 'none';
  /** At least one. */
  readonly events: readonly NewEvent[];
};

/** A lost race is a value: the stream ends at `current` (or is empty: `none`), not at the expected revision. */
export type AppendResult =
  | { readonly appended: true; readonly events: readonly StoredEvent[] }
  | { readonly appended: false; readonly current: number | 'none' };

/**
 * The log. Every method throws `StoreUnavailable` where the engine can't be reached or can't accept work now;
 * after it, whether an append happened is unknown, unless the error says it was refused before it was tried.
 */
export type EventStore = {
  /**
   * Resolves when the events are durable. The same event ids a second time, at the same place, are the same
   * append: it answers what the first one answered.
   */
  append(append: Append): Promise<AppendResult>;
  /** Up to `readPageEventsMax` events of a stream in order, from a revision on; fewer means the end was reached. */
  readStream(stream: string, from?: number): Promise<readonly StoredEvent[]>;
  /** Up to `limit` events of the whole log in order, those behind `after`; fewer means the end was reached. */
  readAll(after: Position, limit?: number): Promise<readonly StoredEvent[]>;
  /**
   * The same backwards: up to `limit` events of those before `before`, newest first; fewer means the start was reached.
   * `before` is the position of an event, or `endOfLog`.
   */
  readAllBack(before: Position, limit?: number): Promise<readonly StoredEvent[]>;
  /**
   * Every event behind `after`, in order, without gap or repeat, first the past and then what is appended, until
   * `signal` aborts (then it ends without error).
   */
  subscribe(after: Position, signal: AbortSignal): AsyncIterable<StoredEvent>;
  /** The position of the last event, or `startOfLog`. */
  head(): Promise<Position>;
};

/** A page's bounds. `after` is the `created` of the last item of the page before. */
export type PageRequest = {
  /** Only documents of this group (what the projection's `group` answered); all where absent. */
  readonly group?: string;
  /** Only documents of this subgroup; `group` is then not looked at. */
  readonly subgroup?: string;
  readonly after?: Position;
  readonly order?: 'asc' | 'desc';
  /** 1 to `pageItemsMax`. */
  readonly limit: number;
};

/** The most documents one page holds. */
export const pageItemsMax = 1_000;

export type PageItem<D> = { readonly created: Position; readonly document: D };

/** A page as JSON text: the documents joined by commas, without brackets. */
export type PageText = {
  readonly text: string;
  readonly count: number;
  /** The `created` of the last document; absent where the page is empty. */
  readonly last?: Position;
};

/**
 * A document with the revision of the last event that it took. Where a `stream` projection handles every type of its
 * stream's events, that is the stream's own; tombstones hang from no one stream, and their number says nothing.
 */
export type Revised<D> = { readonly document: D; readonly revision: number };

/** One read model's documents. What is answered is shared: nobody may change it. */
export type Documents<D> = {
  get(id: string): Promise<D | undefined>;
  /** The document and its revision, both of one moment; `undefined` where there is none. */
  getWithRevision(id: string): Promise<Revised<D> | undefined>;
  /** The documents of these ids, in their order, in one round trip to the engine; `undefined` where there is none. */
  getMany(ids: readonly string[]): Promise<readonly (D | undefined)[]>;
  /** In order of creation, oldest first unless `order` is `desc`. */
  page(request: PageRequest): Promise<readonly PageItem<D>[]>;
  /** The same page as text, where nothing has to be looked at on its way to the client. */
  pageText(request: PageRequest): Promise<PageText>;
};

/** How a read model stands. */
export type ReadModelStatus = {
  readonly name: string;
  readonly version: number;
  /** The last position whose events it holds. */
  readonly checkpoint: Position;
  readonly rebuilding: { readonly checkpoint: Position } | null;
  /** The event that can't be projected, where there is one: the read model stays before it until it can. */
  readonly stopped?: { readonly position: Position; readonly event: string; readonly reason: string };
};

/** The read models. Every method throws `StoreUnavailable` where the engine can't be reached. */
export type ReadModels = {
  /** The documents of the projection of that name; throws where there is no such projection. */
  documents<D>(projection: string): Documents<D>;
  /**
   * The same as they were when the log ended at `position`, which they have come to: what has gone since is there, what
   * came since is not.
   */
  documentsAsOf<D>(projection: string, position: Position): Documents<D>;
  /**
   * Resolves when every projection that a command must not answer without has these events. They are all the
   * events of one stream, in order, so that an earlier try that died between append and projection is made good.
   */
  settle(events: readonly StoredEvent[]): Promise<void>;
  /** What is read from now on holds every event up to here, as far as is known without asking the engine. */
  position(): Position;
  /** Resolves when `position()` is at or behind this one; throws `StoreUnavailable` where it takes too long. */
  reach(position: Position): Promise<void>;
  /** Drops and refills one read model from the log while it goes on answering; resolves when the new one answers. */
  rebuild(projection: string): Promise<void>;
  status(): Promise<readonly ReadModelStatus[]>;
};

/** An engine could not be reached or could not take the work: the request fails with 503 and may be tried again. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * Whether an engine can take traffic as far as is known, and if not, why. `warning` names what stands still
 * meanwhile and takes no promise away.
 */
export type Health =
  { readonly ready: true; readonly warning?: string } | { readonly ready: false; readonly reason: string };

/** Wall-clock time that never goes back while the process lives, in milliseconds since 1970 UTC. */
export type Clock = () => number;
