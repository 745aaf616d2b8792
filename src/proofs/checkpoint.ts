import { hash } from 'node:crypto';

/** What a checkpoint says of the log (C2SP tlog-checkpoint, with three lines of our own behind the root). */
export type Checkpoint = {
  /** Which log it is: `keyledger/` and the id of its first event. */
  readonly origin: string;
  /** How many events it covers, from the first one. */
  readonly tree_size: number;
  /** The root of the Merkle tree over their hashes, base64. */
  readonly root_hash: string;
  /** When it was signed, by the service's clock: ISO 8601 in UTC. */
  readonly time: string;
  /** SHA-256 of the note of the checkpoint before it, base64; null in the first. */
  readonly previous: string | null;
  /** SHA-256 of the fingerprints of the events that it covers and the one before it did not, base64. */
  readonly fingerprints: string;
};

/** The text of a checkpoint is not one. */
export class BadCheckpoint extends Error {
  override readonly name = 'BadCheckpoint';
}

/** The origin of the log that begins with this event. */
export const originOf = (firstEventId: string): string => `keyledger/${firstEventId}`;

/** The text that is signed. */
export const textOf = ({ origin, tree_size, root_hash, time, previous, fingerprints }: Checkpoint): string =>
  `${origin}\n${tree_size}\n${root_hash}\ntime ${time}\nprevious ${previous ?? 'none'}\nfingerprints ${fingerprints}\n`;

const form =
  /^(keyledger\/[^\s]+)\n(0|[1-9]\d{0,14})\n([\w+/]{43}=)\ntime (\S+)\nprevious (none|[\w+/]{43}=)\nfingerprints ([\w+/]{43}=)\n$/;

/** Reads the text of a checkpoint. Throws `BadCheckpoint`. */
export const readCheckpoint = (text: string): Checkpoint => {
  const found = form.exec(text);
  if (found === null) throw new BadCheckpoint('It is not a checkpoint of a log of this program.');
  const [, origin = '', size = '', root_hash = '', time = '', previous = '', fingerprints = ''] = found;
  return {
    origin,
    tree_size: Number(size),
    root_hash,
    time,
    previous: previous === 'none' ? null : previous,
    fingerprints,
  };
};

/** The text in a note, whoever signed it: for what has been verified, or is the service's own. */
export const readNote = (note: string): Checkpoint =>
  readCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));

/** What the next checkpoint says of this one: SHA-256 of its note, base64. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64');
