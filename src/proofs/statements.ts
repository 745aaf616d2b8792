import type { Codec, StoredEvent } from '../core/event.ts';
import { textOf, type Checkpoint } from './checkpoint.ts';
import { createClaims, type Claim } from './claims.ts';
import type { Faults, Named } from './faults.ts';
import type { VerifierKey } from './signed-note.ts';

/** A checkpoint that somebody kept, and what it is called where it is told of. */
export type Kept = { readonly name: string; readonly checkpoint: Checkpoint };

/** What the checkpoints of a log are read from, and by. */
export type StatementsNeeds = {
  readonly decode: Codec['decode'];
  readonly keys: readonly VerifierKey[];
  readonly kept: readonly Kept[];
  /** The events that state checkpoints, in the log's order: read ahead of the log itself. */
  readonly checkpointEvents: AsyncIterator<StoredEvent, void>;
};

/** Reads the events that state checkpoints, ahead of the log, and shows each that can be relied on to `take`. */
export const createStatements = (
  { decode, keys, kept, checkpointEvents }: StatementsNeeds,
  faults: Faults,
  take: (claim: Claim) => void,
) => {
  /** What those that were kept say, and which of it the log states. By their text: others may have signed a kept one too. */
  const keptTexts = new Set(kept.map(({ checkpoint }) => textOf(checkpoint)));
  const stated = new Set<string>();
  let readClaim: ReturnType<typeof createClaims> | undefined;
  let isAllRead = false;
  let read = 0;
  let comeUpon = 0;
  let checkpoints = 0;
  let sealedAt: string | null = null;

  /** Answers whether there was one more. */
  const readOne = async (toClaim: ReturnType<typeof createClaims>): Promise<boolean> => {
    const { value, done } = await checkpointEvents.next();
    if (done === true) {
      isAllRead = true;
      return false;
    }
    read += 1;
    const { claim, why } = toClaim(value);
    if (why !== undefined) faults.tellAt(null, value, why);
    if (claim === undefined) return true;
    checkpoints += 1;
    sealedAt = claim.checkpoint.time;
    const text = textOf(claim.checkpoint);
    if (keptTexts.has(text)) stated.add(text);
    take(claim);
    return true;
  };

  /** Reads on while it is so. */
  const readWhile = async (isSo: () => boolean): Promise<void> => {
    if (readClaim === undefined) return;
    for (let goesOn = !isAllRead; goesOn && isSo();) goesOn = await readOne(readClaim);
  };

  return {
    begin: (firstEventId: string): void => {
      readClaim ??= createClaims({ decode, keys, firstEventId });
    },
    isAllRead: (): boolean => isAllRead,
    readWhile,
    /** What states a checkpoint in the log has to be among what is read ahead of it, or what it says would not count. */
    find: async (event: Named, index: number): Promise<void> => {
      comeUpon += 1;
      await readWhile(() => read < comeUpon);
      if (read < comeUpon)
        faults.tellAt(
          index,
          event,
          'states a checkpoint that is not found by its stream: it was not looked at',
        );
    },
    /** The log has ended; answers what was read. */
    end: (): { readonly checkpoints: number; readonly sealed_at: string | null } => {
      for (const { name, checkpoint } of kept)
        if (!stated.has(textOf(checkpoint)))
          faults.tell(`the checkpoint in ${name} is not among those of the log`);
      return { checkpoints, sealed_at: sealedAt };
    },
  };
};
