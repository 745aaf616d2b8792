import { setImmediate as nextTurn, setTimeout as passed } from 'node:timers/promises';
import { endOfLog, positionForm, startOfLog, type Position, type StoredEvent } from '../core/event.ts';
import { createHistory } from '../core/history.ts';
import { readPageEventsMax } from '../core/ports.ts';
import { createSelect, rangeOf, type AuditEvent, type Range, type Wanted } from '../http/audit.ts';
import { decode } from '../projections/index.ts';
import { BadUsage, countOf, textOf, type Command, type Options } from './command.ts';
import { openSource, type Source } from './engines.ts';

/** How often a log that is followed is looked at, in milliseconds. */
const lookEveryMs = 200;

const timeOf = (options: Options, name: string): number | undefined => {
  const text = textOf(options, name);
  if (text === undefined) return undefined;
  const timeMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) throw new BadUsage(`option '--${name}' takes a time: 2026-03-04T05:06:07Z`);
  return timeMs;
};

/** A position that an option names, whose leading zeros may be left out; absent where it was not given. Throws `BadUsage`. */
export const positionOf = (options: Options, name: string, flag = name): Position | undefined => {
  const text = textOf(options, name)?.padStart(startOfLog.length, '0');
  if (text !== undefined && !positionForm.test(text))
    throw new BadUsage(`option '--${flag}' takes a position of the log`);
  return text;
};

/** What is asked of the log. */
type Question = {
  readonly wanted: Wanted;
  readonly types: ReadonlySet<string> | undefined;
  readonly after: Position | undefined;
  readonly before: Position | undefined;
  readonly limit: number;
  readonly follow: boolean;
};

const questionOf = (options: Options): Question => ({
  wanted: {
    stream: textOf(options, 'stream'),
    tenant: textOf(options, 'tenant'),
    actor: textOf(options, 'actor'),
    correlation_id: textOf(options, 'correlationId'),
    causation_id: textOf(options, 'causationId')?.toLowerCase(),
    sinceMs: timeOf(options, 'since'),
    untilMs: timeOf(options, 'until'),
  },
  types: textOf(options, 'type') === undefined ? undefined : new Set(textOf(options, 'type')?.split(',')),
  after: positionOf(options, 'after'),
  before: positionOf(options, 'before'),
  limit: countOf(options, 'limit') ?? Infinity,
  follow: options['follow'] === true,
});

/** What stands in a part of the log, and where it is followed what comes to stand there. */
async function* pagesIn(
  { readAll }: Source,
  { after, before }: Range,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEvent[], void> {
  for (let from = after; !signal.aborted;) {
    const page = await readAll(from);
    const events = page.filter(({ position }) => position < before);
    if (events.length > 0) yield events;
    from = page.at(-1)?.position ?? from;
    if (events.length < page.length) return;
    if (page.length === readPageEventsMax) continue;
    if (!follow) return;
    await passed(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** A stream has an index of its own: nothing else need be read. */
async function* pagesOfStream(
  { readStream }: Source,
  stream: string,
  { after, before }: Range,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEvent[], void> {
  for (let revision = 0; !signal.aborted;) {
    const page = await readStream(stream, revision);
    yield page.filter(({ position }) => position > after && position < before);
    if (page.length < readPageEventsMax) return;
    revision = (page.at(-1)?.revision ?? revision) + 1;
  }
}

const pagesFor = async (source: Source, question: Question, signal: AbortSignal) => {
  const { wanted, after, before = endOfLog, follow } = question;
  const isFromNow = follow && after === undefined && wanted.sinceMs === undefined;
  const begin = isFromNow ? await source.head() : after;
  // What is still to come has no place yet that a time could be looked up for.
  const { sinceMs, untilMs } = wanted;
  const bounds = { sinceMs, untilMs: follow ? undefined : untilMs };
  const range = await rangeOf(source, createHistory(source), bounds, { after: begin, before });
  return wanted.stream === undefined || follow
    ? pagesIn(source, range, follow, signal)
    : pagesOfStream(source, wanted.stream, range, signal);
};

/** An event as people read it. */
export const lineOf = ({ position, time, type, stream, actor, reason, data }: AuditEvent): string => {
  const why = reason === null ? '' : ` (${JSON.stringify(reason)})`;
  return `${position} ${time} ${type} ${stream} by ${actor}${why} ${JSON.stringify(data)}`;
};

/** Prints the events that are asked for, oldest first; where the log is followed, until it is interrupted. */
export const showEvents: Command['run'] = async ({ config, options, signal, print }) => {
  const question = questionOf(options);
  const { types, limit, wanted } = question;
  const select = createSelect({ decode }, wanted);
  const isJson = options['json'] === true;
  const source = openSource(config);
  let events = 0;
  try {
    for await (const page of await pagesFor(source, question, signal)) {
      let text = '';
      for (const stored of page) {
        const isOfType = types === undefined || types.has(stored.type);
        const event = isOfType && events < limit ? select(stored) : undefined;
        if (event === undefined) continue;
        text += `${isJson ? JSON.stringify(event) : lineOf(event)}\n`;
        events += 1;
      }
      if (text !== '') await print(text);
      // A file takes text at once: without a turn of the loop no signal would be heard before the end.
      await nextTurn();
      if (events >= limit) break;
    }
    if (!question.follow) signal.throwIfAborted();
    return { result: { events } };
  } finally {
    await source.close();
  }
};
