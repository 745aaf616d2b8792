import { setTimeout as passed } from 'node:timers/promises';

/** How long a condition is waited for unless told, in milliseconds. */
const waitMs = 10_000;

/** How often a condition is looked at, in milliseconds. */
const lookEveryMs = 10;

/** Waits until the condition holds; rejects with `what` where it does not within `ms`. */
export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  ms = waitMs,
): Promise<void> => {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ${ms} ms in vain: ${what}.`);
    await passed(lookEveryMs);
  }
};

/** What the promise resolves with; rejects with `what` where that takes longer than `ms`. */
export const within = async <T>(what: string, ms: number, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Took longer than ${ms} ms: ${what}.`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Does something for each item, `width` at a time. */
export const forEach = async <T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const rest = items[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: width }, lane));
};
