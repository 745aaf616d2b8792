import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { readMemory, type Memory } from './memory.ts';

const startMsMax = 120_000;
const stopMsMax = 15_000;
const pollMs = 10;

const listening = z.object({ port: z.number() });

/** A server under test in its own child process. */
export type Server = {
  readonly port: number;
  /** From the spawn to the listening line, and on to `readyPath` answering 200 where one was given. */
  readonly startMs: number;
  /** The resident memory now. */
  readonly rssBytes: () => Promise<number>;
  /** The same, beside the most that it has been. */
  readonly memory: () => Promise<Memory>;
  /** Ends the process with SIGTERM, and with SIGKILL where it does not listen to that. */
  readonly stop: () => Promise<void>;
};

/** How to start one. */
export type ServerStart = {
  /** The JavaScript file to run. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its output goes to this file, not through a pipe, so that reading it costs the benchmark nothing. */
  readonly log: string;
  readonly readyPath?: string;
};

/** Starts a server that prints a JSON line with `"msg":"listening"` and its `port`. Throws where it does not come up. */
export const startServer = async ({ program, env, log, readyPath }: ServerStart): Promise<Server> => {
  const startedMs = performance.now();
  const output = openSync(log, 'w');
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', output, output],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
  });
  closeSync(output);
  process.once('exit', () => child.kill('SIGKILL'));
  try {
    const port = await waitFor(child, () => findPort(log));
    if (readyPath !== undefined) await waitFor(child, () => isReady(port, readyPath));
    const startMs = performance.now() - startedMs;
    const memory = () => readMemory(child.pid);
    const rssBytes = async (): Promise<number> => (await memory()).rssBytes;
    return { port, startMs, rssBytes, memory, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw new Error(`${program} did not start:\n${await readFile(log, 'utf8')}`, { cause: error });
  }
};

const waitFor = async <T>(child: ChildProcess, attempt: () => Promise<T | undefined>): Promise<T> => {
  const deadlineMs = performance.now() + startMsMax;
  while (child.exitCode === null && performance.now() < deadlineMs) {
    const found = await attempt();
    if (found !== undefined) return found;
    await sleep(pollMs);
  }
  throw new Error(child.exitCode === null ? 'no sign of life in time' : `exit code ${child.exitCode}`);
};

const findPort = async (log: string): Promise<number | undefined> => {
  const text = await readFile(log, 'utf8');
  const line = text.split('\n').find((it) => it.includes('"msg":"listening"') && it.endsWith('}'));
  return line === undefined ? undefined : listening.parse(JSON.parse(line)).port;
};

const isReady = async (port: number, path: string): Promise<true | undefined> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  await response.arrayBuffer();
  return response.status === 200 ? true : undefined;
};

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
  await exited;
  clearTimeout(impatience);
};
