import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { StoredEvent } from '../../src/core/event.ts';
import { projections } from '../../src/projections/index.ts';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { prepareDataFile } from '../../src/stores/embedded/schema.ts';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { digests, readContents, readLog, type Contents } from '../support/contents.ts';
import { openJoined } from '../support/joined.ts';
import { createModel, perform, performAll, type ModelClock } from '../support/model.ts';
import { histories } from '../support/wishes.ts';
import { asOlder } from '../support/older-events.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { testRounds, testSeed } from '../support/random.ts';
import { serveInProcess, type InProcess } from '../support/serving.ts';

// KEYLEDGER_TEST_ROUNDS: how many histories, each with its cuts; 333 for a long run of 1,000 cuts.
// KEYLEDGER_TEST_SEED: repeats them.
const rounds = testRounds(2);
const seed = testSeed();

const lengths = { least: 60, most: 120 };

/** Most wishes of a history are granted, and a granted one is an event. */
const eventsLeast = 30;

/** Places in each history at which everything is compared. */
const cuts = 3;

const names = projections.map(({ name }) => name);

const older = new URL('../support/older-projections.js', import.meta.url).href;

/** Writes a log into a folder that has nothing else, past everything that projects. */
const writeLog = (dir: string, log: readonly StoredEvent[]): void => {
  const path = join(dir, dataFileName);
  prepareDataFile(path);
  const db = openDatabase(path);
  try {
    const insert = db.prepare(
      'INSERT INTO events (position, stream, revision, id, type, version, time, data, cause) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    db.exec('BEGIN');
    for (const { position, stream, revision, id, type, version, time, data, cause } of log)
      insert.run(Number(position), stream, revision, id, type, version, time, data, cause);
    db.exec('COMMIT');
  } finally {
    db.close();
  }
};

const inFreshFolder = async <T>(work: (dir: string) => Promise<T>): Promise<T> => {
  const dir = freshFolder();
  try {
    return await work(dir);
  } finally {
    removeFolder(dir);
  }
};

/** The read models that opening a folder with this log alone makes. */
const replayed = (log: readonly StoredEvent[], projectionsModule?: string): Promise<Contents> =>
  inFreshFolder(async (dir) => {
    writeLog(dir, log);
    const joined = await openJoined({
      dir,
      ...(projectionsModule === undefined ? {} : { projectionsModule }),
    });
    await joined.close();
    return readContents(dir);
  });

/** The read models that appending this log, one event after the other, makes; and then each rebuilt in its place. */
const appendedAndRebuilt = (log: readonly StoredEvent[]): Promise<readonly [Contents, Contents]> =>
  inFreshFolder(async (dir) => {
    const { engine, reads, close } = await openJoined({ dir });
    try {
      for (const { stream, revision, id, type, version, time, data, cause } of log) {
        const expected = revision === 0 ? 'none' : revision - 1;
        const events = [{ id, type, version, time, data, cause }];
        expect(await engine.events.append({ stream, expected, events })).to.include({ appended: true });
      }
      const appended = readContents(dir);
      for (const name of names) await reads.rebuild(name);
      return [appended, readContents(dir)];
    } finally {
      await close();
    }
  });

describe('the read models', () => {
  const clock: ModelClock = { nowMs: Date.UTC(2030, 0, 1) };

  it(`are the same live, rebuilt, and replayed from the log alone, at any cut (${rounds} histories, seed ${seed})`, async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(histories(lengths), async (wishes) => {
        await inFreshFolder(async (dir) => {
          const service: InProcess = await serveInProcess(dir, { clock: () => clock.nowMs });
          try {
            const model = createModel('t', clock);
            const every = Math.max(1, Math.ceil(wishes.length / cuts));
            for (const [at, wish] of wishes.entries()) {
              await perform(model, service.client, wish);
              if ((at + 1) % every !== 0 && at + 1 !== wishes.length) continue;
              const live = readContents(dir);
              const log = readLog(dir);
              expect(digests(await replayed(log)), 'replayed').to.deep.equal(digests(live));
              const [appended, rebuilt] = await appendedAndRebuilt(log);
              expect(digests(appended), 'appended').to.deep.equal(digests(live));
              expect(digests(rebuilt), 'rebuilt').to.deep.equal(digests(live));
              const old = log.map(asOlder);
              expect(digests(await replayed(old, older)), 'upcast').to.deep.equal(digests(live));
              compared += log.length;
            }
          } finally {
            await service.stop();
          }
        });
      }),
      { numRuns: rounds, seed, endOnFailure: true },
    );
    expect(compared, 'events compared').to.be.above(rounds * eventsLeast);
  }).timeout(30_000 + rounds * 30_000);

  it(`answer after a start what they answered before it (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(histories(lengths), (wishes) =>
        inFreshFolder(async (dir) => {
          const model = createModel('t', clock);
          const first = await serveInProcess(dir, { clock: () => clock.nowMs });
          try {
            for (const wish of wishes) await perform(model, first.client, wish);
          } finally {
            await first.stop();
          }
          const second = await serveInProcess(dir, { clock: () => clock.nowMs });
          try {
            await performAll(model, second.client);
          } finally {
            await second.stop();
          }
        }),
      ),
      { numRuns: rounds, seed, endOnFailure: true },
    );
  }).timeout(30_000 + rounds * 30_000);

  it('hold what an older version of an event says, and not what it would say unread', async () => {
    await inFreshFolder(async (dir) => {
      const service = await serveInProcess(dir, { clock: () => clock.nowMs });
      await service.client('POST', '/admin/v1/tenants', { body: { id: 'acme' } });
      await service.stop();
      // The stop sealed the log: that is an event too, and of no older version.
      const old = readLog(dir)
        .filter(({ type }) => type !== 'LogSealed')
        .map(asOlder);
      expect(old.map(({ version, data }) => [version, data])).to.deep.equal([[0, '{"id":"acme","life":0}']]);
      expect((await replayed(old, older))['tenants']?.[0]?.['body']).to.include('"incarnation":"acme~1"');
      const error = await replayed(old).catch((thrown: unknown) => thrown);
      expect(String(error), 'without its upcast').to.match(/Cannot read event/);
    });
  });
});
