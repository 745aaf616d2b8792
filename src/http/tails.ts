import { Readable } from 'node:stream';
import type { Position } from '../core/event.ts';
import { createSelect, type AuditLog, type Wanted } from './audit.ts';
import { RequestRefused } from './problem.ts';

/** Tails that are open at once; one more is refused. */
export const tailsMax = 100;

/** How often a tail says that it lives, in milliseconds: a connection on which nothing moves is ended after 20 s. */
const aliveEveryMs = 15_000;

/** How long a client is given to take the rest when the service stops, in milliseconds. */
const endMsMax = 1_000;

/** How long whoever is refused should wait, in seconds. */
const retryAfterSecs = 5;

/** Live tails of the log. */
export type Tails = {
  /**
   * A stream of server-sent events (HTML §9.2.5): what is wanted of the log behind `after`, first the past and then
   * what comes, until the client goes or the service stops. Throws `service.busy` where too many are open.
   */
  open(log: AuditLog, wanted: Wanted, after: Position): Readable;
  /** Ends all that are open, in order: each closes behind a whole event. None is opened after it. */
  end(): void;
};

/** Whether the stream takes more: `wait` resolves with the next `made`. */
const createRoom = () => {
  let resume: (() => void) | undefined;
  return {
    made: (): void => resume?.(),
    wait: (): Promise<void> =>
      new Promise((resolve) => {
        resume = resolve;
      }),
  };
};

const refused = (detail: string): RequestRefused =>
  new RequestRefused('service.busy', detail, { headers: { 'Retry-After': String(retryAfterSecs) } });

/** Follows the log into a stream, no faster than it is read, until the signal aborts. */
const follow = (
  log: AuditLog,
  wanted: Wanted,
  after: Position,
  leaving: AbortController,
  aliveMs: number,
): Readable => {
  const select = createSelect(log, wanted);
  const room = createRoom();
  leaving.signal.addEventListener('abort', room.made);
  const stream = new Readable({
    read: room.made,
    destroy: (error, done) => {
      leaving.abort();
      done(error);
    },
  });
  /** How far the log has been looked at, and what the client knows of it. */
  let seen = after;
  // A comment, with the id of where it goes on: a client that comes again before the first event has no gap.
  const sayAlive = (): boolean => stream.push(`:\nid: ${seen}\n\n`);
  const alive = setInterval(() => {
    if (stream.readableLength === 0) sayAlive();
  }, aliveMs);
  const pump = async (): Promise<void> => {
    sayAlive();
    for await (const stored of log.subscribe(after, leaving.signal)) {
      const event = select(stored);
      if (event !== undefined) {
        const text = `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
        if (!stream.push(text)) await room.wait();
      }
      seen = stored.position;
    }
  };
  void pump()
    .then(
      () => stream.destroyed || stream.push(null),
      (error: unknown) => stream.destroy(error as Error),
    )
    .finally(() => clearInterval(alive));
  return stream;
};

/** No tail is open yet; while nothing is told, each says every `aliveMs` that it lives. */
export const createTails = (aliveMs = aliveEveryMs): Tails => {
  const open = new Map<Readable, AbortController>();
  let isEnded = false;
  return {
    open: (log, wanted, after) => {
      if (isEnded) throw refused('The service is stopping.');
      if (open.size >= tailsMax) throw refused(`${tailsMax} tails are open already.`);
      const leaving = new AbortController();
      const stream = follow(log, wanted, after, leaving, aliveMs);
      open.set(stream, leaving);
      stream.once('close', () => open.delete(stream));
      return stream;
    },
    end: () => {
      isEnded = true;
      for (const leaving of open.values()) leaving.abort();
      // A client that reads no more would hold up the stop.
      setTimeout(() => {
        for (const stream of open.keys()) stream.destroy(new Error('The client did not take the end.'));
      }, endMsMax).unref();
    },
  };
};
