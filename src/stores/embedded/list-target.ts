import type { Projection } from '../../core/projection.ts';
import { createBirths, listBirthColumns } from './births.ts';
import { createInserting } from './inserting.ts';
import { listIndexOf } from './schema.ts';
import type { Database, SqlValue } from './sqlite.ts';
import type { Target } from './target.ts';

/** The writing side of a read model that shows events: what is kept of each is the list that it stands in. */
export const createListTarget = (db: Database, projection: Projection, table: string): Target => {
  const insert = createInserting(db, { table, columns: listBirthColumns });
  const births = createBirths(projection);
  const born: SqlValue[] = [];
  return {
    projection,
    table,
    take: (event, position) => void born.push(...(births(event, position) ?? [])),
    bear: (rows) => void born.push(...rows),
    flush: () => insert(born.splice(0)),
    // No reader keeps any of it.
    committed: () => [],
    rolledBack: () => {
      born.length = 0;
    },
    index: () => db.exec(listIndexOf(table)),
  };
};
