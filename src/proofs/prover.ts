import type { StoredEvent } from '../core/event.ts';
import { BrokenSeal } from './blocks.ts';
import { blockLeaves } from './leaves.ts';
import { hashOf } from './event-hash.ts';
import { consistencyPath, inclusionPath, type Hash } from './merkle.ts';
import type { Sealed, SealedLog } from './sealed-log.ts';

/** Shows that an event is part of what a checkpoint covers (RFC 6962 §2.1.1). Hashes are SHA-256, base64. */
export type Inclusion = {
  /** The event's place in the log, from 0. */
  readonly index: number;
  readonly hash: string;
  readonly leaf_hash: string;
  readonly hashes: readonly string[];
  readonly checkpoint: Sealed;
};

/** Makes proofs from the log. */
export type Prover = {
  /** Checkpoints from a number on, towards higher or lower ones, `limit` at most. */
  readonly list: (from: number, order: 'asc' | 'desc', limit: number) => Promise<readonly Sealed[]>;
  readonly latest: () => Promise<Sealed | undefined>;
  /** Of this size; absent where no checkpoint has it. */
  readonly ofSize: (treeSize: number) => Promise<Sealed | undefined>;
  /** By this checkpoint; absent where it does not cover the event. */
  readonly inclusion: (event: StoredEvent, by: Sealed) => Promise<Inclusion | undefined>;
  /** What shows that the second covers the first (RFC 6962 §2.1.2), as `isConsistent` takes it; base64. */
  readonly consistency: (first: Sealed, second: Sealed) => Promise<readonly string[]>;
};

/** The first number from 0 below `end` for which it is so, where it is so for all behind it; `end` where for none. */
const firstThat = async (end: number, isSo: (n: number) => Promise<boolean> | boolean): Promise<number> => {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Proofs over what is sealed. */
export const createProver = (sealedLog: SealedLog): Prover => {
  const { advance, readSealed, sizes, blocks } = sealedLog;
  const { positionOf, createReading } = blocks;

  const get = async (number: number): Promise<Sealed> => {
    const found = await readSealed(number);
    if (found === undefined) throw new BrokenSeal(`Checkpoint ${number} is not in the log any more.`);
    const { blocks: _, ...sealed } = found;
    return sealed;
  };

  const ofSize = async (treeSize: number): Promise<Sealed | undefined> => {
    await advance();
    const all = sizes();
    const at = await firstThat(all.length, (n) => (all[n] ?? 0) >= treeSize);
    return all[at] === treeSize ? get(at + 1) : undefined;
  };

  /** The place of an event in the log, and its leaf: its block by halving, then its place in that. */
  const placeOf = async (
    { id, position }: StoredEvent,
    { blockOf }: ReturnType<typeof createReading>,
  ): Promise<{ readonly index: number; readonly leaf: Hash } | undefined> => {
    const behind = await firstThat(blocks.count(), async (block) => (await positionOf(block)) > position);
    // Behind the last whole block there may be one more.
    for (const block of behind === 0 ? [0] : [behind - 1, behind]) {
      const { events, leaves } = await blockOf(block);
      const at = events.findIndex((event) => event.id === id);
      const leaf = leaves[at];
      if (leaf !== undefined) return { index: block * blockLeaves + at, leaf };
    }
    return undefined;
  };

  return {
    list: async (from, order, limit) => {
      await advance();
      const step = order === 'asc' ? 1 : -1;
      const numbers = Array.from({ length: limit }, (_, n) => from + n * step);
      return Promise.all(numbers.filter((n) => n >= 1 && n <= sizes().length).map(get));
    },
    latest: advance,
    ofSize,
    inclusion: async (event, checkpoint) => {
      const reading = createReading();
      const place = await placeOf(event, reading);
      if (place === undefined || place.index >= checkpoint.tree_size) return undefined;
      const hashes = await inclusionPath(place.index, checkpoint.tree_size, reading.subtree);
      return {
        index: place.index,
        hash: hashOf(event),
        leaf_hash: place.leaf.toString('base64'),
        hashes: hashes.map((hash) => hash.toString('base64')),
        checkpoint,
      };
    },
    consistency: async (first, second) => {
      const hashes = await consistencyPath(first.tree_size, second.tree_size, createReading().subtree);
      return hashes.map((hash) => hash.toString('base64'));
    },
  };
};
