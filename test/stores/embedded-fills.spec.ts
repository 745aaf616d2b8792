import { join } from 'node:path';
import { expect } from 'chai';
import type { Append } from '../../src/core/ports.ts';
import {
  dataFileName,
  headOf,
  openShadow,
  rebuildOffline,
  registeredIn,
  rowsOf,
} from '../../src/stores/embedded/index.ts';
import { openDatabase, type Database } from '../../src/stores/embedded/sqlite.ts';
import { openTally, temporaryFolder } from '../support/embedded.ts';
import { between, pick, seeded, testSeed } from '../support/random.ts';
import { close, count, open, strike } from '../support/tally-events.ts';
import { decode, projections } from '../support/tally-projections.ts';
import { until } from '../support/waiting.ts';

// KEYLEDGER_TEST_SEED: repeats what was drawn.
const seed = testSeed();

/** Several pages of a fill, and documents that change in the page that makes them and in later ones. */
const events = 2_500;

/** Appends that are on their way at the same time; no two of them to one stream. */
const together = 50;

/** So many documents that most are forgotten from page to page, and all but the newest have a past. */
const streams = 900;

/** A random history of tallies, where no stream is appended to twice in a row. */
const createHistory = () => {
  const random = seeded(seed);
  const revisions = new Map<string, number>();
  const appendTo = (stream: string): Append => {
    const at = revisions.get(stream);
    revisions.set(stream, (at ?? -1) + 1);
    if (at === undefined) return open(stream, pick(random, ['one', 'two']));
    return random() < 0.05 ? close(stream, at) : count(stream, at, between(random, 1, 9));
  };
  return (): readonly Append[] => {
    const chosen = new Set(Array.from({ length: together }, () => between(random, 1, streams)));
    return [...chosen].map((n) =>
      random() < 0.1
        ? strike(`strike-${revisions.size}-${n}-${random()}`, 'none', `id-${n % 40}`, between(random, 1, 99))
        : appendTo(`tally-${n}`),
    );
  };
};

/** Every row of every read model, and the columns of every index by the read model that has it. */
const contentsOf = (db: Database) =>
  new Map(
    projections.map((projection) => {
      const table = registeredIn(db).find(({ name }) => name === projection.name)?.table ?? '';
      const rows = (['documents', 'past'] as const).flatMap((part) => [
        ...rowsOf(db, projection, table, part),
      ]);
      const indexes = db
        .prepare<{ sql: string }>(
          `SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL
           AND tbl_name IN (?1, replace(?1, 'documents_', 'past_')) ORDER BY sql`,
        )
        .all(table)
        .map(({ sql }) => sql.replaceAll(/_\d+/g, ''));
      return [projection.name, { rows, indexes }] as const;
    }),
  );

/** Every event, and the indexes of the log. */
const logOf = (db: Database) => [
  db.prepare('SELECT * FROM events ORDER BY position').all(),
  db.prepare("SELECT name, sql FROM sqlite_master WHERE tbl_name = 'events' ORDER BY name").all(),
];

describe('filling read models', () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ dir, remove } = await temporaryFolder());
  });
  afterEach(() => remove());

  const read = <T>(work: (db: Database) => T): T => {
    const db = openDatabase(join(dir, dataFileName), { readOnly: true });
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  const tables = (): number =>
    read((db) => db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table'").all().length);
  const write = (sql: string): void => {
    const db = openDatabase(join(dir, dataFileName));
    db.exec(sql);
    db.close();
  };
  /** Appends the history; the read models are then as the appends have left them. */
  const arrange = async (): Promise<void> => {
    const engine = await openTally(dir);
    const next = createHistory();
    for (let n = 0; n < events; n += together)
      await Promise.all(next().map((append) => engine.events.append(append)));
    await engine.close();
  };

  const refill = async (projectionsModule?: string): Promise<void> => {
    const input = { projections, decode, ...(projectionsModule && { projectionsModule }) };
    for await (const _ of rebuildOffline(dir, dataFileName, input)) continue;
  };
  const projectionsModule = new URL('../support/tally-projections.js', import.meta.url).href;

  for (const [what, fill] of [
    ['at the start', async () => write('UPDATE read_models SET version = 0')],
    ['offline', () => refill()],
    ['offline, with the log read by another thread', () => refill(projectionsModule)],
  ] as const)
    it(`${what} leaves every row as the appends had left it, and every index (seed ${seed})`, async () => {
      await arrange();
      const kept = read(contentsOf);
      const left = read((db) => registeredIn(db).map(({ table }) => table));
      await fill();
      await (await openTally(dir)).close();
      expect(read((db) => registeredIn(db).map(({ table }) => table))).to.not.include.members(left);
      expect(read(contentsOf)).to.deep.equal(kept);
      expect(kept.get('tallies')?.indexes, 'indexes of a grouped and subgrouped read model').to.have.length(
        6,
      );
    });

  it(`offline keeps the folder as it was where an event cannot be projected, or nobody waits for the end (seed ${seed})`, async () => {
    await arrange();
    const kept = read(contentsOf);
    const before = tables();
    for await (const _ of rebuildOffline(dir, dataFileName, { projections, decode, projectionsModule }))
      break;
    expect(read(contentsOf), 'of which nobody waited for the end').to.deep.equal(kept);
    const middle = Math.floor(events / 2);
    write(`UPDATE events SET type = 'Broken' WHERE position = ${middle}`);
    for (const module of [projectionsModule, undefined]) {
      const failure = await refill(module).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(String(failure)).to.equal('Error: This reducer is broken.');
    }
    const nowhere = await refill(new URL('nowhere.js', projectionsModule).href).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(String(nowhere)).to.match(/Cannot find module/);
    write(`UPDATE events SET type = 'Counted' WHERE position = ${middle}`);
    expect(read(contentsOf)).to.deep.equal(kept);
    expect(tables()).to.equal(before);
  });

  it(`beside the service makes the same rows and indexes (seed ${seed})`, async () => {
    await arrange();
    const kept = read(contentsOf);
    const shadow = openShadow();
    const copy = openShadow();
    const path = join(dir, dataFileName);
    const log = openDatabase(path, { readOnly: true });
    try {
      const taken = [...shadow.replay({ projections, decode, log })];
      expect(taken.length).to.be.above(0);
      expect(contentsOf(shadow.db)).to.deep.equal(kept);

      const upTo = Number(headOf(log));
      for (const _ of copy.takeFile({ path, upTo })) continue;
      expect(logOf(copy.db)).to.deep.equal(logOf(log));
      for (const _ of copy.replay({ projections, decode, ahead: { path, upTo, projectionsModule } }))
        continue;
      expect(contentsOf(copy.db)).to.deep.equal(kept);
    } finally {
      copy.close();
      log.close();
      shadow.close();
    }
  });

  it(`for several rebuilds at once misses nothing that is appended meanwhile (seed ${seed})`, async () => {
    await arrange();
    const engine = await openTally(dir);
    const rebuilding = { isOver: false };
    const rebuilt = Promise.all(projections.map(({ name }) => engine.readModels.rebuild(name))).finally(
      () => {
        rebuilding.isOver = true;
      },
    );
    let appended = 0;
    for (; !rebuilding.isOver; appended += 1) await engine.events.append(open(`meanwhile-${appended}`));
    await rebuilt;
    expect(appended).to.be.above(0);
    for (let n = 0; n < appended; n++)
      expect(await engine.readModels.documents('tallies').get(`meanwhile-${n}`)).to.have.property('total', 0);
    await engine.close();
    const shadow = openShadow();
    const log = openDatabase(join(dir, dataFileName), { readOnly: true });
    try {
      for (const _ of shadow.replay({ projections, decode, log }));
      expect(read(contentsOf)).to.deep.equal(contentsOf(shadow.db));
    } finally {
      log.close();
      shadow.close();
    }
  });

  it('tells what stands against a rebuild of that read model alone, and does the others', async () => {
    const engine = await openTally(dir);
    await engine.events.append(open('tally-1'));
    await engine.events.append(open('tally-2'));
    await engine.close();
    write("UPDATE events SET type = 'Broken' WHERE position = 2");
    const again = await openTally(dir);
    const before = tables();
    const [journal, tallies] = await Promise.allSettled([
      again.readModels.rebuild('journal'),
      again.readModels.rebuild('tallies'),
    ]);
    expect(journal.status).to.equal('fulfilled');
    expect(tallies).to.have.property('reason').that.has.property('message', 'This reducer is broken.');
    expect(await again.readModels.documents('tallies').get('tally-1')).to.have.property('total', 0);
    expect(await again.readModels.documents('journal').page({ group: 'tally-2', limit: 9 })).to.be.empty;
    await until('nothing is left behind', () => tables() === before);
    await again.close();
  });
});
