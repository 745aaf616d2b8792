import { performance } from 'node:perf_hooks';
import type { Health } from '../../core/ports.ts';

/** For how long what a call has shown is taken for the present, in milliseconds. */
const freshMs = 5_000;

/** The shortest time between two questions to the server, in milliseconds. */
const askEveryMs = 500;

/**
 * Whether the server takes writes, as the last call showed. Where that is long ago, or was a failure, asking has the
 * server asked too, behind the answer: nobody sends calls to a service that is not ready, and it has to recover.
 */
export const createCondition = (ask: () => Promise<void>) => {
  let refused: string | undefined = 'the event store has not answered yet';
  let learnedAt = -Infinity;
  let askedAt = -Infinity;
  let isAsking = false;

  const learn = (reason: string | undefined): void => {
    refused = reason;
    learnedAt = performance.now();
  };
  const askOnce = async (): Promise<void> => {
    if (isAsking || performance.now() - askedAt < askEveryMs) return;
    isAsking = true;
    askedAt = performance.now();
    await ask().then(
      () => learn(undefined),
      (error: unknown) => learn(error instanceof Error ? error.message : String(error)),
    );
    isAsking = false;
  };

  return {
    learn,
    /** Answers at once. */
    health: (): Health => {
      if (refused !== undefined || performance.now() - learnedAt > freshMs) void askOnce();
      return refused === undefined
        ? { ready: true }
        : { ready: false, reason: `The event store: ${refused}.` };
    },
  };
};
