import type { RecordedEvent, StoredEvent } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { createBirths } from './births.ts';
import { prepareEvents } from './event-row.ts';
import type { Database, SqlValue } from './sqlite.ts';

/** Events of a page at most: more would outlive the young generation, and be copied by its collector. */
export const pageEventsMax = 500;

/** An event that read models have to take by what they hold, and the places of these. */
export type Rest = {
  readonly event: RecordedEvent;
  readonly position: number;
  readonly takers: readonly number[];
};

/** A stretch of the log as some read models take it. */
export type Page = {
  /** The position of its last event, of whatever type. */
  readonly end: number;
  readonly events: number;
  /** What the events make by themselves, of each read model as rows. It comes before the rest. */
  readonly born: readonly (readonly SqlValue[])[];
  readonly rest: readonly Rest[];
};

/** The next page behind a position, of so many events at most; absent where nothing is behind it. */
export type NextPage = (behind: number, eventsMax: number) => Page | undefined;

/** What pages are made of, and for which read models. */
export type PagesInput = {
  readonly log: Database;
  readonly projections: readonly Projection[];
  readonly decode: (event: StoredEvent) => RecordedEvent;
  /** The position of the last event that is wanted; without it all are. */
  readonly upTo?: number;
};

/** The read models that take a type of event, by the type, as their places and what it makes there by itself. */
const takersOf = (projections: readonly Projection[]) => {
  const takers = projections.map((projection, place) => ({ place, births: createBirths(projection) }));
  const types = new Set(projections.flatMap(({ on }) => Object.keys(on)));
  return new Map(
    [...types].map((type) => [
      type,
      takers.filter(({ place }) => projections[place]?.on[type] !== undefined),
    ]),
  );
};

/** The statements that read the log: where a page ends, and the events in it that are of these types. */
const prepareLog = (log: Database, types: readonly string[]) => {
  const pageEnd = log.prepare<{ end: number | null; events: number }>(
    `SELECT max(position) AS end, count(*) AS events
     FROM (SELECT position FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?)`,
  );
  const wanted = types.map((type) => `'${type.replaceAll("'", "''")}'`);
  const eventsOf = prepareEvents(
    log,
    `WHERE position > ? AND position <= ? AND type IN (${wanted.join(', ')}) ORDER BY position`,
    { withLinks: false },
  );
  return { pageEnd, eventsOf };
};

/** Reads the log for read models, and makes of it what can be made without their tables. */
export const createPages = ({
  log,
  projections,
  decode,
  upTo = Number.MAX_SAFE_INTEGER,
}: PagesInput): NextPage => {
  const takers = takersOf(projections);
  const { pageEnd, eventsOf } = prepareLog(log, [...takers.keys()]);
  return (behind, eventsMax) => {
    const { end, events } = pageEnd.get(behind, upTo, eventsMax) ?? { end: null, events: 0 };
    if (end === null) return undefined;
    const born: SqlValue[][] = projections.map(() => []);
    const rest: Rest[] = [];
    for (const stored of eventsOf(behind, end)) {
      const event = decode(stored);
      const position = Number(stored.position);
      const left: number[] = [];
      for (const { place, births } of takers.get(event.type) ?? []) {
        const rows = births(event, position);
        if (rows === undefined) left.push(place);
        else born[place]?.push(...rows);
      }
      if (left.length > 0) rest.push({ event, position, takers: left });
    }
    return { end, events, born, rest };
  };
};
