import { endOfLog, positionForm, toPosition, type Position, type StoredEvent } from '../core/event.ts';
import type { History } from '../core/history.ts';
import { pagesOf, shown, type AuditEvent, type AuditLog } from './audit.ts';

/**
 * How far from the time in its id an event is looked for, in milliseconds. It is stated by the machine's clock; where
 * that was set back while the service ran, the event's own time is the later one.
 */
const idApartMsMax = 60_000;

/** How far apart in time the events of one request are looked for, in milliseconds. */
const requestMsMax = 60_000;

/** The events that are looked at on either side of a place. */
const neighboursMax = 10_000;

/** The events that are read at once there: most often the first ones are what is looked for. */
const neighbourPageEvents = 250;

/** The most events of one request that are shown. */
const chainEventsMax = 1_000;

/** How far up an event's causes are looked for, each the cause of the one before. */
const causesMax = 16;

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Reading = Pick<AuditLog, 'readAll' | 'readAllBack'>;

/** A moment and how far from it events are looked at. */
type Near = { readonly timeMs: number; readonly apartMsMax: number };

/**
 * Shows the events from a place on to `look`, until it answers true, they are too far from the moment, or too many.
 * Answers false in the last case alone.
 */
const lookFrom = async (
  log: Reading,
  from: Position,
  order: 'asc' | 'desc',
  { timeMs, apartMsMax }: Near,
  look: (stored: StoredEvent) => boolean,
): Promise<boolean> => {
  const range = order === 'asc' ? { after: from, before: endOfLog } : { after: toPosition(0), before: from };
  let looked = 0;
  for await (const { events } of pagesOf(log, range, order, neighbourPageEvents)) {
    for (const stored of events) {
      if (Math.abs(Date.parse(stored.time) - timeMs) > apartMsMax || look(stored)) return true;
      looked += 1;
      if (looked >= neighboursMax) return false;
    }
  }
  return true;
};

/** The milliseconds of a UUIDv7 (RFC 9562 §5.7); absent where it is of another version, or none. */
const timeOfId = (id: string): number | undefined =>
  id[14] === '7' && idForm.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;

/**
 * The event of this id, or at this position. There is no index of ids: the time in the id tells where to look, and the
 * events around that place are looked at, so that one whose id tells another time is found by its position alone, or by
 * its own time where that is known.
 */
export const findEvent = async (
  log: Reading,
  history: Pick<History, 'positionAt'>,
  idOrPosition: string,
  time?: string,
): Promise<StoredEvent | undefined> => {
  if (positionForm.test(idOrPosition)) {
    const position = BigInt(idOrPosition);
    if (position === 0n) return undefined;
    const [event] = await log.readAll(toPosition(position - 1n), 1);
    return event?.position === idOrPosition ? event : undefined;
  }
  const id = idOrPosition.toLowerCase();
  const timeMs = time === undefined ? timeOfId(id) : Date.parse(time);
  if (timeMs === undefined) return undefined;
  let found: StoredEvent | undefined;
  const look = (stored: StoredEvent): boolean => {
    if (stored.id === id) found = stored;
    return found !== undefined;
  };
  const near = { timeMs, apartMsMax: idApartMsMax };
  const place = await history.positionAt(timeMs - 1);
  await lookFrom(log, place, 'asc', near, look);
  if (found !== undefined) return found;
  const [next] = await log.readAll(place, 1);
  await lookFrom(log, next?.position ?? endOfLog, 'desc', near, look);
  return found;
};

/** An event with those that it led to. */
export type ChainEvent = AuditEvent & { readonly effects: ChainEvent[] };

/** What led to an event and what its request did; `is_complete` is false where of the request more was there. */
export type Chain = {
  readonly correlation_id: string;
  readonly is_complete: boolean;
  readonly events: ChainEvent[];
};

/** The events as a tree, in order of the log; one whose cause is not among them is a root. */
const treeOf = (events: readonly AuditEvent[]): ChainEvent[] => {
  const grown = new Map(events.map((event): [string, ChainEvent] => [event.id, { ...event, effects: [] }]));
  const roots: ChainEvent[] = [];
  for (const event of grown.values()) {
    const cause = event.causation_id === null ? undefined : grown.get(event.causation_id);
    // An effect stands behind its cause: what claims otherwise would make a ring.
    if (cause !== undefined && cause.position < event.position) cause.effects.push(event);
    else roots.push(event);
  }
  return roots;
};

/** What led to an event, the nearest first, as far up as it is found. */
const causesOf = async (
  log: AuditLog,
  history: Pick<History, 'positionAt'>,
  event: AuditEvent,
): Promise<readonly AuditEvent[]> => {
  const causes: AuditEvent[] = [];
  for (let effect = event; effect.causation_id !== null && causes.length < causesMax;) {
    const stored = await findEvent(log, history, effect.causation_id);
    // Only what stands before its effect is a cause: what claims otherwise would lead in a ring.
    if (stored?.id !== effect.causation_id || stored.position >= effect.position) break;
    effect = shown(log.decode(stored));
    causes.push(effect);
  }
  return causes;
};

/** The events of the request that an event belongs to, and whether those are all. */
const requestOf = async (
  log: AuditLog,
  stored: StoredEvent,
  own: AuditEvent,
): Promise<{ readonly events: readonly AuditEvent[]; readonly isComplete: boolean }> => {
  const { correlation_id } = own;
  const near = { timeMs: Date.parse(stored.time), apartMsMax: requestMsMax };
  const found: AuditEvent[] = [own];
  // Its text stands in the stored cause as it is, so that most are told without decoding.
  const text = JSON.stringify(correlation_id);
  const look = (other: StoredEvent): boolean => {
    const event = other.cause.includes(text) ? shown(log.decode(other)) : undefined;
    if (event?.correlation_id === correlation_id) found.push(event);
    return found.length >= chainEventsMax;
  };
  const isWholeBefore = await lookFrom(log, stored.position, 'desc', near, look);
  const isWholeAfter = await lookFrom(log, stored.position, 'asc', near, look);
  return { events: found, isComplete: isWholeBefore && isWholeAfter && found.length < chainEventsMax };
};

/** The tree of causes and effects of the request that an event belongs to, below what led to that event. */
export const findChain = async (
  log: AuditLog,
  history: Pick<History, 'positionAt'>,
  stored: StoredEvent,
): Promise<Chain> => {
  const own = shown(log.decode(stored));
  const { events, isComplete } = await requestOf(log, stored, own);
  // A cause can be of the same request.
  const all = new Map(events.map((event) => [event.id, event]));
  for (const cause of await causesOf(log, history, own)) all.set(cause.id, cause);
  const inOrder = [...all.values()].toSorted((a, b) => (a.position < b.position ? -1 : 1));
  return { correlation_id: own.correlation_id, is_complete: isComplete, events: treeOf(inOrder) };
};
