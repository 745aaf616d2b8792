import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { StoredEvent } from '../../src/core/event.ts';
import { cause, time } from './examples.ts';
import { mainProgram } from './program.ts';
import { within } from './waiting.ts';

/** How long one command may take, in milliseconds. */
const commandMsMax = 30_000;

/** A command that runs. */
export type RunningCommand = { readonly child: ChildProcess; readonly ended: Promise<CommandEnd> };

/** How a command ended: its exit code (or the signal's name), and what it wrote. */
export type CommandEnd = { readonly code: number | string; readonly out: string; readonly err: string };

/** Starts the program with arguments, as an operator does; nothing of the tests' environment is its own. */
export const startCommand = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): RunningCommand => {
  const child = spawn(process.execPath, ['--enable-source-maps', mainProgram, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const ended = within('the command', commandMsMax, closed).then(
    ([code, signal]) => ({ code: code ?? signal ?? 'unknown', out, err }),
    (error: unknown) => {
      child.kill('SIGKILL');
      throw error;
    },
  );
  return { child, ended };
};

/** Runs the program with arguments to its end. */
export const runCommand = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandEnd> => startCommand(args, env).ended;

/** A log of so many tenants, each in a stream of its own. */
export const tenantsLog = (count: number, name = 'tenant'): readonly StoredEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `019a0000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
    stream: `tenant-${name}${n}`,
    revision: 0,
    position: String(n + 1).padStart(20, '0'),
    type: 'TenantCreated',
    version: 1,
    time,
    data: JSON.stringify({ tenant_id: `${name}${n}`, incarnation: `${name}${n}~1` }),
    cause: JSON.stringify(cause),
  }));

/** The lines of an exported log, written here anew from the documentation, and not by the program's own code. */
export const linesOf = (
  events: readonly object[],
  header: object = { format: 'keyledger-log', version: 1 },
): string[] => {
  const lines = [header, ...events].map((value) => `${JSON.stringify(value)}\n`);
  const sha256 = createHash('sha256').update(lines.join('')).digest('hex');
  return [...lines, `${JSON.stringify({ events: events.length, sha256 })}\n`];
};

/** Writes an exported log. */
export const writeLines = (path: string, lines: readonly string[]): void =>
  writeFileSync(path, lines.join(''));
