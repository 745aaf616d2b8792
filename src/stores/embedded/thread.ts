import { Worker, type MessagePort } from 'node:worker_threads';

/** How long a thread may take to end by itself. */
const endMsMax = 10_000;

/** How a thread of this folder is started and heard. */
export type ThreadInput<Message> = {
  readonly file: 'writer' | 'checkpointer' | 'page-reader';
  readonly workerData: object;
  /** What of this goes over to the thread. */
  readonly transferList?: MessagePort[];
  readonly hear: (message: Message) => void;
  /** Told once, when it crashes or ends without having been asked to. */
  readonly died: (error: Error) => void;
};

/** One of this folder's threads. */
export type Thread<Message> = {
  readonly post: (message: Message) => void;
  /** Resolves when it has ended; from the call on an end is no death. */
  readonly ended: () => Promise<void>;
  readonly terminate: () => Promise<void>;
};

/** Starts a thread. */
export const startThread = <In, Out>({
  file,
  workerData,
  transferList = [],
  hear,
  died,
}: ThreadInput<Out>): Thread<In> => {
  // The sources run compiled, and as they are where Node strips the types.
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./${file}.${ending}`, import.meta.url), {
    workerData,
    transferList,
    name: `keyledger ${file}`,
  });
  let isWanted = true;
  const die = (error: Error): void => {
    if (!isWanted) return;
    isWanted = false;
    died(error);
  };
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      die(new Error(`The ${file} thread ended with code ${code}.`));
      resolve();
    });
  });
  worker.on('message', hear);
  worker.on('error', (error) => die(error instanceof Error ? error : new Error(String(error))));
  worker.on('messageerror', die);
  return {
    // A thread is no window: there is no origin to name.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    post: (message) => worker.postMessage(message),
    ended: () => {
      isWanted = false;
      return exited;
    },
    terminate: async () => {
      isWanted = false;
      await worker.terminate();
    },
  };
};

/** Resolves when the promise does, or the time is over. */
export const atMost = async (ms: number, promise: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, over]);
  clearTimeout(timer);
};

/** Asks a thread to end, and ends it where it does not. */
export const endThread = async <Message>(thread: Thread<Message>, close: Message): Promise<void> => {
  let hasEnded = false;
  thread.post(close);
  const ended = thread.ended().then(() => (hasEnded = true));
  await atMost(endMsMax, ended);
  if (!hasEnded) await atMost(endMsMax, thread.terminate());
};
