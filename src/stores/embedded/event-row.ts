import { linksOf, toPosition, type Links, type StoredEvent } from '../../core/event.ts';
import type { Database, SqlValue } from './sqlite.ts';

/** An event as its table holds it. */
export type EventRow = Omit<StoredEvent, 'position' | keyof Links> & {
  readonly position: number;
  readonly hash: string | null;
  readonly previous: string | null;
};

const ownColumns = 'position, stream, revision, id, type, version, time, data, cause';
const linkColumns = 'hash, previous';

/** The columns of an `EventRow`. */
export const eventColumns = `${ownColumns}, ${linkColumns}`;

/** The event that the row holds. */
export const toStoredEvent = (row: EventRow): StoredEvent => ({
  id: row.id,
  type: row.type,
  version: row.version,
  time: row.time,
  data: row.data,
  cause: row.cause,
  stream: row.stream,
  revision: row.revision,
  position: toPosition(row.position),
  ...linksOf(row),
});

/** What `eventColumns` hold of an event. */
type EventValues = readonly [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  version: number,
  time: string,
  data: string,
  cause: string,
  hash: string | null,
  previous: string | null,
];

const eventOf = ([
  position,
  stream,
  revision,
  id,
  type,
  version,
  time,
  data,
  cause,
  hash,
  previous,
]: EventValues): StoredEvent => ({
  id,
  type,
  version,
  time,
  data,
  cause,
  stream,
  revision,
  position: toPosition(position),
  ...linksOf({ hash, previous }),
});

/** Prepares a read of the events that `which` (a WHERE clause and what follows it) selects: whole pages of the log go by here. No read model shows links. */
export const prepareEvents = (
  db: Database,
  which: string,
  { withLinks = true }: { readonly withLinks?: boolean } = {},
) => {
  const columns = `${ownColumns}, ${withLinks ? linkColumns : 'NULL, NULL'}`;
  const statement = db.prepare<EventValues>(`SELECT ${columns} FROM events ${which}`);
  statement.setReturnArrays(true);
  return (...values: SqlValue[]): readonly StoredEvent[] => statement.all(...values).map(eventOf);
};

/** The event as its table takes it, in the order of the columns. */
export const toRowValues = (
  { stream, revision, id, type, version, time, data, cause, hash, previous }: Omit<StoredEvent, 'position'>,
  position: number,
) =>
  [position, stream, revision, id, type, version, time, data, cause, hash ?? null, previous ?? null] as const;

/** The statement that puts an event at its place. */
export const insertEvent = `INSERT INTO events (${eventColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
