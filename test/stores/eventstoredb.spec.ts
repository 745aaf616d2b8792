import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { AppendTooLarge, openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { eventStoreContract } from '../contracts/event-store.ts';
import { failure, openOnDouble, wholeLog, type OnDouble } from '../support/eventstore.ts';
import { openOwnLog } from '../support/own-log.ts';
import { count, open, tally } from '../support/tally-events.ts';
import { until, within } from '../support/waiting.ts';

/** A real server's connection string: the contract then runs there too, in streams with a prefix of their own. */
const realServer = process.env['SERVICE_TEST_EVENT_STORE'];

eventStoreContract({ name: 'the EventStoreDB adapter, on a test double', open: () => openOnDouble() });

if (realServer === undefined)
  describe('the EventStoreDB adapter, on a real server', () => {
    it('skipped: set SERVICE_TEST_EVENT_STORE');
  });
else
  eventStoreContract({
    name: 'the EventStoreDB adapter, on a real server',
    open: async () => {
      const { events, close } = openEventStoreDb({ connectionString: realServer });
      return { events: await openOwnLog(events, `test-${randomUUID()}-`), close };
    },
  });

describe('the EventStoreDB adapter', () => {
  let store: OnDouble;
  afterEach(() => store.close());

  it('gives positions of 20 digits in the order of the log, the same in every answer', async () => {
    store = await openOnDouble();
    const answered: string[] = [];
    for (let n = 0; n < 10; n++) {
      const wish = open(`tally-${n}`);
      const result = await store.events.append({ ...wish, events: [...wish.events, tally('Closed', {})] });
      if (result.appended) answered.push(...result.events.map(({ position }) => position));
    }
    const log = (await wholeLog(store.events)).map(({ position }) => position);
    const streams = await Promise.all(log.map((_, n) => store.events.readStream(`tally-${n}`)));
    expect(log).to.have.length(20);
    expect(log.every((position) => /^\d{20}$/.test(position))).to.equal(true);
    expect(log).to.deep.equal(log.toSorted());
    expect(answered).to.deep.equal(log);
    expect(streams.flat().map(({ position }) => position)).to.deep.equal(log);
  });

  it('shows neither the server’s own events nor those of other programs', async () => {
    store = await openOnDouble();
    const foreign = { contentType: 'application/json', type: 'Opened', data: btoa('{}'), metadata: '' };
    const [event] = open('tally').events;
    const metadata = btoa(JSON.stringify({ version: 1, time: event?.time, cause: {} }));
    for (let n = 0; n < 8; n++) {
      // A link may bear the metadata of what it links to, and a stream of the server's may hold anything.
      store.double.append('links', 'any', [{ ...foreign, id: randomUUID(), type: '$>', metadata }]);
      store.double.append('$settings', 'any', [{ ...foreign, id: randomUUID(), metadata }]);
      await store.events.append(open(`tally-${n}`));
      store.double.append('foreign', 'any', [{ ...foreign, id: randomUUID() }]);
      store.double.append('foreign', 'any', [{ ...foreign, id: randomUUID(), metadata: btoa('{"a":1}') }]);
    }
    const log = await store.events.readAll('0', 1_000);
    expect(log.map(({ stream }) => stream)).to.deep.equal(log.map((_, n) => `tally-${n}`));
    expect(log).to.have.length(8);
    expect(await store.events.readAll('0', 3)).to.have.length(3);
    expect(await store.events.head()).to.equal(log.at(-1)?.position);
    expect(await store.lastEventTime()).to.equal(log.at(-1)?.time);
    expect(await failure(store.events.readStream('foreign'))).to.match(/not written by this service/);
  });

  it('finds the end of a log that ends in thousands of the server’s own events', async () => {
    store = await openOnDouble();
    await store.events.append(open('tally-1'));
    const own = { contentType: 'application/json', type: '$>', data: '', metadata: '' };
    for (let n = 0; n < 2_500; n++) store.double.append('$ce-tally', 'any', [{ ...own, id: randomUUID() }]);
    const [first] = await store.events.readStream('tally-1');
    expect(await store.events.head()).to.equal(first?.position);
    await store.events.append(open('tally-2'));
    const behind = await store.events.readAll(first?.position ?? '', 1);
    expect(behind.map(({ stream }) => stream)).to.deep.equal(['tally-2']);
  });

  it('stores data as JSON and the envelope in the metadata, for the server’s own tools', async () => {
    store = await openOnDouble();
    const [event] = open('tally-1', 'a list').events;
    if (event === undefined) throw new Error('There is no event.');
    await store.events.append({ stream: 'tally-1', expected: 'none', events: [event] });
    const [held] = store.double.held('tally-1');
    expect(held).to.include({ id: event.id, type: event.type, contentType: 'application/json' });
    expect(JSON.parse(atob(held?.data ?? ''))).to.deep.equal(JSON.parse(event.data));
    expect(JSON.parse(atob(held?.metadata ?? ''))).to.deep.equal({
      version: event.version,
      time: event.time,
      cause: JSON.parse(event.cause) as unknown,
    });
  });

  it('refuses an append that is too large before it sends anything', async () => {
    store = await openOnDouble();
    const wish = open('tally-1', 'x'.repeat(1_048_576));
    store.double.misbehave({ call: 'append', how: 'silent' });
    const error = await failure(store.events.append(wish));
    expect(error).to.be.an.instanceOf(AppendTooLarge);
    expect(error).to.match(/Refused before it was sent: an append of \d+ bytes is over/);
    store.double.behave();
    expect(store.double.held('tally-1')).to.deep.equal([]);
    expect(await store.events.append(open('tally-1', 'x'.repeat(1_000_000)))).to.have.property(
      'appended',
      true,
    );
  });

  it('refuses what is no JSON before it sends anything', async () => {
    store = await openOnDouble();
    const wish = open('tally-1');
    const unreadable = wish.events.map((event) => ({ ...event, data: '{' }));
    expect(await failure(store.events.append({ ...wish, events: unreadable }))).to.be.an.instanceOf(
      SyntaxError,
    );
    expect(await failure(store.events.append({ ...wish, events: [] }))).to.match(/at least one event/);
    expect(store.double.held('tally-1')).to.deep.equal([]);
  });

  it('leaves no call open when a reader leaves early', async () => {
    store = await openOnDouble();
    for (let n = 0; n < 50; n++) await store.events.append(open(`tally-${n}`));
    for (let n = 0; n < 10; n++) {
      for await (const _ of store.events.subscribe('0', new AbortController().signal)) break;
      await store.events.readAll('0', 3);
      await store.events.readStream('tally-nowhere');
    }
    await until('no call is open', () => {
      const { read, subscribe } = store.double.openCalls();
      return read === 0 && subscribe === 0;
    });
  });

  it('ends subscriptions and refuses calls once it is closed', async () => {
    store = await openOnDouble();
    const subscribed = failure(
      (async () => {
        for await (const _ of store.events.subscribe('0', new AbortController().signal));
      })(),
    );
    await until('it is subscribed', () => store.double.openCalls().subscribe === 1);
    await store.close();
    expect(await within('the subscription ends', 5_000, subscribed)).to.be.an.instanceOf(StoreUnavailable);
    expect(await failure(store.events.append(open('late')))).to.be.an.instanceOf(StoreUnavailable);
    expect(await failure(store.events.head())).to.be.an.instanceOf(StoreUnavailable);
    expect(await failure(store.events.append(count('late', 0)))).to.match(/Refused before it was tried/);
  });
});
