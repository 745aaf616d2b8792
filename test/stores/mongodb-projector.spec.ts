import { expect } from 'chai';
import { StoreUnavailable, type EventStore } from '../../src/core/ports.ts';
import type { MongoDb } from '../../src/stores/mongodb/index.ts';
import { openTally, tallyModule, temporaryFolder } from '../support/embedded.ts';
import {
  freshDatabase,
  openNode,
  readRows,
  ready,
  startNodeProcess,
  withFerretDb,
  type NodeProcess,
} from '../support/mongodb.ts';
import { close as end, count, open, strike, tally } from '../support/tally-events.ts';
import { projections, type Tally } from '../support/tally-projections.ts';
import { until } from '../support/waiting.ts';

/** How long the projector may be away after the node that has it dies, in milliseconds. */
const handOverMs = 10_000;

const total = (of: MongoDb, id: string) => of.readModels.documents<Tally>('tallies').get(id);

const shows = (of: MongoDb, id: string, wanted: number, ms?: number): Promise<void> =>
  until(`${id} is at ${wanted}`, async () => (await total(of, id))?.total === wanted, ms);

/** A stream that ends in an event that tallies can't take. */
const broken = (stream: string) =>
  ({
    stream,
    expected: 'none',
    events: [tally('Struck', { id: stream, at: 1 }), tally('Opened', {}), tally('Broken', {})],
  }) as const;

const statusOf = async ({ readModels }: MongoDb, name: string) =>
  (await readModels.status()).find((it) => it.name === name);

withFerretDb('the projector on MongoDB', (ferretDb) => {
  let dir: string;
  let url: string;
  let events: EventStore;
  let closing: (() => unknown)[];
  beforeEach(async () => {
    const folder = await temporaryFolder();
    dir = folder.dir;
    url = ferretDb().url(freshDatabase());
    const engine = await openTally(dir);
    events = engine.events;
    closing = [folder.remove, engine.close];
  });
  afterEach(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const node = async (options?: Parameters<typeof openNode>[2]): Promise<MongoDb> => {
    const opened = await openNode(url, events, options);
    closing.push(opened.close);
    return opened;
  };
  const child = async (): Promise<NodeProcess> => {
    const started = startNodeProcess(url, dir);
    closing.push(() => started.process.kill('SIGKILL'));
    await until('the child projects', () => started.lines.includes('held'));
    return started;
  };
  it('is one node at a time, and another within 10 seconds when that one is killed', async () => {
    const first = await child();
    const told: string[] = [];
    const second = await node({ observe: { lease: ({ held }) => told.push(held ? 'held' : 'lost') } });
    await ready(second);
    await events.append(open('a'));
    await shows(second, 'a', 0);
    expect(told).to.deep.equal([]);
    first.process.kill('SIGKILL');
    await events.append(count('a', 0, 5));
    await shows(second, 'a', 5, handOverMs);
    expect(told).to.deep.equal(['held']);
  }).timeout(40_000);

  it('goes on from its checkpoint when its subscription ends in silence, or fails', async () => {
    let subscriptions = 0;
    const dropping: EventStore = {
      ...events,
      subscribe: async function* (after, signal) {
        subscriptions += 1;
        let given = 0;
        for await (const event of events.subscribe(after, signal)) {
          if (given === 2 && subscriptions % 2 === 0)
            throw new StoreUnavailable('The subscription was dropped.');
          if (given === 2) return;
          given += 1;
          yield event;
        }
      },
    };
    const one = await openNode(url, dropping);
    closing.push(one.close);
    await ready(one);
    await events.append(open('a'));
    for (let n = 0; n < 12; n++) await events.append(count('a', n));
    await shows(one, 'a', 12);
    expect(subscriptions).to.be.above(4);
  }).timeout(30_000);

  it('is handed over at once when its node closes', async () => {
    const first = await node();
    await ready(first);
    const second = await node();
    await ready(second);
    await first.close();
    await events.append(open('a'));
    // Well before a silent holder would be given up.
    await shows(second, 'a', 0, 4_000);
  }).timeout(30_000);

  it('that was paused and is replaced moves no checkpoint back and undoes nothing', async () => {
    const first = await child();
    const told: string[] = [];
    const second = await node({ observe: { lease: ({ held }) => told.push(held ? 'held' : 'lost') } });
    await ready(second);
    const streams = Array.from({ length: 20 }, (_, n) => `s-${n}`);
    for (const stream of streams) await events.append(open(stream));
    // Paused in the midst of work: it comes back with a batch that is old by then.
    let counts = 0;
    for (; !first.lines.some((line) => line.startsWith('projected')) || counts < 20; counts++)
      for (const stream of streams) await events.append(count(stream, counts));
    first.process.kill('SIGSTOP');
    await until('the second projects', () => told.includes('held'), handOverMs);
    for (const stream of streams.slice(10)) await events.append(end(stream, counts));
    const head = await events.head();
    const checkpoints = async (): Promise<string[]> =>
      (await second.readModels.status()).map(({ checkpoint }) => checkpoint);
    await until('the second is at the head', async () => (await checkpoints()).every((it) => it === head));
    first.process.kill('SIGCONT');
    const seen: string[] = [];
    await until('the first has seen that it is replaced', async () => {
      seen.push(...(await checkpoints()));
      return first.lines.includes('lost');
    });
    expect([...new Set(seen)]).to.deep.equal([head]);
    expect(told).to.deep.equal(['held']);
    for (const [n, stream] of streams.entries())
      expect((await total(second, stream))?.total).to.equal(n < 10 ? counts : undefined);
  }).timeout(60_000);

  describe('that meets an event that it can’t take', () => {
    const mended = projections.map((it) =>
      it.name === 'tallies' ? { ...it, on: { ...it.on, Broken: () => [] } } : it,
    );
    // The log takes events that only the server's read models have to do with.
    beforeEach(async () => {
      const folder = await temporaryFolder();
      const engine = await openTally(folder.dir, { projectionsModule: tallyModule('?without=tallies') });
      events = engine.events;
      closing.push(folder.remove, engine.close);
    });

    it('stops that read model alone, says which event and why, and goes on when it can be taken', async () => {
      const told: string[] = [];
      const first = await node({ observe: { stopped: ({ projection }) => told.push(projection) } });
      await ready(first);
      await events.append(open('before'));
      const wish = broken('bad');
      await events.append(wish);
      await events.append(open('after'));
      await events.append(strike('later', 'none', 'later', 2));
      const head = await events.head();
      await until(
        'strikes is at the head',
        async () => (await statusOf(first, 'strikes'))?.checkpoint === head,
      );
      await until(
        'tallies has stopped',
        async () => (await statusOf(first, 'tallies'))?.stopped !== undefined,
      );
      const { stopped, checkpoint = '' } = (await statusOf(first, 'tallies')) ?? {};
      expect(stopped?.event).to.equal(wish.events[2]?.id);
      expect(stopped?.reason).to.equal('This reducer is broken.');
      expect(checkpoint < (stopped?.position ?? '')).to.equal(true);
      expect((await statusOf(first, 'strikes'))?.stopped).to.equal(undefined);
      expect(first.health()).to.have.property('ready', true);
      await until('its health tells', () =>
        JSON.stringify(first.health()).includes(wish.events[2]?.id ?? '?'),
      );
      await shows(first, 'bad', 0);
      expect(await total(first, 'after')).to.equal(undefined);
      // It is tried again, and again.
      await until('it is told more than once', () => told.length > 1);
      expect([...new Set(told)]).to.deep.equal(['tallies']);
      await first.close();
      const second = await node({ projections: mended });
      await shows(second, 'after', 0);
      await until('nothing stands', async () => (await statusOf(second, 'tallies'))?.stopped === undefined);
    }).timeout(30_000);

    it('is not ready where it is a read model of tombstones that stands, for one of them may be missing', async () => {
      const unsafe = mended.map((it) =>
        it.name === 'strikes'
          ? {
              ...it,
              on: {
                ...it.on,
                Broken: () => {
                  throw new Error('This reducer is broken.');
                },
              },
            }
          : it,
      );
      const first = await node({ projections: unsafe });
      await ready(first);
      const wish = broken('bad');
      await events.append(wish);
      await until('it is not ready', () => !first.health().ready);
      const told = JSON.stringify(first.health());
      expect(told)
        .to.include('strikes')
        .and.include(wish.events[2]?.id)
        .and.include('This reducer is broken.');
      await first.close();
      const second = await node({ projections: mended });
      await ready(second);
      await until('the tombstone is laid', async () => {
        const laid = second.readModels.documents('strikes');
        return (await laid.get('bad')) !== undefined;
      });
    }).timeout(30_000);

    it('does so too while a read model is filled for the first time, and the others are filled', async () => {
      await events.append(strike('before', 'none', 'before', 2));
      await events.append(broken('bad'));
      await events.append(open('after'));
      const first = await node();
      const strikes = first.readModels.documents('strikes');
      await until(
        'strikes is filled',
        async () => (await strikes.get('bad').catch(() => undefined)) !== undefined,
      );
      await until(
        'tallies has stopped',
        async () => (await statusOf(first, 'tallies'))?.stopped !== undefined,
      );
      expect(first.health()).to.have.property('ready', false);
      expect(await total(first, 'after').catch((error: unknown) => error)).to.be.an.instanceOf(
        StoreUnavailable,
      );
      await first.close();
      const second = await node({ projections: mended });
      await ready(second);
      await shows(second, 'after', 0);
    }).timeout(30_000);

    it('writes what a command settles for the others, and tells the command', async () => {
      const first = await node();
      await ready(first);
      const wish = await events.append(broken('bad'));
      const error = await first.readModels
        .settle(wish.appended ? wish.events : [])
        .catch((it: unknown) => it);
      expect(error).to.have.property('message', 'This reducer is broken.');
      expect(await first.readModels.documents('strikes').get('bad')).to.deep.equal({ at: 1 });
    });
  });

  it('leaves a rebuild with the same rows that were there, though all is written meanwhile', async () => {
    const first = await node();
    const second = await node();
    await Promise.all([ready(first), ready(second)]);
    const load = { isOver: false };
    const writer = async (which: number, { readModels }: MongoDb): Promise<void> => {
      for (let n = 0; !load.isOver; n++) {
        const stream = `${which}-${n}`;
        await events.append(open(stream, 'load'));
        await events.append(count(stream, 0, n));
        if (n % 2 === 0) await events.append(end(stream, 1));
        await readModels.settle(await events.readStream(stream));
        const kept = (await total(n % 3 === 0 ? first : second, stream))?.total;
        expect(kept).to.equal(n % 2 === 0 ? undefined : n);
      }
    };
    const { collection } = await readRows(url, 'tallies@1');
    for (let n = 0; n < 400; n++) await events.append(open(`past-${n}`));
    const writing = Promise.all([writer(0, first), writer(1, second), writer(2, second)]);
    await second.readModels.rebuild('tallies');
    load.isOver = true;
    await writing;
    const head = await events.head();
    await until('all is at the head', async () =>
      (await first.readModels.status()).every(({ checkpoint }) => checkpoint === head),
    );
    const before = await readRows(url, 'tallies@1');
    expect(before.collection).not.to.equal(collection);
    await second.readModels.rebuild('tallies');
    const after = await readRows(url, 'tallies@1');
    expect(after.collection).not.to.equal(before.collection);
    expect(before.rows.length).to.be.above(400);
    expect(after.rows).to.deep.equal(before.rows);
    expect(before.past.length).to.be.above(0);
    expect(after.past).to.deep.equal(before.past);
  }).timeout(60_000);
});
