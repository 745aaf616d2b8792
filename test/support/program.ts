import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { engineSettings, leaveEngines } from './engines.ts';

/** How long a program may take to be ready, in milliseconds. */
const startTimeoutMs = 20_000;

/** The operator's token of every program that tests start. */
export const adminToken = 'test-admin-token-0123456789abcdef';

/** The verifier's token of every program that tests start. */
export const verifierToken = 'test-verifier-token-0123456789abcdef';

/** The program as built, as a user starts it. */
export const mainProgram = fileURLToPath(new URL('../../src/main.js', import.meta.url));

/** A running program, started as a user starts it. */
export type Program = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dir: string;
  readonly child: ChildProcess;
  /** Everything it has written on standard output and standard error. */
  output(): string;
  /** Resolves with the exit code (or the signal's name) when it has ended. */
  readonly exited: Promise<number | string>;
  /** SIGTERM, then waits for the end. */
  stop(): Promise<number | string>;
  /** SIGKILL, then waits for the end. */
  kill(): Promise<void>;
};

/** A folder that is fresh and is removed by `removeFolder`. */
export const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'keyledger-test-'));

/** Removes a folder that `freshFolder` made. */
export const removeFolder = (dir: string): void => {
  leaveEngines(dir);
  rmSync(dir, { recursive: true, force: true });
};

/** What a test may say about the program that it starts. */
export type ProgramOptions = {
  readonly dir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than the service's own: one that a test wrote around it. */
  readonly program?: string;
  /** What stands before `node`, for instance a wrapper that sets a limit. */
  readonly wrapper?: readonly string[];
};

/** Starts the program without waiting for it to listen; on the embedded engine unless `env` says other. */
export const spawnProgram = ({
  dir,
  env = {},
  program = mainProgram,
  wrapper = [],
}: ProgramOptions): ChildProcess => {
  const [command, ...args] = [...wrapper, process.execPath, '--enable-source-maps', program];
  return spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      SERVICE_CP_ADMIN_TOKEN: adminToken,
      SERVICE_CP_VERIFIER_TOKEN: verifierToken,
      SERVICE_DATA_DIR: dir,
      SERVICE_PORT: '0',
      ...env,
    },
  });
};

type ReadyLine = { readonly msg: 'ready'; readonly address: string; readonly port: number };

const asReady = (line: string): ReadyLine | undefined => {
  try {
    const parsed = JSON.parse(line) as ReadyLine;
    return parsed.msg === 'ready' ? parsed : undefined;
  } catch {
    return undefined;
  }
};

/** Starts the program and waits until it is ready; rejects with its output where it ends before. */
export const startProgram = async (options: ProgramOptions): Promise<Program> => {
  const env = { ...(await engineSettings(options.dir)), ...options.env };
  const child = spawnProgram({ ...options, env });
  const written: string[] = [];
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  child.stderr?.on('data', (chunk) => written.push(String(chunk)));
  const ready = new Promise<ReadyLine>((resolve) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      written.push(`${line}\n`);
      const found = asReady(line);
      if (found !== undefined) resolve(found);
    });
  });
  let timer: NodeJS.Timeout | undefined;
  const failed = Promise.race([
    exited.then((code) => `ended with ${code}`),
    new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`was not ready within ${startTimeoutMs} ms`), startTimeoutMs);
    }),
  ]).then((why) => {
    child.kill('SIGKILL');
    throw new Error(`The program ${why}:\n${written.join('')}`);
  });
  const { address, port } = await Promise.race([ready, failed]);
  failed.catch(() => {});
  clearTimeout(timer);
  return {
    url: `http://${address}:${port}`,
    port,
    pid: child.pid ?? 0,
    dir: options.dir,
    child,
    output: () => written.join(''),
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};
