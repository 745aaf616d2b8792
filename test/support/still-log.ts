import { startOfLog, type StoredEvent } from '../../src/core/event.ts';
import type { EventStore } from '../../src/core/ports.ts';

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * A log whose readers stand still: it takes and answers what `events` does, but whoever follows it from its start, as
 * a projector does, sees it empty until `flow` is called. So what reaches the read models came from a command.
 */
export const createStillLog = (events: EventStore): EventStore & { readonly flow: () => void } => {
  const flowing = new AbortController();
  return {
    ...events,
    flow: () => flowing.abort(),
    head: async () => (flowing.signal.aborted ? events.head() : startOfLog),
    readAll: async (after, limit) => (flowing.signal.aborted ? events.readAll(after, limit) : []),
    readAllBack: async (before, limit) => (flowing.signal.aborted ? events.readAllBack(before, limit) : []),
    subscribe: async function* (after, signal): AsyncGenerator<StoredEvent, void> {
      await Promise.race([aborted(flowing.signal), aborted(signal)]);
      if (!signal.aborted) yield* events.subscribe(after, signal);
    },
  };
};
