import { join } from 'node:path';
import type { RecordedEvent, StoredEvent } from '../../src/core/event.ts';
import type { Projection } from '../../src/core/projection.ts';
import { decode, projections } from '../../src/projections/index.ts';
import { toStoredEvent, type EventRow } from '../../src/stores/embedded/event-row.ts';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { openDatabase, type Database } from '../../src/stores/embedded/sqlite.ts';

type Row = {
  readonly id: string;
  readonly created: number;
  readonly grp: string | null;
  readonly body: string | null;
};
type Registered = { readonly name: string; readonly tbl: string; readonly checkpoint: number };

/** The log has no gap: not by position, and not in any stream. */
const checkLog = (events: readonly StoredEvent[], problems: string[]): void => {
  const revisions = new Map<string, number>();
  const ids = new Set<string>();
  for (const [at, { position, stream, revision, id }] of events.entries()) {
    if (Number(position) !== at + 1) problems.push(`position ${position} stands at place ${at + 1}`);
    if (revision !== (revisions.get(stream) ?? -1) + 1)
      problems.push(`${stream} has a gap before ${revision}`);
    revisions.set(stream, revision);
    ids.add(id);
  }
  if (ids.size !== events.length) problems.push('an event id is there twice');
};

type Replayed = { readonly document: unknown; readonly created: number; readonly grp: string | null };

/** What the projection says of the whole log, found in the plainest way: in memory, one event after the other. */
const replay = (projection: Projection, events: readonly RecordedEvent[]): ReadonlyMap<string, Replayed> => {
  const documents = new Map<string, Replayed>();
  for (const event of events) {
    for (const { id, to } of projection.on[event.type]?.(event) ?? []) {
      const held = documents.get(id);
      const document = to(held?.document);
      if (document === undefined) documents.delete(id);
      else
        documents.set(id, {
          document,
          created: held?.created ?? Number(event.position),
          grp: held === undefined ? (projection.group?.(document, id) ?? null) : held.grp,
        });
    }
  }
  return documents;
};

/** The rows of a read model as documents; of a list there is only which event stands in it. */
const rowsOf = (db: Database, { kind }: Projection, table: string): readonly Row[] =>
  db
    .prepare<Row>(
      kind === 'log'
        ? `SELECT printf('%020d', created) AS id, created, grp, NULL AS body FROM ${table}`
        : `SELECT id, created, grp, body FROM ${table} WHERE gone = 0`,
    )
    .all();

const checkReadModel = (
  db: Database,
  projection: Projection,
  events: readonly RecordedEvent[],
  problems: string[],
): void => {
  const { name } = projection;
  const model = db
    .prepare<Registered>('SELECT name, tbl, checkpoint FROM read_models WHERE name = ?')
    .get(name);
  if (model === undefined) return void problems.push(`${name} is not registered`);
  if (model.checkpoint !== events.length) problems.push(`${name} stands at ${model.checkpoint}`);
  const wanted = new Map(replay(projection, events));
  for (const { id, created, grp, body } of rowsOf(db, projection, model.tbl)) {
    const replayed = wanted.get(id);
    wanted.delete(id);
    if (replayed === undefined) problems.push(`${name} has ${id}, which the log does not know`);
    else if (
      replayed.created !== created ||
      replayed.grp !== grp ||
      (body !== null && JSON.stringify(replayed.document) !== body)
    )
      problems.push(`${name} has another ${id} than the log`);
  }
  for (const id of wanted.keys()) problems.push(`${name} has no ${id}`);
};

/**
 * Every way in which the data file contradicts itself: gaps in the log, and read models that are not the replay of
 * the log. None where all is well. The program must have stopped.
 */
export const checkDataFile = (dir: string): readonly string[] => {
  const problems: string[] = [];
  const db = openDatabase(join(dir, dataFileName), { readOnly: true });
  try {
    const quick = db.prepare<object>('PRAGMA integrity_check').all();
    if (JSON.stringify(quick.map((row) => Object.values(row)[0])) !== '["ok"]')
      problems.push(`the file is damaged: ${JSON.stringify(quick)}`);
    const rows = db.prepare<EventRow>('SELECT * FROM events ORDER BY position').all();
    const stored = rows.map(toStoredEvent);
    checkLog(stored, problems);
    const events = stored.map(decode);
    for (const projection of projections) checkReadModel(db, projection, events, problems);
  } finally {
    db.close();
  }
  return problems;
};
