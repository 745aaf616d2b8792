import { isDuplicate, readOptions, type Server } from './client.ts';
import type { Observe } from './options.ts';
import { sleep } from '../retrying.ts';

/** How long a holder may be silent before another node takes over, in milliseconds. */
const silentMs = 5_000;

/** How often the holder says that it lives. */
const beatEveryMs = 1_000;

/** How often the others look. */
const lookEveryMs = 500;

/** How long after its last beat a holder that can't reach the server stops by itself: before another begins. */
const beatlessMs = 4_000;

/** One term: its token is higher than any before. Only its holder changes it; the others add terms. */
type Term = {
  readonly _id: string;
  readonly token: number;
  readonly holder: string;
  readonly beat: number;
  readonly released: boolean;
};

/** The right to project: what is written under it carries its token, and a later token shuts it out. */
export type Lease = { readonly token: number; readonly lost: AbortSignal };

type LeaseInput = {
  readonly server: Server;
  readonly nodeId: string;
  readonly observe: Observe;
  readonly signal: AbortSignal;
  /** Works under the lease until it is lost; the lease is given back when it ends. */
  readonly hold: (lease: Lease) => Promise<void>;
};

/**
 * Holds the lease whenever no other node does, until the signal aborts. No clocks are compared: a holder is silent
 * when its count has not moved while a watcher waited. A term is won by inserting it, which one node alone can.
 */
export const holdLease = async ({ server, nodeId, observe, signal, hold }: LeaseInput): Promise<void> => {
  const terms = server.db.collection<Term>(server.name('lease'));
  const call = <T>(run: () => Promise<T>, isExpected?: (error: unknown) => boolean): Promise<T> =>
    server.call('The lease', run, isExpected);
  const latest = async (): Promise<Term | undefined> => {
    const all = await call(() => terms.find({}, readOptions).toArray());
    return all.reduce<Term | undefined>(
      (last, term) => (last === undefined || term.token > last.token ? term : last),
      undefined,
    );
  };

  const win = async (token: number): Promise<boolean> => {
    try {
      const term = { _id: String(token), token, holder: nodeId, beat: 0, released: false };
      await call(() => terms.insertOne(term), isDuplicate);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  };

  /** Resolves when the term is not this node's any more, or may be so. */
  const beat = async (token: number, over: AbortSignal): Promise<void> => {
    let beatAtMs = performance.now();
    while (!over.aborted) {
      await sleep(beatEveryMs, over);
      if (over.aborted) return;
      const at = performance.now();
      try {
        const { matchedCount } = await call(() =>
          terms.updateOne({ _id: String(token) }, { $inc: { beat: 1 } }),
        );
        if (matchedCount === 0 || (await latest())?.token !== token) return;
        beatAtMs = at;
      } catch (error) {
        observe.failed?.({ task: 'renewing the lease', error });
      }
      if (performance.now() - beatAtMs > beatlessMs) return;
    }
  };

  const term = async (token: number): Promise<void> => {
    const lost = new AbortController();
    const stop = (): void => lost.abort();
    signal.addEventListener('abort', stop);
    observe.lease?.({ held: true, token });
    try {
      const beating = beat(token, lost.signal).finally(stop);
      await call(() => terms.deleteMany({ token: { $lt: token } }));
      await hold({ token, lost: lost.signal }).finally(stop);
      await beating;
    } finally {
      stop();
      signal.removeEventListener('abort', stop);
      observe.lease?.({ held: false, token });
      await call(() => terms.updateOne({ _id: String(token) }, { $set: { released: true } })).catch(() => {});
    }
  };

  let seen: { readonly term: Term; readonly atMs: number } | undefined;
  while (!signal.aborted) {
    try {
      const last = await latest();
      if (seen === undefined || seen.term.token !== last?.token || seen.term.beat !== last.beat)
        seen = last === undefined ? undefined : { term: last, atMs: performance.now() };
      const isFree = last === undefined || last.released || performance.now() - (seen?.atMs ?? 0) > silentMs;
      if (isFree && !signal.aborted && (await win((last?.token ?? 0) + 1)))
        await term((last?.token ?? 0) + 1);
    } catch (error) {
      observe.failed?.({ task: 'projecting', error });
    }
    await sleep(lookEveryMs, signal);
  }
};
