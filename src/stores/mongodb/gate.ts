import { StoreUnavailable } from '../../core/ports.ts';

/** Entries that wait for one write; more are refused. */
const entriesMax = 50_000;

/** Lets so many pieces of work run at once; the rest waits in the order of arrival. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** A gate that asks for its width when the first piece of work comes. */
export const createGate = (askWidth: () => Promise<number>): Gate => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    const width = await askWidth();
    if (running < width) running += 1;
    else
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    try {
      return await work();
    } finally {
      // Whoever waits takes the place over, so that nobody slips in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};

/** Gathers what is put while the write before is under way, and writes it as one. */
export type Combiner<V> = (entries: ReadonlyMap<string, V>) => Promise<void>;

/** A combiner with one write under way at a time; two values for one key become one by `merge`. */
export const createCombiner = <V>(
  merge: (one: V, other: V) => V,
  write: (entries: Map<string, V>) => Promise<void>,
): Combiner<V> => {
  let last: Promise<void> = Promise.resolve();
  let waiting: { readonly entries: Map<string, V>; readonly done: Promise<void> } | undefined;
  const gather = () => {
    const entries = new Map<string, V>();
    const begin = (): Promise<void> => {
      waiting = undefined;
      return write(entries);
    };
    last = last.then(begin, begin);
    return { entries, done: last };
  };
  return (entries) => {
    if (entries.size === 0) return Promise.resolve();
    const batch = (waiting ??= gather());
    if (batch.entries.size >= entriesMax)
      return Promise.reject(new StoreUnavailable(`${entriesMax} documents wait to be written.`));
    for (const [key, value] of entries) {
      const there = batch.entries.get(key);
      batch.entries.set(key, there === undefined ? value : merge(there, value));
    }
    return batch.done;
  };
};
