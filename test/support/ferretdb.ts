import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';
import { until } from './waiting.ts';

/** How long the server may take to listen, in milliseconds. */
const startMs = 20_000;

/** A FerretDB of a test's own: it speaks MongoDB's protocol and keeps its data in SQLite, in a folder of its own. */
export type FerretDb = {
  /** The connection string of a database; another for each name. */
  readonly url: (database: string) => string;
  readonly pid: () => number;
  /** SIGKILL, then waits for the end; what it acknowledged stays. */
  readonly kill: () => Promise<void>;
  /** Starts it anew on the same port and the same data. */
  readonly start: () => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Kills it and removes its data. */
  readonly close: () => Promise<void>;
};

const goBin = (): string[] => {
  try {
    return [join(execFileSync('go', ['env', 'GOPATH'], { encoding: 'utf8' }).trim(), 'bin')];
  } catch {
    return [];
  }
};

/** The server's program, or why the tests that need it are left out. */
export const findFerretDb = (): { readonly program: string } | { readonly missing: string } => {
  const folders = [...goBin(), ...(process.env['PATH'] ?? '').split(delimiter)];
  const program = folders.map((folder) => join(folder, 'ferretdb')).find(existsSync);
  return program === undefined
    ? { missing: 'skipped: install ferretdb with `sh test/support/install-ferretdb.sh`' }
    : { program };
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Starts the server on a free port; rejects with its output where it does not listen. */
export const startFerretDb = async (program: string): Promise<FerretDb> => {
  const dir = await mkdtemp(join(tmpdir(), 'keyledger-ferretdb-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const output: string[] = [];
  const start = async (): Promise<void> => {
    const args = [
      '--handler=sqlite',
      `--listen-addr=127.0.0.1:${port}`,
      `--sqlite-url=file:${dir}/`,
      '--state-dir=-',
      '--telemetry=disable',
      '--debug-addr=-',
      '--log-level=error',
    ];
    const running = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, DO_NOT_TRACK: '1' },
    });
    for (const stream of [running.stdout, running.stderr]) stream.on('data', (it) => output.push(String(it)));
    child = running;
    ended = once(running, 'exit');
    await until(
      'FerretDB listens',
      async () => {
        if (running.exitCode !== null) throw new Error(`FerretDB ended: ${output.join('').slice(-2_000)}`);
        return isListening(port);
      },
      startMs,
    );
  };
  const kill = async (): Promise<void> => {
    child?.kill('SIGKILL');
    await ended;
  };
  // A run that ends early leaves no server behind.
  const killAtExit = (): void => void child?.kill('SIGKILL');
  process.once('exit', killAtExit);
  await start();
  return {
    url: (database) => `mongodb://127.0.0.1:${port}/${database}?directConnection=true`,
    pid: () => child?.pid ?? 0,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    close: async () => {
      process.removeListener('exit', killAtExit);
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
};
