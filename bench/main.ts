import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startClient } from './client-process.ts';
import { compareSides, compareSizes } from './comparison.ts';
import { formatEngine, measureEngine } from './engine.ts';
import { measureHistory } from './history/history.ts';
import { describeMachine } from './machine.ts';
import { readOptions, usage, type Options } from './options.ts';
import { compareEngines } from './remote/comparison.ts';

/** Where the figures go; ignored by git. */
const resultsFolder = 'bench/results';
/** Where the run's data goes: in the project's folder, as a temporary folder may be in memory. */
const dataFolder = 'data';

const readOptionsOrExit = (): Options => {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return process.exit(2);
  }
};

/** Runs what the options ask for, prints each table as soon as it is there, and answers what went wrong. */
const run = async (options: Options, folder: string): Promise<readonly string[]> => {
  const machine = describeMachine();
  console.log(
    Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  );
  const client = startClient();
  const start = { folder, client };
  try {
    if (options.history) {
      const history = await measureHistory(options, start);
      print(history.title, history.text);
      await save({ time: new Date().toISOString(), machine, options, history });
      return history.trouble;
    }
    if (options.engines) {
      const engines = await compareEngines(options, start, print);
      await save({ time: new Date().toISOString(), machine, options, engines });
      return engines.rates.trouble;
    }
    const sides = await compareSides(options, start);
    print('Requests per second · p50 / p99 in ms', sides.text);
    const engine = options.engine
      ? await measureEngine(join(folder, 'engine'), options.rounds, options.seconds)
      : null;
    if (engine !== null) print('Without HTTP', formatEngine(engine));
    const sizes = options.large ? await compareSizes(options, start) : null;
    if (sizes !== null) print('A large store', sizes.text);
    await save({ time: new Date().toISOString(), machine, options, sides, engine, sizes });
    return [...sides.trouble, ...(sizes?.trouble ?? [])];
  } finally {
    client.stop();
  }
};

const save = async (report: object): Promise<void> => {
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(join(resultsFolder, 'latest.json'), JSON.stringify(report, null, 2));
};

const print = (title: string, text: string): void => console.log(`\n## ${title}\n\n${text}`);

const options = readOptionsOrExit();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await mkdir(dataFolder, { recursive: true });
const folder = await mkdtemp(join(dataFolder, 'bench-'));
try {
  const trouble = await run(options, folder);
  if (trouble.length > 0) {
    console.error(`\nTHESE FIGURES DO NOT HOLD:\n${trouble.join('\n')}`);
    process.exitCode = 1;
  }
  await rm(folder, { recursive: true, force: true });
} catch (error) {
  // The servers' logs say why.
  console.error(`The run failed; its data and logs are left in ${folder}.`);
  throw error;
}
