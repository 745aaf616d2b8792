import { linksOf, startOfLog, toPosition, type Position, type StoredEvent } from '../../core/event.ts';
import { readPageEventsMax, type Append, type AppendResult } from '../../core/ports.ts';
import type { Calls } from './calls.ts';
import type { Place } from './client.ts';
import {
  isOfLog,
  positionOf,
  sizeBytes,
  toServerEvent,
  toStoredEvent,
  type ServerEvent,
  type ServerNewEvent,
} from './envelope.ts';
import { AppendTooLarge } from './failure.ts';

/** The most the server takes in one append, as it comes: `MaxAppendSize`, in bytes. */
export const appendBytesMax = 1_048_576;

/** The events first looked at to find the last of the log; the server's own may stand behind it. */
const headPageEvents = 16;

const within = (limit: number): number => Math.max(1, Math.min(limit, readPageEventsMax));

const placeBehind = (after: Position): Place => (BigInt(after) === 0n ? 'start' : BigInt(after));

/** The last position that the server can count to. */
const placeMax = 2n ** 63n - 1n;

const placeBefore = (before: Position): Place => (BigInt(before) > placeMax ? 'end' : BigInt(before));

const commitOf = (event: ServerEvent): bigint => BigInt(positionOf(event));

const refuseTooLarge = (events: readonly ServerNewEvent[]): void => {
  const bytes = events.reduce((sum, event) => sum + sizeBytes(event), 0);
  if (bytes > appendBytesMax)
    throw new AppendTooLarge(
      `Refused before it was sent: an append of ${bytes} bytes is over the event store's ${appendBytesMax}.`,
    );
};

/** The log, as calls to the server. */
export const createLog = (calls: Calls, ms: number) => {
  const readStream = async (stream: string, from: number, count: number): Promise<readonly StoredEvent[]> => {
    const events = await calls.run('a read of a stream', (client) =>
      client.readStream(stream, BigInt(from), count, ms),
    );
    return events.map(toStoredEvent);
  };

  /** The append's events as the log holds them; the server tells the place of the last one at most. */
  const stored = async (
    { stream, expected, events }: Append,
    position: bigint | undefined,
  ): Promise<readonly StoredEvent[]> => {
    const first = expected === 'none' ? 0 : expected + 1;
    const [only] = events;
    if (events.length === 1 && only !== undefined && position !== undefined) {
      const { id, type, version, time, data, cause, ...links } = only;
      const place = { stream, revision: first, position: toPosition(position) };
      return [{ id, type, version, time, data, cause, ...place, ...linksOf(links) }];
    }
    return readStream(stream, first, events.length);
  };

  const append = async (wish: Append): Promise<AppendResult> => {
    const { stream, expected, events } = wish;
    if (events.length === 0) throw new Error('An append holds at least one event.');
    const sent = events.map(toServerEvent);
    refuseTooLarge(sent);
    const place = expected === 'none' ? expected : BigInt(expected);
    // The same ids at the same place: what an earlier try has stored is stored once, and answered as such.
    const result = await calls.run('an append', (client) =>
      client.append({ stream, expected: place, events: sent }, ms),
    );
    if (!result.appended)
      return { appended: false, current: result.current === 'none' ? 'none' : Number(result.current) };
    return { appended: true, events: await stored(wish, result.position) };
  };

  const readAll = async (after: Position, limit: number): Promise<readonly StoredEvent[]> => {
    const found: StoredEvent[] = [];
    let from = placeBehind(after);
    // A reading includes the place where it begins: one more than is wanted.
    for (let count = limit + 1; ; count = readPageEventsMax) {
      const place = from;
      const page = await calls.run('a read of the log', (client) =>
        client.readAll('forwards', place, count, ms),
      );
      const behind = page.filter((event) => typeof place !== 'bigint' || commitOf(event) > place);
      found.push(...behind.filter(isOfLog).map(toStoredEvent));
      const last = behind.at(-1);
      if (found.length >= limit || page.length < count || last === undefined) return found.slice(0, limit);
      from = commitOf(last);
    }
  };

  /** The events of the log from a place back; the server's own stand between them. `first` is how many are looked at first. */
  const readBack = async (before: Place, limit: number, first: number): Promise<readonly StoredEvent[]> => {
    const found: StoredEvent[] = [];
    let from = before;
    for (let count = first; ; count = readPageEventsMax) {
      const place = from;
      const page = await calls.run('a read of the log', (client) =>
        client.readAll('backwards', place, count, ms),
      );
      found.push(...page.filter(isOfLog).map(toStoredEvent));
      const last = page.at(-1);
      if (found.length >= limit || page.length < count || last === undefined) return found.slice(0, limit);
      // Backwards, a reading begins before its place.
      from = commitOf(last);
    }
  };

  const lastEvent = async (): Promise<StoredEvent | undefined> => {
    const [last] = await readBack('end', 1, headPageEvents);
    return last;
  };

  return {
    append,
    readStream: (stream: string, from = 0) => readStream(stream, from, readPageEventsMax),
    readAll: (after: Position, limit = readPageEventsMax) => readAll(after, within(limit)),
    readAllBack: async (before: Position, limit = readPageEventsMax) =>
      // Before the start there is nothing, and to the server it would be no place.
      BigInt(before) === 0n ? [] : readBack(placeBefore(before), within(limit), within(limit)),
    lastEvent,
    head: async (): Promise<Position> => (await lastEvent())?.position ?? startOfLog,
  };
};
