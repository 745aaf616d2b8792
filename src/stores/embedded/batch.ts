import type { Faults } from '../../core/faults.ts';
import type { RecordedEvent, StoredEvent } from '../../core/event.ts';
import { insertEvent, toRowValues, toStoredEvent, type EventRow } from './event-row.ts';
import {
  absent,
  outcome,
  toWireError,
  wireEventValues,
  type WireAppends,
  type WireError,
} from './protocol.ts';
import type { Database } from './sqlite.ts';
import type { Target } from './target.ts';
import { Unwritable, type Transact } from './transaction.ts';

/** What the writer's parts share. */
export type Writing = {
  readonly db: Database;
  readonly transact: Transact;
  readonly decode: (event: StoredEvent) => RecordedEvent;
  readonly faults: Faults | undefined;
  /** The read models that answer, in the order the readers know; a rebuild puts another in its place. */
  readonly live: Target[];
};

/** What became of a batch; see `BatchReply`. */
type BatchResult = {
  readonly outcomes: number[];
  readonly errors: WireError[];
  readonly touched: string[][];
};

type WireAppend = { readonly stream: string; readonly expected: number; readonly rows: readonly EventRow[] };

/** A text that is not always there. */
const textAt = (wire: WireAppends, at: number): string | null =>
  wire[at] === absent ? null : String(wire[at]);

const eventAt = (wire: WireAppends, at: number, stream: string, revision: number): EventRow => ({
  position: 0,
  stream,
  revision,
  id: String(wire[at]),
  type: String(wire[at + 1]),
  version: Number(wire[at + 2]),
  time: String(wire[at + 3]),
  data: String(wire[at + 4]),
  cause: String(wire[at + 5]),
  hash: textAt(wire, at + 6),
  previous: textAt(wire, at + 7),
});

const readWire = (wire: WireAppends): WireAppend[] => {
  const appends: WireAppend[] = [];
  for (let at = 0; at < wire.length;) {
    const stream = String(wire[at]);
    const expected = Number(wire[at + 1]);
    const count = Number(wire[at + 2]);
    at += 3;
    const rows: EventRow[] = [];
    for (let n = 1; n <= count; n++, at += wireEventValues)
      rows.push(eventAt(wire, at, stream, expected + n));
    appends.push({ stream, expected, rows });
  }
  return appends;
};

/** The position of the last event, the one being written included. */
type Head = { position: number };

/** The function that inserts an event; it answers false where the stream has one at this revision already. */
const createPut = (db: Database) => {
  const insert = db.prepare(`${insertEvent} ON CONFLICT (stream, revision) DO NOTHING`);
  return (event: Parameters<typeof toRowValues>[0], position: number): boolean =>
    insert.run(...toRowValues(event, position)).changes === 1;
};

/** The function that writes one append into the open transaction and answers its outcome and value. */
const createAppending = ({ db, decode, faults, live }: Writing, head: Head) => {
  const lastRevision = db.prepare<{ revision: number | null }>(
    'SELECT max(revision) AS revision FROM events WHERE stream = ?',
  );
  const idAt = db.prepare<{ id: string }>('SELECT id FROM events WHERE stream = ? AND revision = ?');
  const put = createPut(db);
  const handled = new Set(live.flatMap(({ projection }) => Object.keys(projection.on)));

  const miss = ({ stream, rows }: WireAppend): readonly [number, number] => {
    const repeats = rows.every(({ id, revision }) => idAt.get(stream, revision)?.id === id);
    return repeats ? [outcome.repeated, 0] : [outcome.conflict, lastRevision.get(stream)?.revision ?? -1];
  };

  return (append: WireAppend): readonly [number, number] => {
    const { stream, expected, rows } = append;
    faults?.('before-append');
    // That a stream does not exist yet is told by its first insert; only where it must exist is it looked for.
    if (expected >= 0 && lastRevision.get(stream)?.revision !== expected) return miss(append);
    const first = head.position + 1;
    for (const [n, row] of rows.entries()) {
      const position = first + n;
      const stored = toStoredEvent({ ...row, position });
      if (!put(stored, position)) {
        if (n === 0) return miss(append);
        throw new Error(`Stream ${stream} has an event ahead of its end.`);
      }
      head.position = position;
      if (!handled.has(row.type)) continue;
      const event = decode(stored);
      for (const target of live) target.take(event, position);
    }
    return [outcome.appended, first];
  };
};

/** The function that writes events of another log into the open transaction; those that are here already are passed over. */
const createReplicating = ({ db, decode, live }: Writing, head: Head) => {
  const put = createPut(db);
  return (event: StoredEvent): void => {
    const position = Number(event.position);
    if (position <= head.position) return;
    if (!put(event, position)) throw new Error(`Stream ${event.stream} has another event ${event.revision}.`);
    head.position = position;
    const decoded = decode(event);
    for (const target of live) target.take(decoded, position);
  };
};

/** Answers the same for each of some appends. */
const answerAll = (count: number, code: number, error: unknown, { outcomes, errors }: BatchResult): void => {
  const index = errors.push(toWireError(error)) - 1;
  for (let n = 0; n < count; n++) outcomes.push(code, index);
};

/** Writes batches; knows the head of the log, for it alone moves it. */
export const createBatches = (writing: Writing) => {
  const { db, transact, faults, live } = writing;
  let head = db.prepare<{ head: number | null }>('SELECT max(position) AS head FROM events').get()?.head ?? 0;
  const writingHead: Head = { position: head };
  const append = createAppending(writing, writingHead);
  const replicate = createReplicating(writing, writingHead);
  const moveCheckpoints = db.prepare('UPDATE read_models SET checkpoint = ?');

  const writeAll = (appends: readonly WireAppend[]): number[] => {
    writingHead.position = head;
    const outcomes = appends.flatMap(append);
    faults?.('before-projection');
    for (const target of live) target.flush();
    if (writingHead.position !== head) moveCheckpoints.run(writingHead.position);
    faults?.('before-commit');
    return outcomes;
  };

  const write = (appends: readonly WireAppend[], result: BatchResult): void => {
    try {
      result.outcomes.push(...transact(() => writeAll(appends)));
      head = writingHead.position;
      for (const [n, target] of live.entries()) result.touched[n]?.push(...target.committed());
    } catch (error) {
      for (const target of live) target.rolledBack();
      if (error instanceof Unwritable) {
        if (error.reason === 'broken') throw error;
        answerAll(appends.length, outcome.refused, error, result);
      } else if (appends.length === 1) {
        answerAll(1, outcome.failed, error, result);
      } else {
        // One append is at fault; the halves find it, so that the good ones pay no savepoint on the usual path.
        const half = appends.length >> 1;
        write(appends.slice(0, half), result);
        write(appends.slice(half), result);
      }
    }
  };

  return {
    head: (): number => head,
    /** Writes what is on the wire; throws `Unwritable` only where the engine is broken. */
    write: (wire: WireAppends): BatchResult => {
      const result: BatchResult = { outcomes: [], errors: [], touched: live.map(() => []) };
      write(readWire(wire), result);
      if (result.outcomes.length > 0) faults?.('after-commit');
      return result;
    },
    /** Writes events of another log; throws what stands against it, and then nothing of them is stored. */
    replicate: (events: readonly StoredEvent[]): string[][] => {
      try {
        transact(() => {
          writingHead.position = head;
          for (const event of events) replicate(event);
          for (const target of live) target.flush();
          moveCheckpoints.run(writingHead.position);
        });
      } catch (error) {
        for (const target of live) target.rolledBack();
        throw error;
      }
      head = writingHead.position;
      return live.map((target) => [...target.committed()]);
    },
    /** Writes something that changes nothing, and answers what stands against it. */
    probe: (): { readonly refused?: WireError } => {
      try {
        transact(() => moveCheckpoints.run(head));
        return {};
      } catch (error) {
        if (error instanceof Unwritable && error.reason === 'broken') throw error;
        return { refused: toWireError(error) };
      }
    },
  };
};
