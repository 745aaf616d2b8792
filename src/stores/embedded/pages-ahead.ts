import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { NextPage, Page } from './pages.ts';
import { fromWireError, type WireError } from './protocol.ts';
import { startThread } from './thread.ts';

/** Pages that are made before they are wanted: what they hold is held in memory. */
const aheadMax = 8;

/** How long a page may take, and the end of the thread, in milliseconds. */
const pageMsMax = 60_000;
const endMsMax = 10_000;

/** What is counted in memory that both threads see: each waits there for the other. */
export const counted = { made: 0, taken: 1, isOver: 2, hasEnded: 3 } as const;

/** What the thread tells: a page, nothing where the log is read, or why it can't go on. */
export type FromPageReader = { readonly page: Page | undefined } | { readonly error: WireError };

/** Which log is read, how far, and for which read models. */
export type AheadInput = {
  /** A data file, which may be in use. */
  readonly path: string;
  /** The position of the last event that is wanted. */
  readonly upTo: number;
  /** The URL of a module that exports `projections` and `decode`. */
  readonly projectionsModule: string;
  /** The names of the read models, in the order of their places in a page. */
  readonly names: readonly string[];
};

/** What the thread is started with. */
export type PageReaderInput = AheadInput & {
  readonly port: MessagePort;
  readonly counts: Int32Array;
  readonly aheadMax: number;
};

/** Pages that a thread of its own makes. */
export type PagesAhead = { readonly next: NextPage; readonly close: () => void };

/**
 * Has another thread read the log and make pages of it, some ahead of whoever takes them here, in their order. To take
 * one waits for it, and so does the whole thread: this is for work that nobody is served beside. Throws what reading or a
 * reducer threw.
 */
export const openPagesAhead = (input: AheadInput): PagesAhead => {
  const { port1: port, port2: theirs } = new MessageChannel();
  const counts = new Int32Array(
    new SharedArrayBuffer(Object.keys(counted).length * Int32Array.BYTES_PER_ELEMENT),
  );
  let failure: Error | undefined;
  const workerData: PageReaderInput = { ...input, port: theirs, counts, aheadMax };
  startThread({
    file: 'page-reader',
    workerData,
    transferList: [theirs],
    hear: () => undefined,
    died: (error) => (failure ??= error),
  });
  let taken = 0;
  let isOver = false;

  const take = (): FromPageReader => {
    for (const giveUpMs = performance.now() + pageMsMax; Atomics.load(counts, counted.made) === taken;) {
      if (failure !== undefined) throw failure;
      const leftMs = giveUpMs - performance.now();
      if (leftMs <= 0 || Atomics.wait(counts, counted.made, taken, leftMs) === 'timed-out')
        throw new Error(`The thread that reads the log has said nothing for ${pageMsMax / 1000} seconds.`);
    }
    taken += 1;
    Atomics.store(counts, counted.taken, taken);
    Atomics.notify(counts, counted.taken);
    return receiveMessageOnPort(port)?.message;
  };

  return {
    next: () => {
      if (isOver) return undefined;
      const told = take();
      if ('error' in told) throw fromWireError(told.error);
      isOver = told.page === undefined;
      return told.page;
    },
    close: () => {
      isOver = true;
      Atomics.store(counts, counted.isOver, 1);
      Atomics.notify(counts, counted.taken);
      // It has the data file open, which whoever comes next may want for itself.
      Atomics.wait(counts, counted.hasEnded, 0, endMsMax);
      port.close();
    },
  };
};
