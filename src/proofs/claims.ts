import type { Codec, StoredEvent } from '../core/event.ts';
import type { CheckpointFact } from '../events/checkpoint.ts';
import { BadCheckpoint, digestOf, originOf, readCheckpoint, type Checkpoint } from './checkpoint.ts';
import { fingerprintBytes } from './leaves.ts';
import { BadSignature, openNote, type VerifierKey } from './signed-note.ts';

/** A checkpoint of the log that is signed with one of the keys, and what it says of the events that it was the first to cover. */
export type Claim = {
  readonly number: number;
  readonly note: string;
  readonly checkpoint: Checkpoint;
  /** The first event that it covers and the one before it did not. */
  readonly from: number;
  /** The fingerprints of the leaves from there on, one after the other. */
  readonly fingerprints: Buffer;
};

/** What an event that states a checkpoint comes to; `why` is what stands against it. */
export type Read = { readonly claim?: Claim; readonly why?: string };

/** Reads a kept note. Throws `BadSignature` or `BadCheckpoint`. */
export const readKeptNote = (note: string, keys: readonly VerifierKey[]): Checkpoint =>
  readCheckpoint(openNote(note, keys).text);

type Needs = {
  readonly decode: Codec['decode'];
  readonly keys: readonly VerifierKey[];
  /** The id of the log's first event. */
  readonly firstEventId: string;
};

/**
 * Holds the events that state checkpoints, which come in the log's order, against the keys and against each other. A claim
 * is what was signed, and can be relied on whatever else is wrong with the event.
 */
export const createClaims = ({ decode, keys, firstEventId }: Needs) => {
  let before: Claim | undefined;

  const claimOf = ({ number, note, fingerprints }: CheckpointFact['data']): Claim => {
    const checkpoint = readKeptNote(note, keys);
    if (checkpoint.origin !== originOf(firstEventId)) throw new BadCheckpoint('It is one of another log.');
    const bytes = Buffer.from(fingerprints, 'base64');
    const from = checkpoint.tree_size - bytes.length / fingerprintBytes;
    if (checkpoint.fingerprints !== digestOf(fingerprints) || !Number.isInteger(from) || from < 0)
      throw new BadCheckpoint('Its fingerprints are not those that were signed.');
    return { number, note, checkpoint, from, fingerprints: bytes };
  };

  const placeFault = ({ number, checkpoint, from }: Claim): string | undefined => {
    if (number !== (before?.number ?? 0) + 1) return `is checkpoint ${number}, and not the next one`;
    if (checkpoint.previous !== (before === undefined ? null : digestOf(before.note)))
      return 'does not name the checkpoint before it';
    if (from !== (before?.checkpoint.tree_size ?? 0)) return 'does not go on where the one before it ended';
    return undefined;
  };

  return (event: StoredEvent): Read => {
    try {
      const { data } = decode(event) as unknown as CheckpointFact;
      const claim = claimOf(data);
      const why = placeFault(claim);
      before = claim;
      return why === undefined ? { claim } : { claim, why };
    } catch (error) {
      if (error instanceof BadSignature || error instanceof BadCheckpoint)
        return { why: `states a checkpoint that can't be relied on: ${error.message}` };
      return { why: 'states no checkpoint that can be read' };
    }
  };
};
