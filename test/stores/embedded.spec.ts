import { expect } from 'chai';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { eventStoreContract } from '../contracts/event-store.ts';
import { historyContract } from '../contracts/history.ts';
import { readModelsContract } from '../contracts/read-models.ts';
import { openFresh } from '../support/embedded.ts';
import { count, open, strike, tally } from '../support/tally-events.ts';
import type { Tally } from '../support/tally-projections.ts';

const engine = { name: 'the embedded engine', open: () => openFresh() };
eventStoreContract(engine);
readModelsContract(engine);
historyContract(engine);

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the embedded engine', () => {
  it('shares one commit among all appends that wait', async () => {
    const commits: number[] = [];
    const { events, close } = await openFresh({
      observe: { committed: ({ appends }) => commits.push(appends) },
    });
    const appender = async (which: number): Promise<void> => {
      for (let n = 0; n < 20; n++) await events.append(open(`tally-${which}-${n}`));
    };
    await Promise.all(Array.from({ length: 64 }, (_, which) => appender(which)));
    await close();
    expect(commits.reduce((sum, appends) => sum + appends, 0)).to.equal(64 * 20);
    // The target is one flush for 32 appends at 64 appenders.
    expect(commits.length).to.be.at.most((64 * 20) / 32);
  });

  it('fails only the append whose reducer throws, of all that share its commit', async () => {
    const { events, readModels, close } = await openFresh();
    const broken = {
      stream: 'broken',
      expected: 'none',
      events: [tally('Opened', {}), tally('Broken', {})],
    } as const;
    const twin = { stream: 'twin', expected: 'none', events: [tally('Twin', {})] } as const;
    const unreadable = { ...tally('Opened', {}), data: '{' };
    const all = Array.from({ length: 50 }, (_, n) => open(`tally-${n}`));
    const results = await Promise.all([
      ...all.slice(0, 20).map((append) => failure(events.append(append))),
      failure(events.append(broken)),
      failure(events.append(twin)),
      failure(events.append({ stream: 'unreadable', expected: 'none', events: [unreadable] })),
      ...all.slice(20).map((append) => failure(events.append(append))),
    ]);
    const errors = results.filter((it) => it !== undefined);
    expect(errors.map((it) => (it instanceof Error ? it.message : ''))).to.have.length(3);
    expect(errors[0]).to.have.property('message', 'This reducer is broken.');
    expect(errors[1]).to.have.property('message', 'Twin makes more than one document of tallies.');
    for (const stream of ['broken', 'twin', 'unreadable'])
      expect(await events.readStream(stream)).to.deep.equal([]);
    expect(await readModels.documents('tallies').get('broken')).to.equal(undefined);
    const tallies = await readModels.documents<Tally>('tallies').page({ limit: 100 });
    expect(tallies.map(({ document }) => document.id)).to.deep.equal(all.map(({ stream }) => stream));
    const log = await events.readAll('0');
    expect(log.map(({ position }) => Number(position))).to.deep.equal(all.map((_, n) => n + 1));
    await close();
  });

  it('decides in the order of arrival inside one commit', async () => {
    const { events, readModels, close } = await openFresh();
    const results = await Promise.all([
      events.append(open('tally-1')),
      events.append(count('tally-1', 0, 4)),
      events.append(count('tally-1', 0, 5)),
      events.append(count('tally-1', 1, 6)),
    ]);
    expect(results.map(({ appended }) => appended)).to.deep.equal([true, true, false, true]);
    expect(await readModels.documents('tallies').get('tally-1')).to.have.property('total', 10);
    await close();
  });

  it('refuses at once what would wait behind too many', async () => {
    const { events, close } = await openFresh({ waitingAppendsMax: 100 });
    const results = await Promise.all(
      Array.from({ length: 150 }, (_, n) => failure(events.append(open(`tally-${n}`)))),
    );
    const refused = results.filter((it) => it instanceof StoreUnavailable);
    expect(refused).to.have.length(50);
    expect(refused[0]?.message).to.match(/^Refused before it was tried: 100 appends/);
    expect(await events.readAll('0')).to.have.length(100);
    await close();
  });

  it('refuses an append without events', async () => {
    const { events, close } = await openFresh();
    expect(await failure(events.append({ stream: 'x', expected: 'none', events: [] }))).to.be.an.instanceOf(
      Error,
    );
    await close();
  });

  it('has the data file take in the log before that outgrows its bound', async () => {
    let walBytesMax = 0;
    let checkpoints = 0;
    const { events, readModels, close } = await openFresh({
      observe: {
        committed: ({ walBytes }) => (walBytesMax = Math.max(walBytesMax, walBytes)),
        checkpointed: () => checkpoints++,
      },
    });
    const list = 'x'.repeat(16_384);
    const appender = async (which: number): Promise<void> => {
      for (let n = 0; n < 125; n++) await events.append(open(`tally-${which}-${n}`, list));
    };
    await Promise.all(Array.from({ length: 32 }, (_, which) => appender(which)));
    expect(checkpoints).to.be.at.least(1);
    // A rebuild writes as much again, with no append to go by.
    checkpoints = 0;
    await readModels.rebuild('tallies');
    expect(checkpoints).to.be.at.least(1);
    await events.append(open('last'));
    await close();
    // Some 350 MB of pages have gone through it.
    expect(walBytesMax).to.be.below(200e6);
  }).timeout(60_000);

  it('keeps what a look-up answers bounded, and right, when the cache is smaller than the working set', async () => {
    const { events, readModels, close } = await openFresh({ cacheEntriesMax: 10 });
    const tallies = readModels.documents<Tally>('tallies');
    for (let n = 0; n < 50; n++) await events.append(open(`tally-${n}`));
    for (let n = 0; n < 50; n++) expect((await tallies.get(`tally-${n}`))?.total).to.equal(0);
    await Promise.all(Array.from({ length: 50 }, (_, n) => events.append(count(`tally-${n}`, 0, n))));
    for (let n = 0; n < 50; n++) expect((await tallies.get(`tally-${n}`))?.total).to.equal(n);
    await close();
  });

  it('shows a tombstone that was known to be absent as soon as it is laid', async () => {
    const { events, readModels, close } = await openFresh();
    const strikes = readModels.documents('strikes');
    for (let n = 0; n < 200; n++) {
      expect(await strikes.get(`x-${n}`)).to.equal(undefined);
      await events.append(strike(`s-${n}`, 'none', `x-${n}`, n));
      expect(await strikes.get(`x-${n}`)).to.deep.equal({ at: n });
    }
    await close();
  });

  it('finishes what is queued when it closes, and takes no more', async () => {
    const { events, close } = await openFresh();
    const queued = Promise.all(Array.from({ length: 3_000 }, (_, n) => events.append(open(`tally-${n}`))));
    const closed = close();
    expect(await failure(events.append(open('late')))).to.be.an.instanceOf(StoreUnavailable);
    expect((await queued).every(({ appended }) => appended)).to.equal(true);
    await closed;
    expect(await failure(events.head())).to.be.an.instanceOf(StoreUnavailable);
  });

  it('tells those who wait on a subscription or a rebuild when it closes', async () => {
    const { events, readModels, close } = await openFresh();
    const waiting = failure(
      (async () => {
        for await (const _ of events.subscribe('0', new AbortController().signal));
      })(),
    );
    await Promise.all(Array.from({ length: 3_000 }, (_, n) => events.append(open(`tally-${n}`))));
    const rebuilt = failure(readModels.rebuild('tallies'));
    await close();
    expect(await waiting).to.be.an.instanceOf(StoreUnavailable);
    expect([undefined, 'StoreUnavailable']).to.include(((await rebuilt) as Error | undefined)?.name);
  });
});
