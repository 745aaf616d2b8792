import { ObjectId } from 'mongodb';
import { StoreUnavailable } from '../../core/ports.ts';
import { isDuplicate, readOptions, type Server } from './client.ts';
import type { Registry } from './registry.ts';
import { sleep } from '../retrying.ts';

/** How often it is looked whether a rebuild has ended, in milliseconds. */
const lookEveryMs = 200;

/** A rebuild that somebody waits for; kept by the server, so that it outlives any node. */
type Wish = { readonly _id: string; readonly id: string };

/** The rebuilds that are wanted, by read model. */
export const rebuildWishes = (server: Server) => {
  const wishes = server.db.collection<Wish>(server.name('rebuilds'));
  const call = <T>(run: () => Promise<T>, isExpected?: (error: unknown) => boolean): Promise<T> =>
    server.call('Rebuilding', run, isExpected);

  return {
    all: (): Promise<readonly Wish[]> => call(() => wishes.find({}, readOptions).toArray()),
    find: (key: string): Promise<Wish | null> => call(() => wishes.findOne({ _id: key }, readOptions)),
    remove: async (key: string): Promise<void> => {
      await call(() => wishes.deleteOne({ _id: key }));
    },
    /** Asks for a rebuild, or joins the one that is wanted already: its id. */
    add: async (key: string): Promise<string> => {
      const id = new ObjectId().toHexString();
      try {
        await call(() => wishes.insertOne({ _id: key, id }), isDuplicate);
        return id;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        return (await call(() => wishes.findOne({ _id: key }, readOptions)))?.id ?? id;
      }
    },
  };
};

/** Asks for a rebuild, by whichever node projects, and waits for its end. */
export const rebuildAndWait = async (
  server: Server,
  { fresh }: Registry,
  key: string,
  signal: AbortSignal,
): Promise<void> => {
  const wishes = rebuildWishes(server);
  const id = await wishes.add(key);
  while (!signal.aborted) {
    const rebuilt = (await fresh()).get(key)?.rebuilt;
    if (rebuilt?.id === id) {
      if (rebuilt.error !== null) throw new Error(rebuilt.error);
      return;
    }
    // Another one has begun, so this one has ended.
    const wish = await wishes.find(key);
    if (wish?.id !== id && (await fresh()).get(key)?.rebuilt?.id !== id) return;
    await sleep(lookEveryMs, signal);
  }
  throw new StoreUnavailable('The read models are closed; the rebuild goes on.');
};
