import { setImmediate as nextTurn } from 'node:timers/promises';
import { countOf, type Shadow } from '../stores/embedded/index.ts';
import type { CommandInput } from './command.ts';
import { withProgress } from './progress.ts';

/** Replays the log into the shadow, giving way to signals between the steps; answers how many events it has. */
export const replayInto = async (
  shadow: Shadow,
  input: Parameters<Shadow['replay']>[0],
  { signal, screen }: Pick<CommandInput, 'signal' | 'screen'>,
): Promise<number> => {
  const total = countOf(input.log ?? shadow.db);
  await withProgress({ what: 'replaying', total }, screen, async ({ add }) => {
    for (const events of shadow.replay(input)) {
      signal.throwIfAborted();
      add(events);
      await nextTurn();
    }
  });
  return total;
};
