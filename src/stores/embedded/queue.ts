import { linksOf, toPosition, type StoredEvent } from '../../core/event.ts';
import { StoreUnavailable, type Append, type AppendResult } from '../../core/ports.ts';
import { fromWireError, outcome, putAppend, type BatchReply, type WireAppends } from './protocol.ts';

/** Appends that one commit takes at most. */
export const batchAppendsMax = 1_024;

/** Appends that may wait for a commit; more are refused at once, so that memory stays bounded. */
export const waitingAppendsMax = 10_000;

type Waiting = {
  readonly append: Append;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: Error) => void;
};

/** What the queue needs around it. */
export type QueueInput = {
  readonly post: (wire: WireAppends) => void;
  /** The events of a stream from a revision on, for an append that was there already. */
  readonly read: (stream: string, from: number, limit: number) => readonly StoredEvent[];
  readonly conflict: () => void;
  readonly appendsMax?: number | undefined;
};

/** The append's events as the log now holds them. */
const stored = ({ stream, expected, events }: Append, position: number): readonly StoredEvent[] => {
  const first = expected === 'none' ? 0 : expected + 1;
  return events.map(({ id, type, version, time, data, cause, ...links }, n) => ({
    id,
    type,
    version,
    time,
    data,
    cause,
    stream,
    revision: first + n,
    position: toPosition(position + n),
    ...linksOf(links),
  }));
};

/** The appends before the writer. While it commits one batch, all that come wait and go as the next one. */
export const createQueue = ({ post, read, conflict, appendsMax = waitingAppendsMax }: QueueInput) => {
  let waiting: Waiting[] = [];
  let inFlight: Waiting[] = [];
  let isDue = false;
  let refusal: Error | undefined;
  let ended: Error | undefined;
  let idle: (() => void) | undefined;

  const send = (): void => {
    isDue = false;
    if (inFlight.length > 0 || ended !== undefined) return;
    if (waiting.length === 0) return idle?.();
    inFlight = waiting.splice(0, batchAppendsMax);
    const wire: (string | number)[] = [];
    for (const { append } of inFlight) putAppend(wire, append);
    post(wire);
  };

  // An immediate comes after all sockets of this turn of the loop, so what arrives together is committed together.
  const sendSoon = (): void => {
    if (isDue || inFlight.length > 0) return;
    isDue = true;
    setImmediate(send);
  };

  const answer = (
    { append, resolve, reject }: Waiting,
    code: number,
    value: number,
    reply: BatchReply,
  ): void => {
    const failure = reply.errors[value] ?? { message: 'unknown', stack: '' };
    switch (code) {
      case outcome.appended:
        return resolve({ appended: true, events: stored(append, value) });
      case outcome.conflict:
        conflict();
        return resolve({ appended: false, current: value === -1 ? 'none' : value });
      case outcome.repeated: {
        const from = append.expected === 'none' ? 0 : append.expected + 1;
        return resolve({ appended: true, events: read(append.stream, from, append.events.length) });
      }
      case outcome.failed:
        return reject(fromWireError(failure));
      default:
        return reject(
          new StoreUnavailable(`Nothing of this append is stored: ${failure.message}.`, {
            cause: fromWireError(failure),
          }),
        );
    }
  };

  return {
    /** Appends not answered yet. */
    size: (): number => waiting.length + inFlight.length,
    append: (append: Append): Promise<AppendResult> =>
      new Promise((resolve, reject) => {
        if (append.events.length === 0) return reject(new Error('An append holds at least one event.'));
        if (refusal !== undefined) return reject(refusal);
        if (waiting.length >= appendsMax)
          return reject(
            new StoreUnavailable(
              `Refused before it was tried: ${waiting.length} appends are waiting already.`,
            ),
          );
        waiting.push({ append, resolve, reject });
        sendSoon();
      }),
    /** Takes the writer's answer to the batch in flight. */
    settle: (reply: BatchReply): void => {
      const answered = inFlight;
      inFlight = [];
      for (const [n, one] of answered.entries())
        answer(one, reply.outcomes[2 * n] ?? outcome.refused, reply.outcomes[2 * n + 1] ?? 0, reply);
      sendSoon();
    },
    /** Takes no more; what is queued goes on. */
    refuse: (reason: string): void => {
      refusal ??= new StoreUnavailable(`Refused before it was tried: ${reason}.`);
    },
    /** Rejects everything, now and from now on. What was in flight may be stored or not. */
    end: (reason: string, cause?: unknown): void => {
      if (ended !== undefined) return;
      ended = new StoreUnavailable(`Refused before it was tried: ${reason}.`, { cause });
      refusal = ended;
      const unknown = new StoreUnavailable(`Whether this append is stored is unknown: ${reason}.`, { cause });
      for (const { reject } of inFlight.splice(0)) reject(unknown);
      for (const { reject } of waiting.splice(0)) reject(ended);
      idle?.();
    },
    /** Resolves when nothing is queued any more. */
    drained: (): Promise<void> =>
      new Promise((resolve) => {
        idle = resolve;
        if (ended === undefined) sendSoon();
        else resolve();
      }),
  };
};
