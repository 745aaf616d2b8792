import type { Entry } from '../proofs/entries.ts';
import type { StreamEnds } from '../proofs/verification.ts';
import { createInserting } from '../stores/embedded/inserting.ts';
import type { SqlValue } from '../stores/embedded/sqlite.ts';
import { openScratch } from './scratch.ts';

/** Streams that are looked for at a time. */
const soughtAtOnce = 100;

/** The last event of a stream, as far as it has been read. */
type End = { readonly revision: number; readonly hash: string };

const against = (
  { revision, hash, previous }: Pick<Entry, 'revision' | 'hash' | 'previous'>,
  end: End | undefined,
): string | undefined => {
  const wanted = end === undefined ? 0 : end.revision + 1;
  if (revision !== wanted) return `is revision ${revision} of its stream, and ${wanted} should come next`;
  // Events from before there were hashes name nothing.
  if (hash === undefined && previous === undefined) return undefined;
  return previous === end?.hash ? undefined : 'names another event before it than the one that is there';
};

/** Where the streams end that have been read, on disk: there can be more than memory holds. */
export const createStreamEnds = (): StreamEnds & { readonly close: () => void } => {
  const db = openScratch(`
    CREATE TABLE ends (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL, hash TEXT NOT NULL)
      STRICT, WITHOUT ROWID;
  `);
  const some = db.prepare<End & { readonly stream: string }>(
    `SELECT stream, revision, hash FROM ends WHERE stream IN (${Array(soughtAtOnce).fill('?').join(', ')})`,
  );
  const begin = createInserting(db, { table: 'ends', columns: ['stream', 'revision', 'hash'] });
  const move = db.prepare('UPDATE ends SET revision = ?, hash = ? WHERE stream = ?');

  const endsOf = (streams: readonly string[]): Map<string, End> => {
    const ends = new Map<string, End>();
    for (let at = 0; at < streams.length; at += soughtAtOnce) {
      const sought: (string | null)[] = streams.slice(at, at + soughtAtOnce);
      while (sought.length < soughtAtOnce) sought.push(null);
      for (const { stream, revision, hash } of some.all(...sought)) ends.set(stream, { revision, hash });
    }
    return ends;
  };

  return {
    take: (entries) => {
      const before = endsOf([...new Set(entries.map(({ stream }) => stream))]);
      const ends = new Map<string, End>();
      const told = entries.map((entry) => {
        const { stream, revision, hash = entry.computed } = entry;
        const why = against(entry, ends.get(stream) ?? before.get(stream));
        ends.set(stream, { revision, hash });
        return why;
      });
      const begun: SqlValue[] = [];
      for (const [stream, { revision, hash }] of ends)
        if (before.has(stream)) move.run(revision, hash, stream);
        else begun.push(stream, revision, hash);
      begin(begun);
      return told;
    },
    close: () => db.close(),
  };
};
