import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { positionForm, type StoredEvent } from '../core/event.ts';

/** Raised with every change that an older program can't read; the first one had no hashes and no index. */
const formatVersion = 2;

/** The longest line that is read, in bytes: a file that is something else must not fill the memory. */
const lineBytesMax = 16_777_216;

/** What is read of the file at a time, in bytes. */
const chunkBytes = 262_144;

/** Events that are answered at a time at most: more would outlive the young generation (measured: 80 MB). */
const pageEventsMax = 100;

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
  hash: z.string().exactOptional(),
  previous: z.string().exactOptional(),
  index: z.int().min(0).exactOptional(),
});

const endLine = z.strictObject({ events: z.int().min(0), sha256: z.string() });

/** The file is not a whole log as `export` writes it. No message holds anything of an event but its id and place. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
}

/** The line of an event, member by member, so that its form does not hang on how an engine makes its objects. */
const lineOf = (event: StoredEvent, index: number | undefined): string => {
  const { id, stream, revision, position, type, version, time, data, cause, hash, previous } = event;
  return JSON.stringify({
    id,
    stream,
    revision,
    position,
    type,
    version,
    time,
    data,
    cause,
    hash,
    previous,
    index,
  });
};

/** The texts of a log file, each a line or several; every byte goes through `end`'s digest. */
export const createLogText = () => {
  const hash = createHash('sha256');
  let events = 0;
  // As bytes, or digest and file would each make them anew.
  const digested = (text: string): Buffer => {
    const bytes = Buffer.from(text);
    hash.update(bytes);
    return bytes;
  };
  return {
    header: (): Buffer =>
      digested(`${JSON.stringify({ format: 'keyledger-log', version: formatVersion })}\n`),
    page: (page: readonly StoredEvent[]): Buffer => {
      let lines = '';
      for (const event of page) lines += `${lineOf(event, events++)}\n`;
      return digested(lines);
    },
    end: (): string => `${JSON.stringify({ events, sha256: hash.digest('hex') })}\n`,
  };
};

/**
 * The file's lines, whole and with their ends, as many at a time as are read; they are overwritten once the next are asked
 * for. What stands behind the last line's end is no line: the file was cut there.
 */
async function* linesOf(file: FileHandle): AsyncGenerator<Buffer, void> {
  let [here, next] = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)];
  let reading = file.read(here, 0, chunkBytes, 0);
  /** Bytes of a line that has begun; they stand before what is read. */
  let begun = 0;
  for (let at = 0; ;) {
    const { bytesRead } = await reading;
    if (bytesRead === 0) break;
    at += bytesRead;
    const bytes = here.subarray(0, begun + bytesRead);
    const end = bytes.lastIndexOf(newline) + 1;
    begun = bytes.length - end;
    if (begun > lineBytesMax) throw new DamagedFile(`it has a line of more than ${lineBytesMax} bytes`);
    if (next.length < begun + chunkBytes) next = Buffer.allocUnsafe(begun + chunkBytes);
    bytes.copy(next, 0, end);
    // While these are looked at the next are on their way; where that fails, it is told when they are wanted.
    reading = file.read(next, begun, chunkBytes, at);
    reading.catch(() => undefined);
    [here, next] = [next, here];
    if (end > 0) yield bytes.subarray(0, end);
  }
  if (begun > 0) throw new DamagedFile('it is cut short in the middle of a line');
}

const parseLine = (line: string, number: number): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    // Without what the parser says: it quotes the line.
    throw new DamagedFile(`line ${number} is not JSON`);
  }
};

/** The version of the file's form. */
const readHeader = (value: unknown): number => {
  const header = headerLine.safeParse(value);
  if (!header.success) throw new DamagedFile('its first line is not that of an exported log');
  const { version } = header.data;
  if (version < 1 || version > formatVersion)
    throw new DamagedFile(`its format has version ${version}, and here it is ${formatVersion}`);
  return version;
};

/** An event, and its place as its line says it. */
type Line = StoredEvent & { readonly index?: number };

const readEvent = (value: unknown, number: number): Line => {
  const read = eventLine.safeParse(value);
  if (read.success) return read.data;
  const members = read.error.issues.map(({ path }) => path.join('.') || 'its members');
  throw new DamagedFile(`line ${number} is not an event (${members.join(', ')})`);
};

const readEnd = (value: unknown, events: number, sha256: string): void => {
  const end = endLine.safeParse(value);
  if (!end.success) throw new DamagedFile('its last line does not say how many events it has');
  if (end.data.events !== events)
    throw new DamagedFile(`it has ${events} events, and its last line says ${end.data.events}`);
  if (end.data.sha256 !== sha256) throw new DamagedFile('its digest is not the one that its last line says');
};

const isEnd = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'sha256' in value && !('id' in value);

/** Told of what is wrong with a file, which is then read on; or throws that, and nothing more is read. */
export type OnDamage = (damage: DamagedFile) => void;

const throwIt: OnDamage = (damage) => {
  throw damage;
};

/** Reads the lines of a log file one by one, and holds each against its form and its place. */
const createLineReader = (onDamage: OnDamage) => {
  const hash = createHash('sha256');
  let number = 0;
  /** Events so far, by the numbers that their lines say where these are another: what follows is held against that. */
  let place = 0;
  let events = 0;
  let version = formatVersion;
  let hasEnded = false;
  let hasMore = false;

  /** What is found; absent where that is damaged, and it is gone on nevertheless. */
  const passing = <T>(find: () => T): T | undefined => {
    try {
      return find();
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      onDamage(error);
      return undefined;
    }
  };

  const refuse = (what: string): void => onDamage(new DamagedFile(what));

  const takeEvent = (value: unknown): StoredEvent => {
    const event = readEvent(value, number);
    const { index } = event;
    if (version > 1 && index === undefined) refuse(`line ${number} does not say which event it is`);
    else if (version > 1 && index !== place)
      refuse(`line ${number} is event ${index}, and event ${place} should stand there`);
    place = index ?? place;
    return event;
  };

  return {
    /** Takes the next line; what stands before it among those that were read is not in the digest yet. */
    take: (line: string, before: () => Buffer): StoredEvent | undefined => {
      number += 1;
      if (hasEnded && !hasMore) refuse('something stands behind its last line');
      hasMore = hasEnded;
      const value = passing(() => parseLine(line, number));
      if (number === 1) {
        const header = value === undefined ? undefined : passing(() => readHeader(value));
        if (header !== undefined) version = header;
        // It may be the header that is gone.
        if (header !== undefined || !eventLine.safeParse(value).success) return undefined;
      }
      if (isEnd(value)) {
        hasEnded = true;
        return passing(() => {
          readEnd(value, events, hash.copy().update(before()).digest('hex'));
          return undefined;
        });
      }
      const event = value === undefined ? undefined : passing(() => takeEvent(value));
      events += 1;
      place += 1;
      return event;
    },
    /** Lines that have all been taken. */
    digest: (lines: Buffer): void => {
      if (!hasEnded) hash.update(lines);
    },
    /** Nothing is behind the lines that were taken. */
    end: (): void => {
      if (number === 0) refuse('it is empty');
      else if (!hasEnded) refuse('it is cut short: its last line is missing');
    },
  };
};

/**
 * Every event of an exported log, in the file's order, as many at a time as are read. Throws `DamagedFile` where a line
 * is not what it has to be, and at the end where count or digest are not those of the last line: what was answered before
 * is then worth nothing. Given `onDamage`, tells it that instead, and goes on behind the line.
 */
export async function* readLogPages(
  file: FileHandle,
  onDamage: OnDamage = throwIt,
): AsyncGenerator<readonly StoredEvent[], void> {
  const reader = createLineReader(onDamage);
  try {
    for await (const lines of linesOf(file)) {
      let page: StoredEvent[] = [];
      for (let from = 0; from < lines.length;) {
        const [start, end] = [from, lines.indexOf(newline, from) + 1];
        const line = lines.toString('utf8', start, end - 1);
        const event = reader.take(line, () => lines.subarray(0, start));
        if (event !== undefined) page.push(event);
        from = end;
        if (page.length < pageEventsMax) continue;
        yield page;
        page = [];
      }
      reader.digest(lines);
      if (page.length > 0) yield page;
    }
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    return onDamage(error);
  }
  reader.end();
}

/** The same, one by one. */
export async function* readLogFile(file: FileHandle): AsyncGenerator<StoredEvent, void> {
  for await (const page of readLogPages(file)) yield* page;
}

/** The event of a line; absent where the line is damaged. */
const eventIn = (line: string): StoredEvent | undefined => {
  try {
    return readEvent(parseLine(line, 0), 0);
  } catch (error) {
    if (error instanceof DamagedFile) return undefined;
    throw error;
  }
};

/**
 * The events of the streams whose names begin so, in the file's order; what is damaged is passed over, for whoever reads
 * the whole file is told.
 */
export async function* readStreamsOf(file: FileHandle, beginning: string): AsyncGenerator<StoredEvent, void> {
  // Within data every quote stands behind a backslash: only a line's own member can look like this.
  const text = Buffer.from(`"stream":${JSON.stringify(beginning).slice(0, -1)}`);
  try {
    for await (const lines of linesOf(file))
      for (let at = lines.indexOf(text); at !== -1;) {
        const end = lines.indexOf(newline, at) + 1;
        const event = eventIn(lines.toString('utf8', lines.lastIndexOf(newline, at) + 1, end));
        if (event !== undefined) yield event;
        at = lines.indexOf(text, end);
      }
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
  }
}
