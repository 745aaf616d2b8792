import { setImmediate as nextTurn } from 'node:timers/promises';
import { countOf, type Shadow } from '../stores/embedded/index.ts';
import type { CommandInput } from './command.ts';
import { withProgress } from './progress.ts';

/** Replays the log into the shadow, giving way to signals between the steps. */
export const replayInto = (
  shadow: Shadow,
  input: Parameters<Shadow['replay']>[0],
  { signal, screen }: Pick<CommandInput, 'signal' | 'screen'>,
): Promise<void> =>
  withProgress({ what: 'replaying', total: countOf(input.log ?? shadow.db) }, screen, async ({ add }) => {
    for (const events of shadow.replay(input)) {
      signal.throwIfAborted();
      add(events);
      await nextTurn();
    }
  });
