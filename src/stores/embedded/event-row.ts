import { toPosition, type StoredEvent } from '../../core/event.ts';

/** An event as its table holds it. */
export type EventRow = Omit<StoredEvent, 'position'> & { readonly position: number };

/** The columns of an `EventRow`. */
export const eventColumns = 'position, stream, revision, id, type, version, time, data, cause';

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
});
