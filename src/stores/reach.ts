import { setTimeout as passed } from 'node:timers/promises';
import type { Position } from '../core/event.ts';
import { StoreUnavailable } from '../core/ports.ts';

/** How long a read waits for the read models to come to a position, in milliseconds. */
const reachMs = 5_000;

/** How often it is looked, in milliseconds. */
const lookEveryMs = 20;

/** Waits until `position` has come to this one; `look` has it asked for anew. Throws `StoreUnavailable` where it does not. */
export const reachWithin = async (
  wanted: Position,
  position: () => Position,
  look: () => Promise<unknown> = async () => undefined,
): Promise<void> => {
  const began = performance.now();
  while (position() < wanted) {
    if (performance.now() - began > reachMs)
      throw new StoreUnavailable(`The read models have not come to position ${wanted} yet.`);
    await look();
    if (position() < wanted) await passed(lookEveryMs);
  }
};
