import type { StoredEvent } from '../core/event.ts';
import type { CheckpointFact } from '../events/checkpoint.ts';
import { blockLeaves, fingerprintBytes, fingerprintOf, leafOfEvent } from './leaves.ts';
import { rootOf, type GrowingTree, type Hash } from './merkle.ts';

/** What a checkpoint says of the events that it is the first to cover. */
type Covered = Pick<CheckpointFact['data'], 'last' | 'blocks' | 'fingerprints'>;

/** The end of a log on its way under a checkpoint, behind the whole blocks of `tree`, which grows. */
export const createPart = (tree: GrowingTree) => {
  const blocks: Covered['blocks'] = [];
  /** Fingerprints, one behind the other: a view of each leaf would hold all of it, past the young generation. */
  let fingerprints = Buffer.alloc(blockLeaves * fingerprintBytes);
  let fresh = 0;
  /** Leaves of the block that is not whole yet, and its first event. */
  const leaves: Hash[] = [];
  let first: Pick<StoredEvent, 'id' | 'time'> = { id: '', time: '' };
  let last = '';
  let hasNews = false;

  /** Takes an event that a checkpoint covers already. */
  const put = (event: StoredEvent): Hash => {
    const leaf = leafOfEvent(event);
    if (leaves.length === 0) first = event;
    leaves.push(leaf);
    last = event.id;
    if (leaves.length === blockLeaves) {
      const hash = rootOf(leaves.splice(0));
      tree.add(hash, blockLeaves);
      blocks.push({ hash: hash.toString('base64'), first: first.id, time: first.time });
    }
    return leaf;
  };

  return {
    put,
    /** Takes an event that no checkpoint covers. */
    putFresh: (event: StoredEvent): void => {
      const at = fresh * fingerprintBytes;
      if (at === fingerprints.length) fingerprints = Buffer.concat([fingerprints], 2 * at);
      fingerprintOf(put(event)).copy(fingerprints, at);
      fresh += 1;
      hasNews ||= event.type !== 'LogSealed';
    },
    /** How many of them. */
    fresh: (): number => fresh,
    /** Whether they are more than checkpoints. */
    hasNews: (): boolean => hasNews,
    /** How many events there are from the beginning of the log. */
    size: (): number => tree.size() + leaves.length,
    /** The root over all of these, base64. */
    root: (): string => {
      const whole = tree.copy();
      for (const leaf of leaves) whole.add(leaf);
      return whole.root().toString('base64');
    },
    covered: (): Covered => ({
      last,
      blocks,
      fingerprints: fingerprints.toString('base64', 0, fresh * fingerprintBytes),
    }),
  };
};

/** The end of a log. */
export type Part = ReturnType<typeof createPart>;
