import type { StoredEvent } from '../core/event.ts';
import { hashOf } from './event-hash.ts';
import { leafOfHash, type Hash } from './merkle.ts';

/** How many leaves a block has: the root of each whole block is stated with the checkpoint that first covers it. */
export const blockLeaves = 256;

/** How much of a leaf's hash is its fingerprint, in bytes: by it is told which event is not what was sealed. */
export const fingerprintBytes = 8;

/** The event is not what its hash says. */
export class ChangedEvent extends Error {
  override readonly name = 'ChangedEvent';
}

/**
 * The leaf of an event: over its hash, which covers all that it says. An event from before there were hashes counts with
 * the one that it would have. Throws `ChangedEvent` where it is not what its hash says.
 */
export const leafOfEvent = (event: StoredEvent): Hash => {
  const hash = hashOf(event);
  if (event.hash !== undefined && event.hash !== hash)
    throw new ChangedEvent(`Event ${event.id} at position ${event.position} is not what its hash says.`);
  return leafOfHash(hash);
};

/** The fingerprint of a leaf. */
export const fingerprintOf = (leaf: Hash): Buffer => leaf.subarray(0, fingerprintBytes);
