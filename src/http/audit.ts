import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  endOfLog,
  startOfLog,
  toPosition,
  type Codec,
  type Position,
  type RecordedEvent,
  type StoredEvent,
} from '../core/event.ts';
import type { History } from '../core/history.ts';
import { readPageEventsMax, type EventStore } from '../core/ports.ts';
import { withoutSecrets } from '../projections/without-secrets.ts';

/** The most events that are looked at for one page; beyond, the page is short but has a next one. */
export const eventsScannedMax = 20_000;

/**
 * How far an event's time may be from those of its neighbours, in milliseconds: it is taken before the append, and
 * nodes' clocks differ. So much further the log is looked at, and each event is held against the time itself.
 */
const outOfOrderMsMax = 5_000;

/** The events that are held at a time for a client that takes lines. */
const linesPageEvents = 200;

/** The log as it is read for the audit. */
export type AuditLog = Pick<EventStore, 'readAll' | 'readAllBack' | 'subscribe' | 'head'> &
  Pick<Codec, 'decode'>;

/** An event as the operator sees it: all that the log has of it but its secrets. */
export type AuditEvent = {
  readonly id: string;
  readonly position: Position;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly version: number;
  readonly time: string;
  readonly tenant_id: string | null;
  readonly actor: string;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly reason: string | null;
  readonly correlation_id: string;
  readonly causation_id: string | null;
  readonly token: string | null;
  readonly hash: string | null;
  readonly previous: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Which events are wanted: those that have all of this. Times in milliseconds; `untilMs` is the first that is not. */
export type Wanted = {
  readonly tenant?: string | undefined;
  readonly type?: string | undefined;
  readonly actor?: string | undefined;
  readonly stream?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly causation_id?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
};

/** A part of the log, both ends left out. */
export type Range = { readonly after: Position; readonly before: Position };

type OfTenant = RecordedEvent<{ readonly type: string; readonly data: { readonly tenant_id?: string } }>;

/** The event as it is shown. */
export const shown = (event: RecordedEvent): AuditEvent => {
  const { id, position, stream, revision, type, version, time, cause, data, hash, previous }: OfTenant =
    event;
  return {
    id,
    position,
    stream,
    revision,
    type,
    version,
    time,
    tenant_id: data.tenant_id ?? null,
    actor: cause.actor,
    address: cause.address,
    user_agent: cause.user_agent,
    reason: cause.reason,
    correlation_id: cause.correlation_id,
    causation_id: cause.causation_id,
    token: cause.token ?? null,
    hash: hash ?? null,
    previous: previous ?? null,
    data: withoutSecrets({ type, data }),
  };
};

const isAsked = <T>(wanted: T | undefined, found: T): boolean => wanted === undefined || wanted === found;

/** Shows an event if it is wanted; what needs no decoding is looked at first. */
export const createSelect =
  ({ decode }: Pick<Codec, 'decode'>, wanted: Wanted) =>
  (stored: StoredEvent): AuditEvent | undefined => {
    const { tenant, type, actor, stream, correlation_id, causation_id, sinceMs, untilMs } = wanted;
    if (!isAsked(type, stored.type) || !isAsked(stream, stored.stream)) return undefined;
    if (sinceMs !== undefined || untilMs !== undefined) {
      const timeMs = Date.parse(stored.time);
      if (timeMs < (sinceMs ?? timeMs) || timeMs >= (untilMs ?? Infinity)) return undefined;
    }
    const event = shown(decode(stored));
    return isAsked(tenant, event.tenant_id) &&
      isAsked(actor, event.actor) &&
      isAsked(correlation_id, event.correlation_id) &&
      isAsked(causation_id, event.causation_id)
      ? event
      : undefined;
  };

/** The part of the log in which all that is wanted lies, as its times tell, within the one that is asked for. */
export const rangeOf = async (
  log: Pick<AuditLog, 'readAll'>,
  history: Pick<History, 'positionAt'>,
  { sinceMs, untilMs }: Wanted,
  { after = startOfLog, before = endOfLog }: { [end in keyof Range]?: Position | undefined },
): Promise<Range> => {
  let range: Range = { after, before };
  if (sinceMs !== undefined) {
    const past = await history.positionAt(sinceMs - outOfOrderMsMax - 1);
    if (past > after) range = { ...range, after: past };
  }
  if (untilMs !== undefined) {
    const last = await history.positionAt(untilMs + outOfOrderMsMax);
    // The position of an event, or the end: an engine reads back from nowhere else.
    const [next] = await log.readAll(last, 1);
    if (next !== undefined && next.position < before) range = { ...range, before: next.position };
  }
  return range;
};

/** Reads a part of the log a page at a time; the pages may be empty, and the last one is told. */
export async function* pagesOf(
  log: Pick<AuditLog, 'readAll' | 'readAllBack'>,
  { after, before }: Range,
  order: 'asc' | 'desc',
  pageEvents: number,
): AsyncGenerator<{ readonly events: readonly StoredEvent[]; readonly isLast: boolean }, void> {
  const count = Math.min(pageEvents, readPageEventsMax);
  for (let from = order === 'asc' ? after : before; ;) {
    const page = await (order === 'asc' ? log.readAll(from, count) : log.readAllBack(from, count));
    const events = page.filter(({ position }) => position > after && position < before);
    const isLast = page.length < count || events.length < page.length;
    yield { events, isLast };
    if (isLast) return;
    from = page.at(-1)?.position ?? from;
    // Between pages other requests have their turn.
    await nextTurn();
  }
}

/** What is asked of the log. */
export type Question = { readonly wanted: Wanted; readonly range: Range; readonly order: 'asc' | 'desc' };

/** One page; `next` is where the next one begins, absent where there is none. */
export type AuditPage = { readonly events: readonly AuditEvent[]; readonly next?: Position };

const isFiltered = (wanted: Wanted): boolean => Object.values(wanted).some((value) => value !== undefined);

/** Reads a page of up to `limit` events; it is shorter where that many would take too long to find. */
export const readPage = async (
  log: AuditLog,
  { wanted, range, order }: Question,
  limit: number,
): Promise<AuditPage> => {
  const select = createSelect(log, wanted);
  const events: AuditEvent[] = [];
  let scanned = 0;
  // Whether there is a next page is known by one event more.
  const pageEvents = isFiltered(wanted) ? readPageEventsMax : limit + 1;
  for await (const page of pagesOf(log, range, order, pageEvents)) {
    for (const stored of page.events) {
      const event = select(stored);
      const next = events.at(-1)?.position;
      if (event !== undefined && events.length === limit && next !== undefined) return { events, next };
      if (event !== undefined) events.push(event);
    }
    scanned += page.events.length;
    const next = page.events.at(-1)?.position;
    if (scanned >= eventsScannedMax && !page.isLast && next !== undefined) return { events, next };
  }
  return { events };
};

async function* lines(log: AuditLog, { wanted, range, order }: Question, limit: number) {
  const select = createSelect(log, wanted);
  let left = limit;
  for await (const { events } of pagesOf(log, range, order, linesPageEvents)) {
    let text = '';
    for (const stored of events) {
      const event = left > 0 ? select(stored) : undefined;
      if (event === undefined) continue;
      text += `${JSON.stringify(event)}\n`;
      left -= 1;
    }
    if (text !== '') yield text;
    if (left <= 0) return;
  }
}

/** One event a line, a page of the log at a time as the client takes them; ends at the head as it is now. */
export const streamLines = async (log: AuditLog, question: Question, limit = Infinity): Promise<Readable> => {
  const { range } = question;
  const behindHead = toPosition(BigInt(await log.head()) + 1n);
  // Backwards nothing new is met, and an engine reads back from no place where no event stands.
  const before = question.order === 'asc' && behindHead < range.before ? behindHead : range.before;
  return Readable.from(lines(log, { ...question, range: { ...range, before } }, limit), {
    objectMode: false,
  });
};
