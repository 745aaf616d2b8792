import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { toPosition } from '../../src/core/event.ts';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { FolderInUse, dataFileName, type EmbeddedEngine } from '../../src/stores/embedded/index.ts';
import { pragma } from '../../src/stores/embedded/schema.ts';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { faultsModule, openTally, startChild, tallyModule, temporaryFolder } from '../support/embedded.ts';
import { count, open, strike } from '../support/tally-events.ts';
import type { Tally } from '../support/tally-projections.ts';
import { until, within } from '../support/waiting.ts';

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Every document of every stream must be what the stream's events make it. */
const expectWhole = async ({ events, readModels }: EmbeddedEngine): Promise<Map<string, number>> => {
  const totals = new Map<string, number>();
  for (let after = '0'; ;) {
    const page = await events.readAll(after);
    for (const { stream, type, data } of page) {
      const { by = 0 } = JSON.parse(data) as { by?: number };
      if (type !== 'Struck') totals.set(stream, (totals.get(stream) ?? 0) + by);
    }
    after = page.at(-1)?.position ?? after;
    if (page.length === 0) break;
  }
  for (const [stream, total] of totals)
    expect((await readModels.documents<Tally>('tallies').get(stream))?.total, stream).to.equal(total);
  return totals;
};

describe("the embedded engine's folder", () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ dir, remove } = await temporaryFolder());
  });
  afterEach(() => remove());

  /** What each live read model has: documents and their past, or of a list of events the list alone. */
  const usualTables = 5;
  /** Tables of read models in the file: the usual ones, unless something was left behind. */
  const documentTables = (): number => {
    const db = openDatabase(join(dir, dataFileName));
    const names = db
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND (name GLOB 'documents_*' OR name GLOB 'past_*')",
      )
      .all();
    db.close();
    return names.length;
  };

  describe('has one owner', () => {
    it('who is named to a second process, at once', async () => {
      const engine = await openTally(dir);
      const child = startChild(dir);
      await within('the second process gives up', 5_000, child.ended);
      expect(child.lines).to.deep.equal([
        `FolderInUse: The data folder ${dir} is in use by another process (pid ${process.pid}).`,
      ]);
      await engine.close();
    });

    it('even in one process, until it is closed', async () => {
      const engine = await openTally(dir);
      expect(await failure(openTally(dir))).to.be.an.instanceOf(FolderInUse);
      await engine.close();
      await (await openTally(dir)).close();
    });

    it('who is gone when its process is killed', async () => {
      const child = startChild(dir);
      await until('it has opened', () => child.lines.includes('open'));
      child.process.kill('SIGKILL');
      await child.ended;
      await (await openTally(dir)).close();
    });
  });

  describe('is refused', () => {
    it('where a later program has changed its schema', async () => {
      await (await openTally(dir)).close();
      const db = openDatabase(join(dir, dataFileName));
      db.exec('PRAGMA user_version = 99');
      db.close();
      expect(String(await failure(openTally(dir)))).to.match(
        /later version of this program \(schema 99, here 3\)/,
      );
    });

    it('where its file belongs to another program, which stays as it is', async () => {
      const path = join(dir, dataFileName);
      const db = openDatabase(path);
      db.exec('CREATE TABLE theirs (x); PRAGMA application_id = 7');
      db.close();
      expect(String(await failure(openTally(dir)))).to.match(/is not a data file of this program/);
      const after = openDatabase(path);
      expect(pragma(after, 'application_id')).to.equal('7');
      expect(pragma(after, 'journal_mode')).to.equal('delete');
      after.close();
    });

    it('where its file is no database', async () => {
      await writeFile(join(dir, dataFileName), 'not a database'.repeat(1_000));
      expect(await failure(openTally(dir))).to.be.an.instanceOf(Error);
    });

    it('where the read models can not be loaded, and is free again', async () => {
      expect(await failure(openTally(dir, { projectionsModule: 'file:///nowhere.js' }))).to.be.an.instanceOf(
        Error,
      );
      await (await openTally(dir)).close();
    });
  });

  it('is for its owner alone', async () => {
    const made = join(dir, 'deep', 'data');
    const engine = await openTally(made);
    await engine.events.append(open('tally-1'));
    for (const name of ['', dataFileName, `${dataFileName}-wal`, 'owner.lock', 'owner.pid'])
      expect((await stat(join(made, name))).mode & 0o077, name).to.equal(0);
    await engine.close();
  });

  it('holds everything in its data file once closed', async () => {
    const engine = await openTally(dir);
    await engine.events.append(open('tally-1'));
    expect(engine.lastEventTime()).to.equal('2026-11-21T09:00:00.000Z');
    await engine.close();
    // Some drivers let go of the file only with the garbage, so it may still be there: empty.
    const wal = await stat(join(dir, `${dataFileName}-wal`)).catch(() => ({ size: 0 }));
    expect(wal.size).to.equal(0);
    const again = await openTally(dir);
    expect([...(await expectWhole(again)).keys()]).to.deep.equal(['tally-1']);
    await again.close();
  });

  it('loses nothing that was acknowledged when its process is killed under load', async () => {
    for (let round = 0; round < 4; round++) {
      const child = startChild(dir);
      await until('it is under load', () => child.lines.length > 500);
      child.process.kill('SIGKILL');
      await child.ended;
      const engine = await openTally(dir);
      const totals = await expectWhole(engine);
      for (const line of child.lines.filter((it) => it.startsWith('child-')))
        expect(totals.get(line), line).to.equal(Number(line.split('-').at(-1)));
      await engine.close();
    }
  }).timeout(60_000);

  for (const at of [
    'before-append',
    'before-projection',
    'before-commit',
    'after-commit',
    'in-rebuild',
    'before-swap',
  ])
    it(`is whole after a kill ${at}`, async () => {
      const engine = await openTally(dir);
      await Promise.all(Array.from({ length: 1_000 }, (_, n) => engine.events.append(open(`tally-${n}`))));
      await engine.close();
      const task = at === 'in-rebuild' || at === 'before-swap' ? 'rebuild' : 'load';
      const child = startChild(dir, faultsModule({ at, do: 'kill' }), task);
      await child.ended;
      expect(child.lines).to.deep.equal(['open']);
      const again = await openTally(dir);
      expect((await expectWhole(again)).size).to.be.within(1_000, 1_032);
      await again.close();
      expect(documentTables()).to.equal(usualTables);
    });

  describe('with a later program', () => {
    it('fills a changed read model anew before it serves', async () => {
      const engine = await openTally(dir);
      for (let n = 0; n < 20; n++) await engine.events.append(open(`tally-${n}`));
      await engine.close();
      const later = await openTally(dir, { projectionsModule: tallyModule('?version=2') });
      expect(await later.readModels.documents('tallies').get('tally-7')).to.have.property('total', 1);
      expect((await later.readModels.status()).map(({ name, version }) => [name, version])).to.deep.equal([
        ['journal', 1],
        ['strikes', 1],
        ['tallies', 2],
      ]);
      await later.close();
      expect(documentTables()).to.equal(usualTables);
    });

    it('gives the documents of an earlier schema their past', async () => {
      const engine = await openTally(dir);
      await engine.events.append(open('tally-1'));
      await engine.events.append(count('tally-1', 0, 5));
      await engine.close();
      const db = openDatabase(join(dir, dataFileName));
      for (const { name } of db
        .prepare<{ name: string }>(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'past_*'",
        )
        .all())
        db.exec(`DROP TABLE ${name}`);
      for (const link of ['hash', 'previous']) db.exec(`ALTER TABLE events DROP COLUMN ${link}`);
      db.exec('PRAGMA user_version = 1');
      db.close();
      const later = await openTally(dir);
      const then = later.readModels.documentsAsOf('tallies', toPosition(1));
      expect(await then.get('tally-1')).to.have.property('total', 0);
      expect(await later.readModels.documents('tallies').get('tally-1')).to.have.property('total', 5);
      await later.close();
      expect(documentTables()).to.equal(usualTables);
    });

    it('drops a read model that is no more, and fills it when it is back', async () => {
      const engine = await openTally(dir);
      await engine.events.append(strike('s', 'none', 'x', 4));
      await engine.close();
      const without = await openTally(dir, { projectionsModule: tallyModule('?without=strikes') });
      expect(() => without.readModels.documents('strikes')).to.throw();
      await without.events.append(strike('s', 0, 'y', 5));
      await without.close();
      expect(documentTables()).to.equal(3);
      const back = await openTally(dir);
      expect(await back.readModels.documents('strikes').get('x')).to.deep.equal({ at: 4 });
      expect(await back.readModels.documents('strikes').get('y')).to.deep.equal({ at: 5 });
      await back.close();
    });

    it('leaves no table behind a rebuild', async () => {
      const engine = await openTally(dir);
      await Promise.all(Array.from({ length: 2_000 }, (_, n) => engine.events.append(open(`tally-${n}`))));
      await engine.readModels.rebuild('tallies');
      await expectWhole(engine);
      await engine.events.append(count('tally-3', 0, 9));
      expect(await engine.readModels.documents('tallies').get('tally-3')).to.have.property('total', 9);
      await until('the old table is gone', () => documentTables() === usualTables);
      await engine.close();
    });
  });

  describe('on a disk', () => {
    it('that is full refuses appends, says so, and takes them when there is room again', async () => {
      const flag = join(dir, 'full');
      const engine = await openTally(dir, {
        faultsModule: faultsModule({ at: 'before-commit', do: 'full', while: flag }),
      });
      await engine.events.append(open('tally-1'));
      await writeFile(flag, '');
      const refused = await Promise.all(
        Array.from({ length: 20 }, (_, n) => failure(engine.events.append(open(`lost-${n}`)))),
      );
      for (const error of refused) expect(error).to.be.an.instanceOf(StoreUnavailable);
      expect(String(refused[0])).to.match(/Nothing of this append is stored: database or disk is full/);
      expect(engine.health()).to.have.property('ready', false);
      expect(await engine.readModels.documents('tallies').get('tally-1')).to.have.property('total', 0);
      await until('it is ready without having been written to', () => engine.health().ready);
      await rm(flag);
      expect(await engine.events.append(open('tally-2'))).to.have.property('appended', true);
      expect([...(await expectWhole(engine)).keys()]).to.deep.equal(['tally-1', 'tally-2']);
      await engine.close();
    });

    for (const [what, query] of [
      ['that fails', { at: 'before-commit', do: 'ioerr' }],
      ['whose writer crashes after a commit', { at: 'after-commit', do: 'throw' }],
    ] as const)
      it(`${what} ends writing for good, tells it once, and leaves nobody waiting`, async () => {
        const flag = join(dir, 'fails');
        const fatal: Error[] = [];
        const engine = await openTally(dir, {
          faultsModule: faultsModule({ ...query, while: flag }),
          onFatal: (error) => fatal.push(error),
        });
        await engine.events.append(open('tally-1'));
        await writeFile(flag, '');
        const subscribed = failure(
          (async () => {
            for await (const _ of engine.events.subscribe('0', new AbortController().signal));
          })(),
        );
        const results = await within(
          'all appends are answered',
          5_000,
          Promise.all(
            Array.from({ length: 3_000 }, (_, n) => failure(engine.events.append(open(`lost-${n}`)))),
          ),
        );
        for (const error of results) expect(error).to.be.an.instanceOf(StoreUnavailable);
        expect(fatal).to.have.length(1);
        expect(engine.health()).to.have.property('ready', false);
        expect(await failure(engine.events.append(open('late')))).to.be.an.instanceOf(StoreUnavailable);
        expect(await failure(engine.readModels.rebuild('tallies'))).to.be.an.instanceOf(StoreUnavailable);
        expect(await subscribed).to.be.an.instanceOf(StoreUnavailable);
        expect(await engine.readModels.documents('tallies').get('tally-1')).to.have.property('total', 0);
        await engine.close();
        expect(fatal).to.have.length(1);
        const again = await openTally(dir);
        await expectWhole(again);
        await again.close();
      });
  });
});
