import type { StoredEvent } from '../core/event.ts';
import type { StreamEnds } from '../proofs/verification.ts';
import { openScratch } from './scratch.ts';

/** Where the streams end that have been read, on disk: there can be more than memory holds. */
export const createStreamEnds = (): StreamEnds & { readonly close: () => void } => {
  const db = openScratch(`
    CREATE TABLE ends (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL, hash TEXT NOT NULL)
      STRICT, WITHOUT ROWID;
  `);
  const begin = db.prepare('INSERT INTO ends VALUES (?, 0, ?) ON CONFLICT DO NOTHING');
  const next = db.prepare(
    'UPDATE ends SET revision = ?, hash = ? WHERE stream = ? AND revision = ? AND hash = ?',
  );
  const endOf = db.prepare<{ revision: number; hash: string }>(
    'SELECT revision, hash FROM ends WHERE stream = ?',
  );
  const put = db.prepare(
    'INSERT INTO ends VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET revision = excluded.revision, hash = excluded.hash',
  );

  const isNext = ({ stream, revision, previous }: StoredEvent, hash: string): boolean => {
    if (revision === 0) return previous === undefined && begin.run(stream, hash).changes === 1;
    return previous !== undefined && next.run(revision, hash, stream, revision - 1, previous).changes === 1;
  };

  const against = ({ stream, revision, hash, previous }: StoredEvent): string | undefined => {
    const end = endOf.get(stream);
    const wanted = end === undefined ? 0 : end.revision + 1;
    if (revision !== wanted) return `is revision ${revision} of its stream, and ${wanted} should come next`;
    // Events from before there were hashes name nothing.
    if (hash === undefined && previous === undefined) return undefined;
    return previous === end?.hash ? undefined : 'names another event before it than the one that is there';
  };

  return {
    take: (event, hash) => {
      if (isNext(event, hash)) return undefined;
      const why = against(event);
      put.run(event.stream, event.revision, hash);
      return why;
    },
    close: () => db.close(),
  };
};
