import type { StoredEvent } from '../../core/event.ts';
import { StoreUnavailable } from '../../core/ports.ts';
import { fromWireError, type FromWriter, type ToWriter } from './protocol.ts';

/** What the replication needs around it. */
export type ReplicationInput = {
  readonly post: (message: ToWriter) => void;
  /** Drops from the caches what a commit changed. */
  readonly drop: (touched: readonly (readonly string[])[]) => void;
  /** Tells the subscriptions of a commit. */
  readonly wake: () => void;
  /** Told why a write was refused, or that it was not. */
  readonly learn: (reason: string | undefined) => void;
};

/** Feeds the writer events of another log, one batch at a time. */
export const createReplication = ({ post, drop, wake, learn }: ReplicationInput) => {
  let waiting: { resolve: () => void; reject: (error: Error) => void } | undefined;
  let ended: Error | undefined;
  return {
    replicate: (events: readonly StoredEvent[]): Promise<void> =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        waiting = { resolve, reject };
        post({ kind: 'replicate', events });
      }),
    replicated: ({ touched, error, refused }: Extract<FromWriter, { kind: 'replicated' }>): void => {
      drop(touched);
      const { resolve, reject } = waiting ?? {};
      waiting = undefined;
      learn(refused === true ? error?.message : undefined);
      if (error === undefined) {
        wake();
        return resolve?.();
      }
      const cause = fromWireError(error);
      reject?.(
        refused === true ? new StoreUnavailable(`Nothing is stored: ${error.message}.`, { cause }) : cause,
      );
    },
    end: (error: Error): void => {
      ended = error;
      waiting?.reject(error);
    },
  };
};

/** The feeding side of a replica. */
export type Replication = ReturnType<typeof createReplication>;
