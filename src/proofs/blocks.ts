import { setImmediate as nextTurn } from 'node:timers/promises';
import { startOfLog, toPosition, type Position, type StoredEvent } from '../core/event.ts';
import { readPageEventsMax, type EventStore } from '../core/ports.ts';
import type { CheckpointFact } from '../events/checkpoint.ts';
import { blockLeaves, leafOfEvent } from './leaves.ts';
import { createTree, nodeOf, rootOf, splitOf, type GrowingTree, type Hash, type Subtree } from './merkle.ts';

/** The log is not what was sealed. */
export class BrokenSeal extends Error {
  override readonly name = 'BrokenSeal';
}

/** What is read of the log. */
export type BlocksNeeds = {
  readonly log: Pick<EventStore, 'readAll'>;
  /** The event of this id, which happened at this time; absent where it is not found around that. */
  readonly findEvent: (id: string, time: string) => Promise<StoredEvent | undefined>;
};

/** A whole block; its place is remembered once it has been looked for. */
type Block = { readonly hash: Hash; readonly first: string; readonly time: string; position?: Position };

/** The events of a block, as far as it goes, and their leaves. */
type BlockRead = { readonly events: readonly StoredEvent[]; readonly leaves: readonly Hash[] };

/** The event that so many stand before; absent where the log is shorter. Reads all of them. */
const nthEvent = async (
  { readAll }: Pick<EventStore, 'readAll'>,
  before: number,
): Promise<StoredEvent | undefined> => {
  let at = startOfLog;
  for (let left = before; ;) {
    const page = await readAll(at, readPageEventsMax);
    if (left < page.length) return page[left];
    left -= page.length;
    const last = page.at(-1);
    if (last === undefined) return undefined;
    at = last.position;
    await nextTurn();
  }
};

/** The roots of all perfect subtrees of whole blocks. */
const createLevels = () => {
  const levels: Hash[][] = [[]];
  return {
    add: (block: Hash): void => {
      let hash = block;
      for (let level = 0; ; level += 1) {
        const row = (levels[level] ??= []);
        row.push(hash);
        const left = row.at(-2);
        if (row.length % 2 === 1 || left === undefined) return;
        hash = nodeOf(left, hash);
      }
    },
    /** The root over so many leaves from there; absent where it is no perfect subtree of whole blocks. */
    at: (begin: number, leaves: number): Hash | undefined => {
      const level = Math.log2(leaves / blockLeaves);
      return Number.isInteger(level) ? levels[level]?.[begin / leaves] : undefined;
    },
  };
};

/** The whole blocks of a log, whose roots are known, and the one behind them. Holds some 200 bytes for each. */
export const createBlocks = ({ log, findEvent }: BlocksNeeds) => {
  const levels = createLevels();
  const blocks: Block[] = [];

  /** Where a whole block begins: around the time of its first event, else by counting from the start of the log. */
  const positionOf = async (number: number): Promise<Position> => {
    const block = blocks[number];
    if (block === undefined) throw new Error(`There is no whole block ${number}.`);
    if (block.position !== undefined) return block.position;
    const found = await findEvent(block.first, block.time);
    const event = found ?? (await nthEvent(log, number * blockLeaves));
    if (event?.id !== block.first)
      throw new BrokenSeal(`The first event of block ${number} is not where it was sealed.`);
    block.position = event.position;
    return event.position;
  };

  /** Behind which position the block of this number begins. */
  const beforeBlock = async (number: number): Promise<Position> => {
    if (number === 0) return startOfLog;
    if (blocks[number] !== undefined) return toPosition(BigInt(await positionOf(number)) - 1n);
    // What is not whole yet begins behind the last one that is.
    const before = toPosition(BigInt(await positionOf(number - 1)) - 1n);
    return (await log.readAll(before, blockLeaves)).at(-1)?.position ?? before;
  };

  const readBlock = async (block: number): Promise<BlockRead> => {
    const events = await log.readAll(await beforeBlock(block), blockLeaves);
    return { events, leaves: events.map(leafOfEvent) };
  };

  /** Reads for one proof: each block once, whatever is asked of it. */
  const createReading = () => {
    const read = new Map<number, Promise<BlockRead>>();
    const blockOf = (block: number): Promise<BlockRead> => {
      const reading = read.get(block) ?? readBlock(block);
      read.set(block, reading);
      return reading;
    };
    const subtree: Subtree = async (begin, end) => {
      const perfect = levels.at(begin, end - begin);
      if (perfect !== undefined) return perfect;
      const block = Math.floor(begin / blockLeaves);
      if (block === Math.floor((end - 1) / blockLeaves)) {
        const from = begin % blockLeaves;
        return rootOf((await blockOf(block)).leaves.slice(from, from + end - begin));
      }
      const middle = begin + splitOf(end - begin);
      return nodeOf(await subtree(begin, middle), await subtree(middle, end));
    };
    return { blockOf, subtree };
  };

  return {
    count: (): number => blocks.length,
    add: ({ hash, first, time }: CheckpointFact['data']['blocks'][number]): void => {
      const root = Buffer.from(hash, 'base64');
      blocks.push({ hash: root, first, time });
      levels.add(root);
    },
    positionOf,
    beforeBlock,
    createReading,
    /** The tree over all whole blocks. */
    tree: (): GrowingTree => {
      const tree = createTree();
      for (const { hash } of blocks) tree.add(hash, blockLeaves);
      return tree;
    },
  };
};
