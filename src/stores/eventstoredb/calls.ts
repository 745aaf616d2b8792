import { StoreUnavailable } from '../../core/ports.ts';
import type { Client } from './client.ts';
import type { Clients } from './clients.ts';
import { ServerFailure } from './failure.ts';
import type { Observe } from './options.ts';
import { pause, pauseMs } from './pause.ts';

/** How often a call is tried. */
const triesMax = 3;

/** The pause before a second try, and the longest one, in milliseconds. */
const firstPauseMs = 100;
const longestPauseMs = 1_000;

/** Calls that may run at once; more are refused, so that a server that is silent can't fill the memory. */
export const callsMax = 1_000;

type Needs = {
  readonly clients: Clients;
  readonly observe: Observe;
  /** Told why a call was given up. */
  readonly learn: (refused: string) => void;
  readonly closing: AbortSignal;
};

/**
 * Calls to the server, bounded in number, time and tries. A call that may or may not have been done is done again,
 * so it must be one that can be repeated; what is given up becomes `StoreUnavailable`.
 */
export const createCalls = ({ clients, observe, learn, closing }: Needs) => {
  let running = 0;

  const once = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const lease = clients.take();
    try {
      return await work(lease.client);
    } catch (error) {
      lease.failed(error);
      throw error;
    } finally {
      lease.release();
    }
  };

  const giveUp = (call: string, failure: ServerFailure): StoreUnavailable => {
    learn(failure.message);
    observe.unavailable?.({ call, reason: failure.message });
    return new StoreUnavailable(`The event store did not answer ${call}: ${failure.message}.`, {
      cause: failure,
    });
  };

  const repeat = async <T>(call: string, work: (client: Client) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once(work);
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        if (error.kind === 'denied' || tries === triesMax || closing.aborted) throw giveUp(call, error);
        observe.retried?.({ call, reason: error.message });
        await pause(pauseMs(tries, firstPauseMs, longestPauseMs), closing);
      }
    }
  };

  return {
    run: async <T>(call: string, work: (client: Client) => Promise<T>): Promise<T> => {
      if (closing.aborted)
        throw new StoreUnavailable('Refused before it was tried: the event store is closed.');
      if (running >= callsMax)
        throw new StoreUnavailable(`Refused before it was tried: ${running} calls are waiting already.`);
      running += 1;
      try {
        return await repeat(call, work);
      } finally {
        running -= 1;
      }
    },
    /** One try, whose failure is thrown as it is. */
    once,
  };
};

/** See `createCalls`. */
export type Calls = ReturnType<typeof createCalls>;
