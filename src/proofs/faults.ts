import type { Position, StoredEvent } from '../core/event.ts';

/** The most faults that are told: what was done to a log shows in the first ones. */
export const faultsMax = 100;

/** Of an event, what tells which one it is. */
export type Named = Pick<StoredEvent, 'id' | 'position' | 'stream' | 'revision'>;

/** What is wrong, and where; what is null is not known, or has no place in the log. */
export type Fault = {
  /** The place in the log, from 0. */
  readonly index: number | null;
  readonly event_id: string | null;
  readonly position: Position | null;
  readonly stream: string | null;
  readonly revision: number | null;
  readonly what: string;
};

/** The faults of a log, as far as they have been found: the first of each place, and `faultsMax` in all. */
export const createFaults = () => {
  const found: Fault[] = [];
  const told = new Set<number>();
  const isFull = (): boolean => found.length >= faultsMax;
  const tellAt = (index: number | null, event: Named | undefined, what: string): void => {
    if (isFull() || (index !== null && told.has(index))) return;
    if (index !== null) told.add(index);
    found.push({
      index,
      event_id: event?.id ?? null,
      position: event?.position ?? null,
      stream: event?.stream ?? null,
      revision: event?.revision ?? null,
      what,
    });
  };
  return {
    found: (): readonly Fault[] => found,
    isFull,
    tellAt,
    /** Tells of what shows in no event. */
    tell: (what: string): void => tellAt(null, undefined, what),
  };
};

/** Where faults are told. */
export type Faults = ReturnType<typeof createFaults>;
