import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { TooManyHashes, type Passwords } from '../core/secrets.ts';

/** OWASP's floor for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Two fill both cores of a small machine; more only take memory and time from everything else. */
const inFlightMax = 2;

/** At about 10 ms each, the last of the queue waits well under a second. */
const waitingMax = 64;

/** Argon2id off the event loop, a bounded number at once, behind a bounded queue. */
export const createPasswords = async (): Promise<Passwords> => {
  // Compared with where there is no user, so that an absent user costs the same time as a wrong password.
  const nobody = await hash(randomBytes(32), cost);
  const waiting: (() => void)[] = [];
  const drained: (() => void)[] = [];
  let inFlight = 0;
  let closed = false;

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed || waiting.length >= waitingMax)
      throw new TooManyHashes('Too many passwords are being hashed.');
    if (inFlight < inFlightMax) inFlight += 1;
    // Whoever is done hands its turn over, so `inFlight` stays as it is.
    else await new Promise<void>((turn) => waiting.push(turn));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next !== undefined) next();
      else inFlight -= 1;
      if (inFlight === 0) for (const resolve of drained.splice(0)) resolve();
    }
  };

  return {
    hash: (password) => inTurn(() => hash(password, cost)),
    verify: (known, password) =>
      inTurn(async () => (await verify(known ?? nobody, password)) && known !== undefined),
    drain: async () => {
      closed = true;
      if (inFlight > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
};
