import { once } from 'node:events';
import { spawnProgram, type ProgramOptions } from './program.ts';
import { within } from './waiting.ts';

/** What a start and a stop may take together, in milliseconds. */
const endMsMax = 25_000;

/**
 * Starts the program and, once it listens, stops it; where it does not come to listen, waits for its end. Answers the
 * exit code (or the signal's name), whether it listened, and all that it wrote.
 */
export const startAndStop = async (
  options: ProgramOptions,
): Promise<{ readonly code: number | string; readonly listened: boolean; readonly written: string }> => {
  const child = spawnProgram(options);
  let written = '';
  let listened = false;
  child.stderr?.on('data', (chunk: Buffer) => (written += chunk.toString()));
  child.stdout?.on('data', (chunk: Buffer) => {
    written += chunk.toString();
    // Once: a second signal would cut the stop short.
    if (listened || !written.includes('"listening"')) return;
    listened = true;
    child.kill('SIGTERM');
  });
  const [code, signal] = (await within('the end', endMsMax, once(child, 'close'))) as [
    number | null,
    string | null,
  ];
  return { code: code ?? signal ?? 'unknown', listened, written };
};
