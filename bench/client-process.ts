import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Job, JobResult } from './job.ts';

/** A process of the benchmark's own that does one job after the other. */
export type Worker<J, R> = { readonly run: (job: J) => Promise<R>; readonly stop: () => void };

/** The one client that loads every side, in a process of its own. */
export type Client = Worker<Job, JobResult>;

/** Starts a program of the benchmark's own. One job at a time: `run` must be awaited before the next. */
export const startWorker = <J extends object, R>(name: string): Worker<J, R> => {
  const child = fork(fileURLToPath(new URL(`${name}.js`, import.meta.url)), { serialization: 'advanced' });
  const ended = once(child, 'exit').then((): never => {
    throw new Error(`the process of ${name} ended by itself`);
  });
  ended.catch(() => undefined);
  return {
    run: async (job) => {
      child.send(job);
      const answered = new Promise<R>((resolve) => child.once('message', (it) => resolve(it as R)));
      return Promise.race([answered, ended]);
    },
    stop: () => child.disconnect(),
  };
};

/** Starts the client. */
export const startClient = (): Client => startWorker('client');
