import { createHash } from 'node:crypto';
import type { StoredEvent } from '../../src/core/event.ts';
import { hashOf } from '../../src/proofs/event-hash.ts';

/** What a line of an exported log holds. */
export type LineOfEvent = StoredEvent & { readonly index: number };

/** The events of an exported log. */
export const eventsOf = (text: string): readonly LineOfEvent[] =>
  text
    .split('\n')
    .slice(1, -2)
    .map((line) => JSON.parse(line) as LineOfEvent);

const members = [
  'id',
  'stream',
  'revision',
  'position',
  'type',
  'version',
  'time',
  'data',
  'cause',
  'hash',
  'previous',
  'index',
] as const;

/** The file with these lines between its own header and an end that says what is right for them. */
export const withLines = (text: string, lines: readonly string[]): string => {
  const [header = ''] = text.split('\n', 1);
  const body = [header, ...lines].map((line) => `${line}\n`).join('');
  const sha256 = createHash('sha256').update(body).digest('hex');
  return `${body}${JSON.stringify({ events: lines.length, sha256 })}\n`;
};

/**
 * What somebody can make of a log who has everything but the key: every number, every hash and every link made anew, so
 * that the file is right in itself.
 */
export const forged = (text: string, events: readonly StoredEvent[]): string => {
  const ends = new Map<string, { revision: number; hash: string }>();
  const lines = events.map((event, index) => {
    const { hash: _, previous: __, ...rest } = event;
    const before = ends.get(event.stream);
    const revision = before === undefined ? 0 : before.revision + 1;
    const linked = { ...rest, revision, ...(before === undefined ? {} : { previous: before.hash }) };
    const hash = hashOf(linked);
    ends.set(event.stream, { revision, hash });
    const position = String(index + 1).padStart(20, '0');
    const line: Readonly<Record<string, unknown>> = { ...linked, position, hash, index };
    return JSON.stringify(Object.fromEntries(members.map((name) => [name, line[name]])));
  });
  return withLines(text, lines);
};
