import { randomInt } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';

/** The pause after the n-th failure in a row, in milliseconds: doubled each time, and up to half of it by chance. */
export const pauseMs = (failures: number, firstMs: number, mostMs: number): number => {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return full - randomInt(Math.max(1, Math.ceil(full / 2)));
};

/** Resolves when the time is over or the signal aborts, whichever is first. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  passed(ms, undefined, { signal }).catch(() => undefined);
