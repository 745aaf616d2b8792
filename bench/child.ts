import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';

const outputBytesMax = 64 * 1024 * 1024;

/** Runs one of the benchmark's own programs to its end and answers what it printed. Throws where it fails. */
export const runProgram = async (name: string, env: Readonly<Record<string, string>>): Promise<string> => {
  const program = fileURLToPath(new URL(`${name}.js`, import.meta.url));
  const running = promisify(execFile)(process.execPath, [program], {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    maxBuffer: outputBytesMax,
  });
  process.once('exit', () => running.child.kill('SIGKILL'));
  return (await running).stdout;
};
