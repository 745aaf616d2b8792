import type { Collection } from 'mongodb';
import { startOfLog, type Position } from '../../core/event.ts';
import { StoreUnavailable } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import { readOptions, type Server } from './client.ts';

/** The oldest that what is known of the read models may be when a read has ended, in milliseconds. */
export const knownMaxMs = 8_000;

/** How old it may be when a read begins. */
const freshMs = 2_000;

/** How often a read is made again because it took too long. */
const readsMax = 2;

/** The collection in which it stands how the read models do. */
export const registerName = 'register';

/**
 * The same of versions of the program that kept no past. Their nodes find there what they may read and write, so that
 * what has a past is never written by one of them.
 */
export const earlierRegisterName = 'models';

/** How a read model stands, for all nodes to see. Only the node that projects writes it, fenced by its token. */
export type Registered = {
  /** The read model's key: its name and version. */
  readonly _id: string;
  /** The token of the node that projects, or projected last. */
  readonly fence: number;
  /** Rises with each change of `targets`. */
  readonly step: number;
  /** The collection that answers; absent until the first one has been filled. */
  readonly live?: string;
  /** Every collection that a write must reach: the live one, one that is being filled, one that is being left. */
  readonly targets: readonly string[];
  readonly checkpoint: Position;
  readonly building: { readonly checkpoint: Position } | null;
  readonly stopped: { readonly position: Position; readonly event: string; readonly reason: string } | null;
  /** The rebuild that ended last, and why where it failed. */
  readonly rebuilt: { readonly id: string; readonly error: string | null } | null;
};

/** What stands for a read model before anybody has registered it. */
export const unregistered = (key: string): Registered => ({
  _id: key,
  fence: 0,
  step: 0,
  targets: [],
  checkpoint: startOfLog,
  building: null,
  stopped: null,
  rebuilt: null,
});

export const keyOf = ({ name, version }: Projection): string => `${name}@${version}`;

export type Known = ReadonlyMap<string, Registered>;

/** What this node knows of where the read models stand. */
export type Registry = {
  readonly collection: Collection<Registered>;
  /** As it stands at some instant after the call. */
  readonly fresh: () => Promise<Known>;
  /** Runs a read on a read model's live collection, which is whole all the time that the read takes. */
  readonly onLive: <T>(key: string, read: (collection: string) => Promise<T>) => Promise<T>;
  /** The same for the projector, which works before anybody may read. */
  readonly forProjector: <T>(key: string, read: (collection: string) => Promise<T>) => Promise<T>;
  /** As it was seen last, and what went wrong since. */
  readonly last: () => { readonly known: Known; readonly error: Error | undefined };
  /** No read is answered before its read model holds what the log held when this node began: `head`. */
  readonly begin: (head: Position) => void;
  /** Why this read model can't answer yet; absent where it can. */
  readonly whyNot: (key: string) => string | undefined;
};

/**
 * A collection that was live is written for `retireMs` after it is live no more (see `build.ts`), so whoever
 * finishes a read within `knownMaxMs` of having asked where to read has read a whole one.
 */
export const createRegistry = (server: Server, told: (known: Known) => void): Registry => {
  const collection = server.db.collection<Registered>(server.name(registerName));
  let known: Known = new Map();
  let askedAtMs = -Infinity;
  let error: Error | undefined = new StoreUnavailable('The read models have not been reached yet.');
  let next: Promise<Known> | undefined;
  let current: Promise<unknown> = Promise.resolve();
  let floor: Position | undefined;

  const whyNot = (key: string): string | undefined => {
    const it = known.get(key);
    if (it?.live === undefined) return `The read model ${key} is being filled.`;
    if (floor === undefined) return 'The log has not been reached yet.';
    // One that has stopped may not keep all the others from answering after a restart.
    return it.checkpoint >= floor || it.stopped !== null
      ? undefined
      : `The read model ${key} is catching up.`;
  };
  const ask = async (): Promise<Known> => {
    const at = performance.now();
    next = undefined;
    try {
      const all = await server.call('Reading where the read models stand', () =>
        collection.find({}, readOptions).toArray(),
      );
      known = new Map(
        all.map((it) => {
          const { _id } = it;
          return [_id, it];
        }),
      );
      askedAtMs = at;
      error = undefined;
    } catch (cause) {
      error = cause as Error;
      throw cause;
    }
    told(known);
    return known;
  };
  // Whoever asks while an answer is under way waits for the one after it, which all who wait then share.
  const fresh = (): Promise<Known> => {
    if (next !== undefined) return next;
    next = current.then(ask, ask);
    current = next;
    return next;
  };

  const liveOf = (key: string): string => {
    const why = whyNot(key);
    const live = known.get(key)?.live;
    if (why !== undefined || live === undefined) throw new StoreUnavailable(why ?? `${key} is being filled.`);
    return live;
  };

  return {
    collection,
    fresh,
    whyNot,
    forProjector: async (key, read) => {
      if (performance.now() - askedAtMs > freshMs) await fresh();
      const live = known.get(key)?.live;
      if (live === undefined) throw new StoreUnavailable(`The read model ${key} is being filled.`);
      return read(live);
    },
    begin: (head) => {
      floor = head;
    },
    onLive: async (key, read) => {
      for (let tries = 1; tries <= readsMax; tries += 1) {
        if (performance.now() - askedAtMs > freshMs) await fresh();
        if (whyNot(key) !== undefined) await fresh();
        const answer = await read(liveOf(key));
        if (performance.now() - askedAtMs <= knownMaxMs) return answer;
      }
      throw new StoreUnavailable(`Reading ${key} took too long.`);
    },
    last: () => ({ known, error }),
  };
};
