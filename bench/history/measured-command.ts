import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readMemory } from '../memory.ts';

/** How often the peak memory is looked at; the system keeps it, so only what comes after the last look is missed. */
const lookEveryMs = 10;

/** A command that has not ended by then is killed. */
const commandMsMax = 600_000;

/** How much of what a command says is kept, from its end. */
const keptCharsMax = 10_000;

const newline = 0x0a;

/** A command as an operator starts it. */
export type CommandStart = {
  /** The service's program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** What one command took, from its spawn until it has ended. */
export type Measured = {
  readonly ms: number;
  readonly peakBytes: number;
  /** What it printed on standard output. */
  readonly lines: number;
  readonly bytes: number;
  /** Why it did not end well. */
  readonly failure?: string;
};

const countLines = (chunk: Uint8Array): number => {
  let lines = 0;
  for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) lines += 1;
  return lines;
};

const watchPeak = (pid: number | undefined) => {
  let peakBytes = 0;
  const look = async (): Promise<void> => {
    // A process that has just ended has no status any more.
    const memory = await readMemory(pid).catch(() => undefined);
    if (memory !== undefined && memory.peakBytes > peakBytes) ({ peakBytes } = memory);
  };
  const timer = setInterval(() => void look(), lookEveryMs);
  return () => {
    clearInterval(timer);
    return peakBytes;
  };
};

/** Runs a command to its end. Never rejects: what went wrong is in the result. */
export const runMeasured = async ({ program, args, env }: CommandStart): Promise<Measured> => {
  const startMs = performance.now();
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const impatience = setTimeout(kill, commandMsMax);
  const endPeak = watchPeak(child.pid);
  let [lines, bytes, said] = [0, 0, ''];
  child.stdout.on('data', (chunk: Uint8Array) => {
    lines += countLines(chunk);
    bytes += chunk.length;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-keptCharsMax);
  });
  const [code, signal] = await once(child, 'close');
  const ms = performance.now() - startMs;
  clearTimeout(impatience);
  process.off('exit', kill);
  const measured = { ms, peakBytes: endPeak(), lines, bytes };
  if (code === 0) return measured;
  return {
    ...measured,
    failure: `${args[0]} ended with ${code ?? signal}: ${said.trim().split('\n').at(-1)}`,
  };
};
