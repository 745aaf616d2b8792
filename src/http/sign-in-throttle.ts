import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/ports.ts';
import { networkOf } from './client-address.ts';

/** Failures within the window that cost no wait. */
const freeFailures = 5;

/** How long a failure counts, and how long it has to be quiet after a wait until the waits begin anew, in milliseconds. */
const windowMs = 900_000;

/** The first wait and the longest one, each twice the one before, in milliseconds. */
type Waits = { readonly firstMs: number; readonly mostMs: number };

/** For one account tried from one address. */
const pairWaits: Waits = { firstMs: 2_000, mostMs: 900_000 };

/** Tries of one address whose passwords are looked at, or wait for that, at the same time. */
const underWayMax = 32;

/** For all that is tried from one address, behind which there can be many people. */
const addressWaits: Waits = { firstMs: 1_000, mostMs: 60_000 };

/** Failures of one key that are remembered: more than enough for the longest wait. */
const failuresMax = 16;

/**
 * Keys of either kind that are remembered: some 30 MB of all together at the worst. Beyond them the one that was not
 * tried for the longest is forgotten and nobody is refused, so that nobody can shut others out by filling it.
 */
const keysMax = 50_000;

/** A try that may be made. It counts as failed until one of these says other; the first call alone is heard. */
export type Try = {
  /** The password was right: the account's count from this address ends, the address's own stays as it is. */
  readonly succeeded: () => void;
  /** The password was wrong: the next wait, where there is one, begins now. */
  readonly failed: () => void;
  /** Nobody looked at the password (no room, no store): it is as if it had not been tried. */
  readonly abandoned: () => void;
};

/** Counts failed sign-ins, and has those wait who fail too often. */
export type SignInThrottle = {
  /**
   * Asked before the password is looked at. Answers the try, or after how many whole seconds (1 or more) to come
   * back: a try that is refused so costs nothing, and makes no wait longer. `account` is what was typed, in whatever
   * case; of any length.
   */
  readonly begin: (address: string | null, account: string) => Try | { readonly waitSecs: number };
};

/** The times of failures, the newest last; tries under way count among them. */
type Failures = number[];

const waitMsOf = ({ length }: Failures, { firstMs, mostMs }: Waits): number =>
  length < freeFailures ? 0 : Math.min(firstMs * 2 ** (length - freeFailures), mostMs);

/** When the next try may be. */
const untilMsOf = (failures: Failures, waits: Waits): number =>
  (failures.at(-1) ?? 0) + waitMsOf(failures, waits);

/** Lets go what counts no more. */
const forget = (failures: Failures, waits: Waits, nowMs: number): void => {
  if (failures.length >= freeFailures) {
    // All at once: were they to go one by one, the longest waits would never be reached.
    if (nowMs >= untilMsOf(failures, waits) + windowMs) failures.length = 0;
    return;
  }
  while (failures[0] !== undefined && failures[0] <= nowMs - windowMs) failures.shift();
};

const add = (failures: Failures, atMs: number): void => {
  failures.push(atMs);
  if (failures.length > failuresMax) failures.shift();
};

const takeBack = (failures: Failures, atMs: number): void => {
  const place = failures.indexOf(atMs);
  if (place !== -1) failures.splice(place, 1);
};

/** What is counted under the keys of one kind. */
const createCounts = (waits: Waits) => {
  const counts = new LRUCache<string, Failures>({ max: keysMax });
  return {
    /** The failures that still count, and how long to wait for them. */
    look: (key: string, nowMs: number): { readonly failures: Failures; readonly waitMs: number } => {
      const failures = counts.get(key) ?? [];
      forget(failures, waits, nowMs);
      return { failures, waitMs: Math.max(0, untilMsOf(failures, waits) - nowMs) };
    },
    keep: (key: string, failures: Failures): void => void counts.set(key, failures),
    drop: (key: string): void => void counts.delete(key),
  };
};

/** Of one length, and without what somebody typed into the wrong field. */
const pairKey = (network: string, account: string): string =>
  createHash('sha256').update(`${network}\n${account.toLowerCase()}`).digest('base64url');

/**
 * A throttle that remembers nothing of an earlier process. Failures count for an account from an address, and for the
 * address; IPv6 addresses count by /64. Nothing counts for an account alone: else any stranger could have its owner
 * wait for as long as the stranger likes.
 */
export const createSignInThrottle = (clock: Clock): SignInThrottle => {
  const pairs = createCounts(pairWaits);
  const addresses = createCounts(addressWaits);
  /** Tries whose passwords are being looked at, by address. */
  const underWay = new Map<string, number>();
  return {
    begin: (address, account) => {
      const network = address === null ? 'unknown' : networkOf(address);
      const key = pairKey(network, account);
      const beganMs = clock();
      const ofPair = pairs.look(key, beganMs);
      const ofAddress = addresses.look(network, beganMs);
      const waitMs = Math.max(ofPair.waitMs, ofAddress.waitMs);
      if (waitMs > 0) return { waitSecs: Math.ceil(waitMs / 1_000) };
      if ((underWay.get(network) ?? 0) >= underWayMax) return { waitSecs: 1 };
      // Counted before the password is looked at: of a hundred at once, all would find that none has failed yet. Of the
      // address no more than a number is: people who come to work at the same time have not failed.
      add(ofPair.failures, beganMs);
      pairs.keep(key, ofPair.failures);
      underWay.set(network, (underWay.get(network) ?? 0) + 1);
      let isOver = false;
      const once = (end: () => void) => (): void => {
        if (isOver) return;
        isOver = true;
        const others = (underWay.get(network) ?? 1) - 1;
        if (others > 0) underWay.set(network, others);
        else underWay.delete(network);
        end();
      };
      return {
        succeeded: once(() => pairs.drop(key)),
        failed: once(() => {
          const atMs = clock();
          takeBack(ofPair.failures, beganMs);
          add(ofPair.failures, atMs);
          // Others can have failed since this one began.
          const { failures } = addresses.look(network, atMs);
          add(failures, atMs);
          addresses.keep(network, failures);
        }),
        abandoned: once(() => takeBack(ofPair.failures, beganMs)),
      };
    },
  };
};
