import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { positionForm, type StoredEvent } from '../core/event.ts';

/** Raised with every change that an older program can't read. */
const formatVersion = 1;

/** The longest line that is read, in bytes: a file that is something else must not fill the memory. */
const lineBytesMax = 16_777_216;

/** What is read of the file at a time, in bytes. */
const chunkBytes = 262_144;

const newline = 0x0a;

const headerLine = z.looseObject({ format: z.literal('keyledger-log'), version: z.int() });

const eventLine = z.strictObject({
  // As every engine gives an id back; another spelling would come back changed.
  id: z.string().regex(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
  stream: z.string().min(1),
  revision: z.int().min(0),
  position: z.string().regex(positionForm),
  type: z.string().min(1),
  version: z.int().min(1),
  time: z.iso.datetime(),
  data: z.string(),
  cause: z.string(),
});

const endLine = z.strictObject({ events: z.int().min(0), sha256: z.string() });

/** The file is not a whole log as `export` writes it. No message holds anything of an event but its id and place. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
}

/** The texts of a log file, each a line or several; every byte goes through `end`'s digest. */
export const createLogText = () => {
  const hash = createHash('sha256');
  let events = 0;
  const digested = (text: string): string => {
    hash.update(text);
    return text;
  };
  return {
    header: (): string =>
      digested(`${JSON.stringify({ format: 'keyledger-log', version: formatVersion })}\n`),
    page: (page: readonly StoredEvent[]): string => {
      events += page.length;
      // Member by member, so that a line's form does not hang on how an engine makes its objects.
      const lines = page.map(({ id, stream, revision, position, type, version, time, data, cause }) =>
        JSON.stringify({ id, stream, revision, position, type, version, time, data, cause }),
      );
      return digested(lines.map((line) => `${line}\n`).join(''));
    },
    end: (): string => `${JSON.stringify({ events, sha256: hash.digest('hex') })}\n`,
  };
};

/** The file's lines, with their ends. What stands behind the last line's end is no line: the file was cut there. */
async function* linesOf(file: FileHandle): AsyncGenerator<Buffer, void> {
  let left: Buffer = Buffer.alloc(0);
  for (let at = 0; ;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const read = buffer.subarray(0, bytesRead);
    const bytes = left.length === 0 ? read : Buffer.concat([left, read]);
    let from = 0;
    for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
      yield bytes.subarray(from, to + 1);
      from = to + 1;
    }
    left = bytes.subarray(from);
    if (left.length > lineBytesMax) throw new DamagedFile(`it has a line of more than ${lineBytesMax} bytes`);
  }
  if (left.length > 0) throw new DamagedFile('it is cut short in the middle of a line');
}

const parseLine = (line: Buffer, number: number): unknown => {
  try {
    return JSON.parse(line.toString());
  } catch {
    // Without what the parser says: it quotes the line.
    throw new DamagedFile(`line ${number} is not JSON`);
  }
};

const readHeader = (value: unknown): void => {
  const header = headerLine.safeParse(value);
  if (!header.success) throw new DamagedFile('its first line is not that of an exported log');
  if (header.data.version !== formatVersion)
    throw new DamagedFile(`its format has version ${header.data.version}, and here it is ${formatVersion}`);
};

const readEvent = (value: unknown, number: number): StoredEvent => {
  const event = eventLine.safeParse(value);
  if (event.success) return event.data;
  const members = event.error.issues.map(({ path }) => path.join('.') || 'its members');
  throw new DamagedFile(`line ${number} is not an event (${members.join(', ')})`);
};

const readEnd = (value: unknown, events: number, sha256: string): void => {
  const end = endLine.safeParse(value);
  if (!end.success) throw new DamagedFile('its last line does not say how many events it has');
  if (end.data.events !== events)
    throw new DamagedFile(`it has ${events} events, and its last line says ${end.data.events}`);
  if (end.data.sha256 !== sha256) throw new DamagedFile('its digest is not the one that its last line says');
};

const isEnd = (value: unknown): boolean => typeof value === 'object' && value !== null && 'sha256' in value;

/**
 * Every event of an exported log, in the file's order. Throws `DamagedFile` where a line is not what it has to be,
 * and at the end where count or digest are not those of the last line: what was answered before is then worth nothing.
 */
export async function* readLogFile(file: FileHandle): AsyncGenerator<StoredEvent, void> {
  const hash = createHash('sha256');
  let number = 0;
  let events = 0;
  let hasEnded = false;
  for await (const line of linesOf(file)) {
    number += 1;
    if (hasEnded) throw new DamagedFile('something stands behind its last line');
    const value = parseLine(line, number);
    if (number > 1 && isEnd(value)) {
      readEnd(value, events, hash.copy().digest('hex'));
      hasEnded = true;
      continue;
    }
    hash.update(line);
    if (number === 1) {
      readHeader(value);
      continue;
    }
    yield readEvent(value, number);
    events += 1;
  }
  if (number === 0) throw new DamagedFile('it is empty');
  if (!hasEnded) throw new DamagedFile('it is cut short: its last line is missing');
}
