import type { Codec, Position } from '../core/event.ts';
import type { EventStore } from '../core/ports.ts';
import type { CheckpointFact } from '../events/checkpoint.ts';
import { createBlocks, type BlocksNeeds } from './blocks.ts';
import { readNote, type Checkpoint } from './checkpoint.ts';

/** Checkpoints that are read at once. */
const checkpointsAtOnce = 32;

/** A checkpoint of the log, and the event that states it. */
export type Sealed = Checkpoint & {
  readonly number: number;
  readonly note: string;
  readonly event_id: string;
  readonly position: Position;
};

/** What is read of the log. */
export type SealedLogNeeds = BlocksNeeds & {
  readonly log: Pick<EventStore, 'readStream'>;
  readonly decode: Codec['decode'];
  /** The stream of the checkpoint of this number. */
  readonly checkpointStream: (number: number) => string;
};

/** Reads the checkpoint of this number; absent where there is none yet. */
const createReadSealed =
  ({ log, decode, checkpointStream }: SealedLogNeeds) =>
  async (number: number): Promise<(Sealed & Pick<CheckpointFact['data'], 'blocks'>) | undefined> => {
    const [stored] = await log.readStream(checkpointStream(number));
    if (stored === undefined) return undefined;
    const { data } = decode(stored) as unknown as CheckpointFact;
    const { note, blocks } = data;
    return { ...readNote(note), number, note, blocks, event_id: stored.id, position: stored.position };
  };

/**
 * What is sealed of the log, as its checkpoints tell: they are read once each, and of the events only those of the
 * blocks that are asked about.
 */
export const createSealedLog = (needs: SealedLogNeeds) => {
  const readSealed = createReadSealed(needs);
  const blocks = createBlocks(needs);
  const sizes: number[] = [];
  let latest: Sealed | undefined;
  let reading: Promise<void> | undefined;

  const take = ({ blocks: fresh, ...sealed }: NonNullable<Awaited<ReturnType<typeof readSealed>>>): void => {
    latest = sealed;
    sizes.push(sealed.tree_size);
    for (const block of fresh) blocks.add(block);
  };

  const readOn = async (): Promise<void> => {
    for (;;) {
      const from = sizes.length + 1;
      const numbers = Array.from({ length: from === 1 ? 1 : checkpointsAtOnce }, (_, n) => from + n);
      for (const sealed of await Promise.all(numbers.map(readSealed))) {
        if (sealed === undefined) return;
        take(sealed);
      }
    }
  };

  return {
    /** Reads the checkpoints that have come; answers the last one. Reads on its own behalf, whoever asks. */
    advance: async (): Promise<Sealed | undefined> => {
      await (reading ??= readOn().finally(() => (reading = undefined)));
      return latest;
    },
    readSealed,
    /** How many leaves each checkpoint covers, by its number less one. */
    sizes: (): readonly number[] => sizes,
    blocks,
  };
};

/** What is sealed of a log. */
export type SealedLog = ReturnType<typeof createSealedLog>;
