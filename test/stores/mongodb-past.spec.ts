import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { MongoClient, type Db } from 'mongodb';
import { toPosition, type Position } from '../../src/core/event.ts';
import { StoreUnavailable, type EventStore, type ReadModels } from '../../src/core/ports.ts';
import type { Row } from '../../src/stores/mongodb/client.ts';
import type { MongoDb } from '../../src/stores/mongodb/index.ts';
import { startCuttingRelay } from '../support/cutting-relay.ts';
import { openTally, temporaryFolder } from '../support/embedded.ts';
import {
  freshDatabase,
  openNode,
  readRows,
  ready,
  startNodeProcess,
  undatedRow,
  withFerretDb,
} from '../support/mongodb.ts';
import { pick, seeded, testRounds, testSeed, type Random } from '../support/random.ts';
import { close as end, count, open, strike } from '../support/tally-events.ts';
import type { Strike, Tally } from '../support/tally-projections.ts';
import { until } from '../support/waiting.ts';

/** How often a node is killed; each time waits for another one to project. */
const rounds = testRounds(2);

/** How long the projector may be away, in milliseconds. */
const handOverMs = 10_000;

/** How long what is not wanted any more may stand, in milliseconds: nodes may read it for a while. */
const leftMs = 30_000;

/** How often every document changes while it is read as it was. */
const movesMax = 25;

const streams = Array.from({ length: 5 }, (_, n) => `tally-${n}`);

/** Everything that the tallies and strikes answer as of a position. */
const answersAsOf = async (readModels: ReadModels, at: Position): Promise<unknown> => {
  const tallies = readModels.documentsAsOf<Tally>('tallies', at);
  const strikes = readModels.documentsAsOf<Strike>('strikes', at);
  return {
    each: await Promise.all(streams.map((id) => tallies.getWithRevision(id))),
    all: await tallies.page({ limit: 2 }),
    back: await tallies.page({ limit: 2, order: 'desc' }),
    group: await tallies.page({ limit: 10, group: 'main' }),
    subgroup: await tallies.page({ limit: 10, subgroup: 'odd' }),
    struck: await strikes.getMany(streams),
  };
};

/** The position that all read models have come to. */
const checkpointOf = async ({ readModels }: MongoDb): Promise<Position> =>
  (await readModels.status()).map(({ checkpoint }) => checkpoint).toSorted()[0] ?? '';

/** Grows each stream by acts of all kinds. */
const createActs = (events: EventStore, random: Random) => {
  const revisions = new Map<string, number>();
  return async (acts: number): Promise<void> => {
    for (let n = 0; n < acts; n += 1) {
      const stream = pick(random, streams) ?? '';
      const last = revisions.get(stream);
      const append =
        last === undefined
          ? open(stream)
          : pick(random, [
              () => count(stream, last, n),
              () => count(stream, last, n),
              () => end(stream, last),
              () => ({ ...open(stream, 'other'), expected: last }),
              () => strike(stream, last, stream, 9 - (n % 9)),
            ])?.();
      if (append === undefined) throw new Error('There is nothing to append.');
      expect(await events.append(append)).to.have.property('appended', true);
      revisions.set(stream, (last ?? -1) + 1);
    }
  };
};

/** Makes a database what an earlier version of the program left: documents without a past, and their register. */
const forgetPast = async (db: Db): Promise<void> => {
  const register = db.collection<{ _id: string; live: string }>('keyledger_register');
  for (const model of await register.find({}).toArray()) {
    const live = model.live.replace(/_now$/, '');
    const rows = await db.collection<Row>(model.live).find({}).toArray();
    const undated = rows.map(({ _id, s }) => ({ _id, s: undatedRow(s) }));
    if (undated.length > 0) await db.collection<Row>(live).insertMany(undated);
    else await db.createCollection(live);
    await db
      .collection<{ _id: string }>('keyledger_models')
      .insertOne({ ...model, live, targets: [live] } as { _id: string });
    await db.dropCollection(model.live);
    await db.dropCollection(model.live.replace(/_now$/, '_past')).catch(() => {});
  }
  await register.drop();
};

withFerretDb('the past on MongoDB', (ferretDb) => {
  let dir: string;
  let url: string;
  let events: EventStore;
  /** The embedded engine, which has the same read models of the same log and their past. */
  let embedded: ReadModels;
  let grow: (acts: number) => Promise<void>;
  let closing: (() => unknown)[];
  const seed = testSeed();
  beforeEach(async () => {
    const folder = await temporaryFolder();
    dir = folder.dir;
    url = ferretDb().url(freshDatabase());
    const engine = await openTally(dir);
    ({ events, readModels: embedded } = engine);
    grow = createActs(events, seeded(seed));
    closing = [folder.remove, engine.close];
  });
  afterEach(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const node = async (log: EventStore = events): Promise<MongoDb> => {
    const opened = await openNode(url, log);
    closing.push(opened.close);
    return opened;
  };
  const expectPast = async ({ readModels }: MongoDb, upTo: Position): Promise<void> => {
    for (let at = toPosition(1); at <= upTo; at = toPosition(BigInt(at) + 1n))
      expect(await answersAsOf(readModels, at), `as of ${at}, seed ${seed}`).to.deep.equal(
        await answersAsOf(embedded, at),
      );
  };

  it('lacks no version where the node that projects is killed when it has written it, and not yet the next', async () => {
    const { port, pathname, search } = new URL(url);
    const other = await node();
    await ready(other);
    await other.close();
    for (let round = 0; round < rounds; round += 1) {
      let left = 1 + round;
      const isLast = (sent: Buffer): boolean =>
        sent.includes('insert') && sent.includes('_past\0') && (left -= 1) === 0;
      const relay = await startCuttingRelay(Number(port), isLast, () => killed.process.kill('SIGKILL'));
      const killed = startNodeProcess(`mongodb://127.0.0.1:${relay.port}${pathname}${search}`, dir);
      closing.push(relay.close, () => killed.process.kill('SIGKILL'));
      await until('the node that is killed projects', () => killed.lines.includes('held'), handOverMs);
      const over = once(killed.process, 'exit');
      const watching = await node();
      await ready(watching);
      for (let isOver = false; !isOver; isOver = killed.process.exitCode !== null || killed.process.killed)
        await grow(12);
      await over;
      const { rows, past } = await readRows(url, 'tallies@1');
      const standing = new Map(rows.map(({ _id, s }) => [_id, s.r]));
      const ahead = past.filter(({ i, r }) => (standing.get(i) ?? -1) <= r);
      expect(ahead, 'versions of the past that no row has moved on from').to.have.length.above(0);
      await expectPast(watching, await checkpointOf(watching));
      const head = await events.head();
      await until('another projects', async () => (await checkpointOf(watching)) === head, handOverMs * 2);
      await expectPast(watching, head);
      await watching.close();
    }
  }).timeout(120_000);

  it('answers the same as of a moment while every document moves on', async () => {
    const one = await node();
    const other = await node();
    await Promise.all([ready(one), ready(other)]);
    for (const stream of streams) await events.append(open(stream));
    const log = { at: await events.head(), isOver: false };
    await one.readModels.reach(log.at);
    const write = async (): Promise<void> => {
      for (let moves = 0; moves < movesMax; moves += 1) {
        for (const stream of streams) await events.append(count(stream, moves));
        const head = await events.head();
        // By the projector alone: of two writers FerretDB would let one undo the other.
        await other.readModels.reach(head);
        log.at = head;
      }
      log.isOver = true;
    };
    const writing = write();
    while (!log.isOver) {
      const { at } = log;
      const answers = await answersAsOf(one.readModels, at);
      expect(answers, `as of ${at}`).to.deep.equal(await answersAsOf(embedded, at));
    }
    await writing;
  }).timeout(60_000);

  it('is filled in for what an earlier version of the program left, which answers meanwhile', async () => {
    const earlier = await node();
    await ready(earlier);
    await grow(60);
    await earlier.readModels.reach(await events.head());
    await earlier.close();
    const client = new MongoClient(url);
    closing.push(() => client.close());
    await forgetPast(client.db());
    const gate = new EventEmitter();
    const passed = once(gate, 'open');
    const gated = (...args: Parameters<EventStore['readAll']>) => passed.then(() => events.readAll(...args));
    const later = await node({ ...events, readAll: gated });
    await ready(later);
    await grow(20);
    for (const stream of streams) await later.readModels.settle(await events.readStream(stream));
    const head = await events.head();
    await later.readModels.reach(head);
    const now = later.readModels.documents<Tally>('tallies');
    expect(await Promise.all(streams.map((id) => now.getWithRevision(id)))).to.deep.equal(
      await Promise.all(streams.map((id) => embedded.documents('tallies').getWithRevision(id))),
    );
    const refused = await answersAsOf(later.readModels, head).catch((error: unknown) => error);
    expect(refused).to.be.an.instanceOf(StoreUnavailable).with.property('message').that.includes('past');
    expect(await client.db().collection('keyledger_models').countDocuments()).to.equal(0);
    gate.emit('open');
    await until('the past is filled', () =>
      answersAsOf(later.readModels, head).then(
        () => true,
        () => false,
      ),
    );
    await expectPast(later, head);
    await later.readModels.rebuild('tallies');
    await expectPast(later, head);
    await until(
      'what is not wanted is gone, with its past',
      async () => {
        const names = (await client.db().listCollections().toArray()).map(({ name }) => name);
        const register = await client.db().collection('keyledger_register').find({}).toArray();
        const wanted = register.flatMap(({ live }) => [live, String(live).replace(/_now$/, '_past')]);
        return names.every((name) => !/_v\d+_/.test(name) || wanted.includes(name));
      },
      leftMs,
    );
    await expectPast(later, head);
  }).timeout(90_000);
});
