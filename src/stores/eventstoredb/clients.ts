import { performance } from 'node:perf_hooks';
import type { Client } from './client.ts';
import { ServerFailure } from './failure.ts';

/** How old a client is at least before it is given up for a new one, in milliseconds. */
const renewAfterMs = 2_000;

type Held = { readonly client: Client; readonly madeAt: number; users: number; isRetired: boolean };

/** A client in use; `failed` says what it failed with, `release` that it is used no more. */
export type Lease = {
  readonly client: Client;
  readonly failed: (error: unknown) => void;
  readonly release: () => void;
};

const closeUnused = (held: Held): void => {
  if (held.isRetired && held.users === 0) void held.client.close().catch(() => undefined);
};

/**
 * The client of the moment. One that can't reach the server is replaced: its connection can have died without a word,
 * which keep-alive finds out only after twenty seconds, and a cluster can have moved. The old one is closed when its
 * last user has left it.
 */
export const createClients = (make: (nth: number) => Client) => {
  const hold = (): Held => ({ client: make(made++), madeAt: performance.now(), users: 0, isRetired: false });
  let made = 0;
  let current = hold();

  const renew = (seen: Held): void => {
    if (seen !== current || performance.now() - seen.madeAt < renewAfterMs) return;
    current = hold();
    seen.isRetired = true;
  };

  return {
    take: (): Lease => {
      const held = current;
      held.users += 1;
      return {
        client: held.client,
        failed: (error) => {
          // Where another node leads, the client goes there by itself: a new one would have to learn it again.
          if (error instanceof ServerFailure && error.kind !== 'moved') renew(held);
        },
        release: () => {
          held.users -= 1;
          closeUnused(held);
        },
      };
    },
    close: (): Promise<void> => current.client.close(),
  };
};

/** See `createClients`. */
export type Clients = ReturnType<typeof createClients>;
