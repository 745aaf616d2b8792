import { performance } from 'node:perf_hooks';
import type { Clock } from './ports.ts';

/**
 * A clock that never goes back: where the wall clock is set back, it runs on from where it was, at the pace of the
 * monotonic clock, so that what has expired stays expired. `floorMs` is the latest time known from before (the
 * last event's); a wall clock behind it is not believed.
 */
export const createClock = (
  floorMs = 0,
  wallMs: () => number = Date.now,
  monotonicMs: () => number = () => performance.now(),
): Clock => {
  let anchorMs = Math.max(floorMs, wallMs());
  let anchoredAtMs = monotonicMs();
  return () => {
    const elapsedMs = Math.max(0, monotonicMs() - anchoredAtMs);
    const runningMs = anchorMs + Math.floor(elapsedMs);
    const seenMs = wallMs();
    if (seenMs >= runningMs) {
      anchorMs = seenMs;
      anchoredAtMs = monotonicMs();
      return seenMs;
    }
    return runningMs;
  };
};
