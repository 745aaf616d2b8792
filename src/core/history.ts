import { startOfLog, toPosition, type Position } from './event.ts';
import type { EventStore } from './ports.ts';

/** Moments whose places are remembered, and places whose moments are, for the pages of a list are asked for one after the other. */
const rememberedMax = 1_000;

/** Places in the log by time, and times by place. */
export type History = {
  /** The last position whose event had happened at `timeMs`, as the log tells it; the start of the log where none had. */
  positionAt(timeMs: number): Promise<Position>;
  /** When the event at this position happened, in milliseconds; absent where no event stands there. */
  timeOf(position: Position): Promise<number | undefined>;
  /** The position of the log's last event, or its start. */
  head(): Promise<Position>;
};

/** Remembers what was put in last. */
const createMemory = <K, V>() => {
  const remembered = new Map<K, V>();
  return {
    get: (key: K): V | undefined => remembered.get(key),
    set: (key: K, value: V): void => {
      remembered.set(key, value);
      const [oldest] = remembered.keys();
      if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest);
    },
  };
};

/**
 * Looks places up by halving the log: its times rise with its positions, for no node's clock goes back. Where several
 * nodes' clocks differ, times near the edge are as right as the clocks are.
 */
export const createHistory = (events: Pick<EventStore, 'readAll' | 'head'>): History => {
  const places = createMemory<number, Position>();
  const times = createMemory<Position, number>();

  const halve = async (timeMs: number): Promise<Position> => {
    const end = BigInt(await events.head()) + 1n;
    let before = BigInt(startOfLog);
    let behind = end;
    // At `before` it had happened (or nothing stands there); at `behind` it had not.
    while (behind - before > 1n) {
      const middle = (before + behind) / 2n;
      const [event] = await events.readAll(toPosition(middle - 1n), 1);
      if (event === undefined || Date.parse(event.time) > timeMs) behind = middle;
      else before = BigInt(event.position);
    }
    const position = toPosition(before);
    // Behind the end more can come of the same time; before it nothing can.
    if (behind < end) places.set(timeMs, position);
    return position;
  };

  const timeOf = async (position: Position): Promise<number | undefined> => {
    if (position === startOfLog) return undefined;
    const known = times.get(position);
    if (known !== undefined) return known;
    const [event] = await events.readAll(toPosition(BigInt(position) - 1n), 1);
    // What stands nowhere yet can come to stand there.
    if (event?.position !== position) return undefined;
    const timeMs = Date.parse(event.time);
    times.set(position, timeMs);
    return timeMs;
  };

  return {
    positionAt: async (timeMs) => places.get(timeMs) ?? halve(timeMs),
    timeOf,
    head: () => events.head(),
  };
};
