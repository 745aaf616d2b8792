import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Job, JobResult } from './job.ts';

/** The one client that loads every side, in a process of its own. */
export type Client = { readonly run: (job: Job) => Promise<JobResult>; readonly stop: () => void };

/** Starts the client. One job at a time: `run` must be awaited before the next. */
export const startClient = (): Client => {
  const child = fork(fileURLToPath(new URL('client.js', import.meta.url)), { serialization: 'advanced' });
  const ended = once(child, 'exit').then((): never => {
    throw new Error('the client ended by itself');
  });
  ended.catch(() => undefined);
  return {
    run: async (job) => {
      child.send(job);
      const answered = new Promise<JobResult>((resolve) => child.once('message', resolve));
      return Promise.race([answered, ended]);
    },
    stop: () => child.disconnect(),
  };
};
