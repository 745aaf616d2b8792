import { expect } from 'chai';
import { StoreUnavailable, type EventStore } from '../../src/core/ports.ts';
import type { MongoDb } from '../../src/stores/mongodb/index.ts';
import { openFresh } from '../support/embedded.ts';
import { freshDatabase, openNode, ready, withFerretDb } from '../support/mongodb.ts';
import { createStillLog } from '../support/still-log.ts';
import { count, open, strike } from '../support/tally-events.ts';
import type { Strike, Tally } from '../support/tally-projections.ts';
import { until, within } from '../support/waiting.ts';

/** How long any call may take while the server is away, in milliseconds. */
const boundMs = 10_000;

/** How long the read models may take to come back by themselves, in milliseconds. */
const backMs = 20_000;

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error: unknown) => error,
  );

const tallies = ({ readModels }: MongoDb) => readModels.documents<Tally>('tallies');

const strikes = ({ readModels }: MongoDb) => readModels.documents<Strike>('strikes');

withFerretDb('the read models, when MongoDB is away', (ferretDb) => {
  let events: EventStore & { readonly flow: () => void };
  let url: string;
  let closing: (() => Promise<unknown>)[];
  beforeEach(async () => {
    const engine = await openFresh();
    events = createStillLog(engine.events);
    url = ferretDb().url(freshDatabase());
    closing = [engine.close];
  });
  afterEach(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const node = async (): Promise<MongoDb> => {
    const opened = await openNode(url, events);
    closing.push(opened.close);
    return opened;
  };
  const appendTo = async (...appends: Parameters<EventStore['append']>[0][]): Promise<void> => {
    for (const it of appends) expect(await events.append(it)).to.have.property('appended', true);
  };
  const settle = async ({ readModels }: MongoDb, stream: string): Promise<void> =>
    readModels.settle(await events.readStream(stream));

  const outages = {
    killed: { begin: () => ferretDb().kill(), end: () => ferretDb().start() },
    paused: { begin: () => ferretDb().pause(), end: () => ferretDb().resume() },
  };
  for (const [how, { begin, end }] of Object.entries(outages)) {
    it(`(${how}) answer in bounded time that they are, and nothing is lost when it is back`, async () => {
      const [one, other] = [await node(), await node()];
      await Promise.all([ready(one), ready(other)]);
      await appendTo(open('a'), strike('old', 'none', 'old', 1));
      await settle(one, 'a');
      await settle(one, 'old');
      await begin();
      try {
        await appendTo(count('a', 0, 5), strike('new', 'none', 'new', 7));
        const calls = [
          settle(one, 'a'),
          settle(one, 'new'),
          tallies(one).get('a'),
          tallies(one).page({ limit: 10 }),
          tallies(one).pageText({ limit: 10 }),
          tallies(one).getWithRevision('a'),
          strikes(one).get('new'),
          one.readModels.status(),
          one.readModels.rebuild('tallies'),
        ];
        for (const error of await within('every call', boundMs, Promise.all(calls.map(failure))))
          expect(error).to.be.an.instanceOf(StoreUnavailable);
        await until('its health tells', () => !one.health().ready, boundMs);
      } finally {
        await end();
      }
      await until('both are back', () => one.health().ready && other.health().ready, backMs);
      // What this node could not write it refuses all the same; others can't know, and the command was not answered.
      expect(await strikes(one).get('new')).to.deep.equal({ at: 7 });
      expect((await strikes(one).getWithRevision('new'))?.document).to.deep.equal({ at: 7 });
      expect(await strikes(one).get('old')).to.deep.equal({ at: 1 });
      events.flow();
      await until(
        'the projector has caught up',
        async () => {
          const head = await events.head();
          return (await other.readModels.status()).every(({ checkpoint }) => checkpoint === head);
        },
        backMs,
      );
      for (const it of [one, other]) {
        expect((await tallies(it).get('a'))?.total).to.equal(5);
        expect((await tallies(it).getWithRevision('a'))?.revision).to.equal(1);
        expect(await strikes(it).get('new')).to.deep.equal({ at: 7 });
      }
    }).timeout(90_000);
  }

  it('are reached by a node that starts before the server does', async () => {
    await ferretDb().kill();
    const one = await node();
    expect(one.health()).to.have.property('ready', false);
    expect(await failure(tallies(one).get('a'))).to.be.an.instanceOf(StoreUnavailable);
    await ferretDb().start();
    await ready(one);
    await appendTo(open('a'));
    await settle(one, 'a');
    expect((await tallies(one).get('a'))?.total).to.equal(0);
  }).timeout(60_000);

  it('let a node close in bounded time', async () => {
    const one = await node();
    await ready(one);
    ferretDb().pause();
    try {
      await within('the close', boundMs, one.close());
      expect(await failure(tallies(one).get('a'))).to.be.an.instanceOf(StoreUnavailable);
    } finally {
      ferretDb().resume();
    }
  }).timeout(30_000);
});

withFerretDb('the read models on MongoDB, at the start of a node', (ferretDb) => {
  it('answer nothing before they hold what the log held then', async () => {
    const { events, close } = await openFresh();
    const url = ferretDb().url(freshDatabase());
    const first = await openNode(url, events);
    await ready(first);
    await first.close();
    // Appended while nobody projected, and settled by nobody: as after a time with other read models.
    await events.append(strike('s', 'none', 'x', 3));
    const still = createStillLog(events);
    const second = await openNode(url, { ...still, head: events.head });
    const laid = second.readModels.documents('strikes');
    await until('the server is reached', () => JSON.stringify(second.health()).includes('catching up'));
    expect(await failure(laid.get('x'))).to.be.an.instanceOf(StoreUnavailable);
    still.flow();
    await ready(second);
    expect(await laid.get('x')).to.deep.equal({ at: 3 });
    await second.close();
    await close();
  }).timeout(30_000);
});
