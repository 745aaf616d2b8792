import type { Database, SqlValue } from './sqlite.ts';

/** Rows of one statement: what a call into SQLite costs by itself is as much as a row of a few columns. */
const rowsPerStatement = 50;

/** What goes where. */
export type InsertingInput = {
  readonly table: string;
  readonly columns: readonly string[];
  /** Columns that are the same in all rows, as they stand in a statement. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** What is done where a row is there already; by default that fails. */
  readonly onConflict?: string;
};

/** Inserts rows, which stand one behind the other in one array: of each a value for each column. */
export const createInserting = (
  db: Database,
  { table, columns, fixed = {}, onConflict = '' }: InsertingInput,
) => {
  const names = [...columns, ...Object.keys(fixed)].join(', ');
  // Places without a number: the driver looks for the names of those that have one (measured: twice the time).
  const places = `(${[...columns.map(() => '?'), ...Object.values(fixed)].join(', ')})`;
  const inserting = (rows: number) =>
    db.prepare(`INSERT INTO ${table} (${names}) VALUES ${Array(rows).fill(places).join(', ')} ${onConflict}`);
  const one = inserting(1);
  const many = inserting(rowsPerStatement);
  return (values: readonly SqlValue[]): void => {
    let at = 0;
    for (const width = columns.length * rowsPerStatement; at + width <= values.length; at += width)
      many.run(...values.slice(at, at + width));
    for (const width = columns.length; at < values.length; at += width)
      one.run(...values.slice(at, at + width));
  };
};
