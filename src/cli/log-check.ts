import { startOfLog, type StoredEvent } from '../core/event.ts';
import { decode } from '../projections/index.ts';
import { hashOf } from '../proofs/event-hash.ts';
import { DamagedFile } from './log-file.ts';
import { openScratch } from './scratch.ts';

/** What of the log so far has to be known, on disk: a log is longer than memory is wide. */
const createSeen = () => {
  const db = openScratch(`
    CREATE TABLE ids (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE streams (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `);
  const putId = db.prepare('INSERT INTO ids VALUES (?) ON CONFLICT DO NOTHING');
  const begin = db.prepare('INSERT INTO streams VALUES (?, 0) ON CONFLICT DO NOTHING');
  const go = db.prepare('UPDATE streams SET revision = revision + 1 WHERE stream = ? AND revision = ?');
  return {
    /** False where the id was there before. */
    id: (id: string): boolean => putId.run(id).changes === 1,
    /** False where the revision is not the stream's next one. */
    revision: (stream: string, revision: number): boolean =>
      (revision === 0 ? begin.run(stream) : go.run(stream, revision - 1)).changes === 1,
    close: (): void => db.close(),
  };
};

const isReadable = (event: StoredEvent): boolean => {
  try {
    decode(event);
    return true;
  } catch {
    return false;
  }
};

/** What is wrong with what an event says by itself; absent where nothing is. */
export const faultIn = (event: StoredEvent): string | undefined => {
  const { type, version, hash } = event;
  if (hash !== undefined && hash !== hashOf(event)) return 'is not what its hash says';
  // Without what the decoder says: it can quote the data.
  return isReadable(event) ? undefined : `(${type}, version ${version}) can't be read by this program`;
};

const isPlain = (text: string): boolean => JSON.stringify(JSON.parse(text)) === text;

/**
 * Holds events against what a log is: positions that rise, revisions without gap, ids that are unique, nothing that is
 * not what its hash says, and nothing that this program can't read. `take` throws `DamagedFile`. With `plainJson`, also
 * JSON in another spelling than this program's own is refused, for a target that keeps the values and not the text.
 */
export const createCheck = ({ plainJson }: { readonly plainJson: boolean }) => {
  const seen = createSeen();
  let last = startOfLog;
  return {
    take: (event: StoredEvent): void => {
      const { id, stream, revision, position, data, cause } = event;
      const refuse = (why: string): DamagedFile => new DamagedFile(`event ${id} ${why}`);
      if (position <= last) throw refuse('does not stand behind the one before it');
      if (!Number.isSafeInteger(Number(position))) throw refuse('has a position that is too large');
      if (!seen.id(id)) throw refuse('is there twice');
      if (!seen.revision(stream, revision)) throw refuse(`is not the next of its stream (${revision})`);
      const fault = faultIn(event);
      if (fault !== undefined) throw refuse(fault);
      if (plainJson && !(isPlain(data) && isPlain(cause)))
        throw refuse('has JSON text that this event store would not keep as it is');
      last = position;
    },
    close: seen.close,
  };
};
