import { startOfLog, type StoredEvent } from '../../src/core/event.ts';
import type { EventStore } from '../../src/core/ports.ts';

/**
 * A log whose readers stand still: it takes and answers what `events` does, but whoever follows it from its start, as
 * a projector does, sees it empty until `flow` is called. So what reaches the read models came from a command.
 */
export const createStillLog = (events: EventStore): EventStore & { readonly flow: () => void } => {
  let flow = (): void => {};
  let isFlowing = false;
  const flowing = new Promise<void>((resolve) => {
    flow = () => {
      isFlowing = true;
      resolve();
    };
  });
  const aborted = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  return {
    ...events,
    flow: () => flow(),
    head: async () => (isFlowing ? events.head() : startOfLog),
    readAll: async (after, limit) => (isFlowing ? events.readAll(after, limit) : []),
    subscribe: async function* (after, signal): AsyncGenerator<StoredEvent, void> {
      await Promise.race([flowing, aborted(signal)]);
      if (!signal.aborted) yield* events.subscribe(after, signal);
    },
  };
};
