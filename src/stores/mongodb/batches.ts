import { setTimeout as passed } from 'node:timers/promises';

/** How long a batch waits to be filled, in milliseconds. */
const lingerMs = 5;

/** Gathers what comes in quick succession: batches of 1 to `max`, in order. Ends, and fails, with its source. */
export async function* batches<T>(source: AsyncIterable<T>, max: number): AsyncGenerator<readonly T[], void> {
  const items = source[Symbol.asyncIterator]();
  let next = items.next();
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const batch = [first.value];
      const linger = passed(lingerMs, 'full' as const);
      next = items.next();
      while (batch.length < max) {
        const got = await Promise.race([next, linger]);
        if (got === 'full' || got.done === true) break;
        batch.push(got.value);
        next = items.next();
      }
      yield batch;
    }
  } finally {
    next.catch(() => {});
    await items.return?.();
  }
}
