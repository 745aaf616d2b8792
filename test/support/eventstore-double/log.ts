import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';

/** An event as the double holds it. */
export type Held = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly stream: string;
  readonly revision: number;
  /** Commit and prepare position: the place in a log file, as far as clients can tell. */
  readonly position: number;
  /** Base64. */
  readonly data: string;
  readonly metadata: string;
};

/** An event that is to be held. */
export type Proposed = Pick<Held, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;

/** A stream's end that an append asks for. */
export type Expected = number | 'none' | 'any' | 'exists';

/** What became of an append. */
export type Outcome = { readonly held: readonly Held[] } | { readonly wrong: number | 'none' };

/** The log's first event does not stand at 0: a real log begins with records of its own. */
const firstPosition = 1_000;

/** What a record adds to its data. */
const recordBytes = 100;

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The double's log: in memory, and in a file where one is named, so that it outlives its process. */
export const openLog = (file?: string) => {
  const all: Held[] = [];
  const streams = new Map<string, Held[]>();
  const sleepers = new Set<() => void>();
  let next = firstPosition;

  const hold = (event: Held): void => {
    all.push(event);
    const stream = streams.get(event.stream);
    if (stream === undefined) streams.set(event.stream, [event]);
    else stream.push(event);
    next = event.position + recordBytes + event.data.length;
  };
  if (file !== undefined && existsSync(file)) {
    const lines = readFileSync(file, 'utf8').split('\n');
    // What stands behind the last newline was cut by a kill, and never acknowledged.
    for (const line of lines.slice(0, -1)) for (const event of JSON.parse(line) as Held[]) hold(event);
  }
  const fd = file === undefined ? undefined : openSync(file, 'a');

  /** All or none; the same ids at the same place are the same append, as the server has it. */
  const append = (stream: string, expected: Expected, events: readonly Proposed[]): Outcome => {
    for (const { id } of events) if (!uuid.test(id)) throw new Error(`${id} is no UUID.`);
    const past = streams.get(stream) ?? [];
    const end = past.length - 1;
    const from = expected === 'none' ? -1 : expected;
    if (typeof from === 'number' && from < end && events.length > 0) {
      const there = past.slice(from + 1, from + 1 + events.length);
      if (events.every(({ id }, n) => there[n]?.id === id.toLowerCase())) return { held: there };
    }
    const isWrong = from === 'exists' ? end < 0 : from !== 'any' && from !== end;
    if (isWrong) return { wrong: end < 0 ? 'none' : end };
    const held: Held[] = [];
    let position = next;
    for (const event of events) {
      const id = event.id.toLowerCase();
      held.push({ ...event, id, stream, revision: end + 1 + held.length, position });
      position += recordBytes + event.data.length;
    }
    if (fd !== undefined) writeSync(fd, `${JSON.stringify(held)}\n`);
    for (const event of held) hold(event);
    for (const wake of sleepers) wake();
    return { held };
  };

  return {
    append,
    all: all as readonly Held[],
    stream: (name: string): readonly Held[] | undefined => streams.get(name),
    /** Resolves at the next append, or when the signal aborts. */
    grown: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        sleepers.add(wake);
        signal.addEventListener('abort', wake);
        if (signal.aborted) wake();
      }),
    close: (): void => {
      if (fd !== undefined) closeSync(fd);
    },
  };
};

/** See `openLog`. */
export type Log = ReturnType<typeof openLog>;
