import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openEmbedded, type EmbeddedEngine, type EmbeddedOptions } from '../../src/stores/embedded/index.ts';

/** The URL of the tally read models, as they are or as a later program has them. */
export const tallyModule = (query = ''): string =>
  new URL(`./tally-projections.js${query}`, import.meta.url).href;

/** The URL of a faults module; see `embedded-faults.ts`. */
export const faultsModule = (query: Record<string, string>): string =>
  new URL(`./embedded-faults.js?${new URLSearchParams(query).toString()}`, import.meta.url).href;

/** A new empty folder, and how it goes. */
export const temporaryFolder = async (): Promise<{ dir: string; remove: () => Promise<void> }> => {
  const dir = await mkdtemp(join(tmpdir(), 'keyledger-'));
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
};

/** Opens the engine with the tally read models; a fatal error that no test waits for ends the test run. */
export const openTally = (dir: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedEngine> =>
  openEmbedded({
    dir,
    projectionsModule: tallyModule(),
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });

/** An engine on a new folder that goes with it. */
export const openFresh = async (options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedEngine> => {
  const { dir, remove } = await temporaryFolder();
  const engine = await openTally(dir, options);
  return { ...engine, close: () => engine.close().then(remove) };
};

/** A process of `embedded-child.ts`: its lines so far, and its end. */
export type Child = {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<void>;
};

/** Starts `embedded-child.ts` on a folder. */
export const startChild = (dir: string, faults = 'none', task = 'load'): Child => {
  const program = fileURLToPath(new URL('./embedded-child.js', import.meta.url));
  const child = spawn(process.execPath, [program, dir, faults, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => resolve());
  });
  return { process: child, lines, ended };
};
