import { write, writeSync } from 'node:fs';

/** Lines are handed to the system when this many characters wait, or after `flushEveryMs`. */
const bufferChars = 16_384;

const flushEveryMs = 200;

/** A reader that has stopped reading costs about this much memory; further lines are dropped. */
const backlogCharsMax = 4_194_304;

/** A full pipe is tried again so often, in milliseconds. */
const retryEveryMs = 10;

/** A reader that takes nothing is waited for this long before the process ends, in milliseconds. */
const flushSyncMs = 1_000;

/** Where lines go. */
export type Output = {
  readonly write: (line: string) => void;
  /** Writes out what waits, before the process ends; gives up where the reader is gone or takes nothing for long. */
  readonly flushSync: () => void;
};

const nothing = Buffer.alloc(0);

const isFull = (error: NodeJS.ErrnoException): boolean => error.code === 'EAGAIN';

const pause = new Int32Array(new SharedArrayBuffer(4));

/** Writes what it can within `flushSyncMs`. */
const writeOut = (fd: number, bytes: Buffer): void => {
  const deadline = performance.now() + flushSyncMs;
  for (let rest = bytes; rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!isFull(error as NodeJS.ErrnoException) || performance.now() > deadline) return;
      Atomics.wait(pause, 0, 0, retryEveryMs);
    }
  }
};

/**
 * Lines to a descriptor whose reader may be slow, stop reading or go away, without ever waiting for it: a write that
 * blocked would hold a thread, and with it the end of the process, for as long as nobody reads. That is why this is
 * not pino's own destination, whose last flush tries for ever.
 */
export const createOutput = (fd: number): Output => {
  // Node makes a pipe or a socket non-blocking when it is first looked at.
  void process.stdout;
  let waiting = '';
  let unwritten = nothing;
  let isWriting = false;
  let isGone = false;

  const pump = (): void => {
    if (isWriting || isGone) return;
    if (unwritten.length === 0) {
      if (waiting === '') return;
      unwritten = Buffer.from(waiting);
      waiting = '';
    }
    isWriting = true;
    write(fd, unwritten, (error, written) => {
      isWriting = false;
      if (error === null) {
        unwritten = unwritten.subarray(written);
        if (unwritten.length > 0 || waiting.length >= bufferChars) pump();
      } else if (isFull(error)) setTimeout(pump, retryEveryMs).unref();
      else {
        isGone = true;
        waiting = '';
        unwritten = nothing;
      }
    });
  };
  setInterval(pump, flushEveryMs).unref();

  return {
    write: (line) => {
      if (isGone || waiting.length + unwritten.length >= backlogCharsMax) return;
      waiting += line;
      if (waiting.length >= bufferChars) pump();
    },
    flushSync: () => {
      if (isGone) return;
      // What is being written now is another thread's, and is not written twice.
      const bytes = Buffer.concat([isWriting ? nothing : unwritten, Buffer.from(waiting)]);
      if (!isWriting) unwritten = nothing;
      waiting = '';
      writeOut(fd, bytes);
    },
  };
};
