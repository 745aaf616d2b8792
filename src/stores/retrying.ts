import { setTimeout as passed } from 'node:timers/promises';
import { StoreUnavailable } from '../core/ports.ts';

const waitMsFirst = 100;

const waitMsMax = 5_000;

/** Waits; ends early, without error, where the signal aborts. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  passed(ms, undefined, { signal }).catch(() => {});

/** Waits that grow from one to the next. */
export const createBackOff = (signal: AbortSignal, firstMs = waitMsFirst, maxMs = waitMsMax) => {
  let ms = firstMs;
  return {
    wait: async (): Promise<void> => {
      const now = ms;
      ms = Math.min(maxMs, ms * 2);
      await sleep(now, signal);
    },
    reset: (): void => {
      ms = firstMs;
    },
  };
};

/** Does it again, with growing waits, as long as an engine is away and the signal has not aborted. */
export const retrying = async <T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  told: (error: StoreUnavailable) => void,
): Promise<T> => {
  const backOff = createBackOff(signal);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal.aborted) throw error;
      told(error);
      await backOff.wait();
    }
  }
};
