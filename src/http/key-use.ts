import { LRUCache } from 'lru-cache';
import { noteApiKeyUse, useStatedEveryMs } from '../commands/api-key.ts';
import type { Cause } from '../core/event.ts';
import type { Clock } from '../core/ports.ts';
import type { Run } from '../core/run.ts';
import type { ApiKeySecret } from '../projections/api-keys.ts';

/** Keys whose last statement is remembered; one that is forgotten is stated once more. */
const rememberedMax = 10_000;

/** A statement that failed is made again with the next use after this long, in milliseconds. */
const againAfterMs = 10_000;

/** Notes uses of API keys. */
export type KeyUse = {
  /** Notes a use beside the request, which waits for nothing; who and how is asked for the few that are stated. */
  note(key: ApiKeySecret, cause: () => Cause): void;
  /** Resolves when nothing is being noted any more. */
  drain(): Promise<void>;
};

/** States the use of a key, once in a few minutes at most; `failed` is told of what could not be stated. */
export const createKeyUse = (run: Run, clock: Clock, failed: (error: unknown) => void): KeyUse => {
  const stated = new LRUCache<string, { readonly atMs: number }>({ max: rememberedMax });
  const running = new Set<Promise<void>>();

  const state = async (key: ApiKeySecret, cause: Cause, atMs: number): Promise<void> => {
    const { api_key_id, workspace_id, incarnation } = key;
    try {
      await run(noteApiKeyUse, { api_key_id, tenant_id: workspace_id, incarnation, atMs }, cause);
    } catch (error) {
      stated.set(api_key_id, { atMs: atMs - useStatedEveryMs + againAfterMs });
      failed(error);
    }
  };

  return {
    note: (key, cause) => {
      const atMs = clock();
      const last = stated.get(key.api_key_id);
      if (last !== undefined && atMs - last.atMs < useStatedEveryMs) return;
      stated.set(key.api_key_id, { atMs });
      const one = state(key, cause(), atMs).finally(() => running.delete(one));
      running.add(one);
    },
    drain: async () => {
      await Promise.all(running);
    },
  };
};
