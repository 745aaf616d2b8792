import { toPosition, type Position } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { pastTableOf } from './schema.ts';
import { iterate, type Database } from './sqlite.ts';

/** One row of a read model: whose it is, and all that it holds, as text that is the same where that is the same. */
export type ReadModelRow = {
  readonly id: string;
  /** The position from which it held; of what was alone. */
  readonly since?: Position;
  readonly text: string;
};

/** What is, and what was. */
export type Part = 'documents' | 'past';

/** How a read model stands in a data file. */
export type Registered = {
  readonly name: string;
  readonly version: number;
  readonly table: string;
  readonly checkpoint: Position;
};

/** A row as its table holds it. */
export type DocumentRow = {
  readonly id: string;
  readonly since?: number;
  readonly until?: number;
  readonly revision: number;
  readonly created: number;
  readonly position?: number;
  readonly gone?: 0 | 1;
  readonly grp: string | null;
  readonly sub: string | null;
  readonly body: string;
};

/** Every read model that the data file has. */
export const registeredIn = (db: Database): readonly Registered[] =>
  db
    .prepare<{ name: string; version: number; tbl: string; checkpoint: number }>(
      'SELECT name, version, tbl, checkpoint FROM read_models ORDER BY name',
    )
    .all()
    .map(({ name, version, tbl, checkpoint }) => ({
      name,
      version,
      table: tbl,
      checkpoint: toPosition(checkpoint),
    }));

const textOf = ({ grp, sub, body, until, revision, created, position, gone }: DocumentRow): string => {
  const places = { until, revision, created, position, gone, group: grp, subgroup: sub };
  return `${JSON.stringify(places).slice(0, -1)},"document":${body === '' ? 'null' : body}}`;
};

function* listed(db: Database, table: string): Generator<ReadModelRow, void> {
  const rows = db.prepare<{ created: number; grp: string | null }>(
    `SELECT created, grp FROM ${table} ORDER BY created`,
  );
  for (const { created, grp } of iterate(rows))
    yield { id: toPosition(created), text: JSON.stringify({ group: grp }) };
}

/**
 * The rows of a read model's table in the order of their ids (as bytes), and of one id in that of time; one at a time,
 * for there can be more than memory holds. `toText` says what of a row counts; all of it unless told.
 */
export function* rowsOf(
  db: Database,
  { kind }: Projection,
  table: string,
  part: Part,
  toText: (row: DocumentRow) => string = textOf,
): Generator<ReadModelRow, void> {
  if (kind === 'log') {
    if (part === 'documents') yield* listed(db, table);
    return;
  }
  const rows = db.prepare<DocumentRow>(
    part === 'documents'
      ? `SELECT id, revision, created, position, gone, grp, sub, body FROM ${table} ORDER BY id`
      : `SELECT id, since, until, revision, created, grp, sub, body FROM ${pastTableOf(table)} ORDER BY id, since`,
  );
  for (const row of iterate(rows))
    yield {
      id: row.id,
      ...(row.since === undefined ? {} : { since: toPosition(row.since) }),
      text: toText(row),
    };
}
