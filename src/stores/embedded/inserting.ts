import type { Database, SqlValue } from './sqlite.ts';

/** Rows of one statement: what a call into SQLite costs by itself is as much as a row of a few columns. */
const rowsPerStatement = 50;

/** What goes where. */
export type InsertingInput = {
  readonly table: string;
  readonly columns: readonly string[];
  /** What each column is made of: `?n` for the row's n-th value, or what all rows have; by default its own value. */
  readonly from?: readonly string[];
  /** What is done where a row is there already; by default that fails. */
  readonly onConflict?: string;
};

/** The same for the row that stands behind so many values. */
const behind = (values: number, from: readonly string[]): string =>
  `(${from.map((it) => it.replace(/^\?(\d+)$/, (_, n) => `?${values + Number(n)}`)).join(', ')})`;

/** Inserts rows, which stand one behind the other in one array, each as its values. */
export const createInserting = (
  db: Database,
  { table, columns, from = columns.map((_, n) => `?${n + 1}`), onConflict = '' }: InsertingInput,
) => {
  const width = new Set(from.filter((it) => it.startsWith('?'))).size;
  const inserting = (rows: number) => {
    const places = Array.from({ length: rows }, (_, n) => behind(n * width, from));
    return db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places.join(', ')} ${onConflict}`,
    );
  };
  const one = inserting(1);
  const many = inserting(rowsPerStatement);
  return (values: readonly SqlValue[]): void => {
    let at = 0;
    for (const some = width * rowsPerStatement; at + some <= values.length; at += some)
      many.run(...values.slice(at, at + some));
    for (; at < values.length; at += width) one.run(...values.slice(at, at + width));
  };
};
