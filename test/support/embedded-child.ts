import { openEmbedded } from '../../src/stores/embedded/index.ts';
import { count, open } from './tally-events.ts';

/**
 * A process that can be killed: opens the folder of its first argument with the faults of its second (or `none`),
 * says `open`, and then by its third `load`s (each stream whose two appends are acknowledged is a line) or
 * `rebuild`s.
 */
const [, , dir = '', faultsModule = 'none', task = 'load'] = process.argv;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  const { events, readModels } = await openEmbedded({
    dir,
    projectionsModule: new URL('./tally-projections.js', import.meta.url).href,
    ...(faultsModule === 'none' ? {} : { faultsModule }),
    onFatal: (error) => {
      say(`fatal ${error.message}`);
      process.exit(1);
    },
  });
  say('open');
  const load = async (appender: number): Promise<void> => {
    for (let n = 0; ; n++) {
      const id = `child-${process.pid}-${appender}-${n}`;
      await events.append(open(id));
      await events.append(count(id, 0, n));
      say(id);
    }
  };
  if (task === 'load') await Promise.all(Array.from({ length: 32 }, (_, appender) => load(appender)));
  await readModels.rebuild('tallies');
  say('rebuilt');
} catch (error) {
  say(error instanceof Error ? `${error.name}: ${error.message}` : 'unknown');
  process.exit(2);
}
