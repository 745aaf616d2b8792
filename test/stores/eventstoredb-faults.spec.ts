import { expect } from 'chai';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { startEventStoreDouble } from '../support/eventstore-double/index.ts';
import { failure, followLog, openOnDouble, wholeLog, type OnDouble } from '../support/eventstore.ts';
import { open, tally } from '../support/tally-events.ts';
import { until, within } from '../support/waiting.ts';

/** How long one try may take in these tests, in milliseconds. */
const callMs = 300;

/** Far above three tries and the pauses between them, in milliseconds. */
const boundMs = 8_000;

describe('the EventStoreDB adapter, where calls go wrong', () => {
  let store: OnDouble;
  const retried: string[] = [];
  beforeEach(async () => {
    retried.length = 0;
    store = await openOnDouble({
      callMs,
      quietMs: 200,
      observe: { retried: ({ reason }) => retried.push(reason) },
    });
    // The adapter has then asked the server what it asks by itself, and meets no fault with it.
    await until('it is ready', () => store.health().ready);
  });
  afterEach(() => store.close());
  const idsOf = (stream: string): readonly string[] => store.double.held(stream).map(({ id }) => id);

  it('stores an append once whose answer was lost, and answers it', async () => {
    store.double.misbehave({ call: 'append', how: 'lost-answer', times: 1 });
    const one = open('tally-1');
    const result = await store.events.append(one);
    store.double.misbehave({ call: 'append', how: 'lost-answer', times: 1 });
    const several = { ...open('tally-2'), events: [tally('Opened', {}), tally('Counted', { by: 1 })] };
    const second = await store.events.append(several);
    expect(store.double.faultsMet()).to.equal(2);
    expect(retried).to.have.length(2);
    expect(idsOf('tally-1')).to.deep.equal(one.events.map(({ id }) => id));
    expect(idsOf('tally-2')).to.deep.equal(several.events.map(({ id }) => id));
    expect(result).to.deep.equal({ appended: true, events: await store.events.readStream('tally-1') });
    expect(second).to.deep.equal({ appended: true, events: await store.events.readStream('tally-2') });
  });

  it('stores each append once, where answers to a crowd of them are lost again and again', async () => {
    for (let n = 0; n < 5; n++) store.double.misbehave({ call: 'append', how: 'lost-answer', times: 1 });
    const wishes = Array.from({ length: 64 }, (_, n) => open(`tally-${n}`));
    const results = await Promise.all(wishes.map((wish) => failure(store.events.append(wish))));
    const lost = results.filter((error) => error !== undefined);
    expect(lost.every((error) => error instanceof StoreUnavailable)).to.equal(true);
    for (const [n, wish] of wishes.entries()) {
      if (results[n] === undefined) expect(idsOf(wish.stream)).to.deep.equal(wish.events.map(({ id }) => id));
      else expect(idsOf(wish.stream)).to.have.length.at.most(1);
    }
    expect(results.filter((error) => error === undefined)).to.have.length.at.least(1);
  });

  it('stores an append once whose answer comes too late, and answers it', async () => {
    store.double.misbehave({ call: 'append', how: 'late', ms: callMs * 2, times: 1 });
    const wish = open('tally-1');
    expect(await store.events.append(wish)).to.have.property('appended', true);
    expect(idsOf('tally-1')).to.deep.equal(wish.events.map(({ id }) => id));
    expect(retried).to.have.length(1);
    await until('the late answer has come, and harms nobody', () => store.double.openCalls().append <= 1);
  });

  it('gives up on a silent server in time, with StoreUnavailable, and leaves nothing open', async () => {
    const { events, double } = store;
    await events.append(open('tally-1'));
    double.misbehave({ call: 'append', how: 'silent' });
    double.misbehave({ call: 'read', how: 'silent' });
    const calls = [
      events.append(open('tally-2')),
      events.readStream('tally-1'),
      events.readAll('0'),
      events.head(),
    ];
    const errors = await within('all give up', boundMs, Promise.all(calls.map(failure)));
    for (const error of errors) {
      expect(error).to.be.an.instanceOf(StoreUnavailable);
      expect(error).to.match(/no answer to .* within 300 ms/);
    }
    expect(store.health().ready).to.equal(false);
    double.behave();
    await until('no read is open', () => double.openCalls().read === 0);
    expect(await events.append(open('tally-3'))).to.have.property('appended', true);
    await until('it is ready', () => store.health().ready);
    expect(idsOf('tally-2')).to.have.length.at.most(1);
  });

  for (const how of ['unavailable', 'not-ready'] as const)
    it(`tries again where the server says “${how}”, and gives up with StoreUnavailable where it goes on`, async () => {
      const { events, double } = store;
      for (const call of ['append', 'read'] as const) double.misbehave({ call, how, times: 2 });
      expect(await events.append(open('tally-1'))).to.have.property('appended', true);
      expect(await events.readStream('tally-1')).to.have.length(1);
      for (const call of ['append', 'read'] as const) double.misbehave({ call, how });
      expect(await failure(events.append(open('tally-2')))).to.be.an.instanceOf(StoreUnavailable);
      expect(await failure(events.readStream('tally-1'))).to.be.an.instanceOf(StoreUnavailable);
      expect(await failure(events.head())).to.be.an.instanceOf(StoreUnavailable);
      expect(store.health()).to.have.property('ready', false);
      double.behave();
      expect(await events.append(open('tally-2'))).to.have.property('appended', true);
      expect(await events.readStream('tally-2')).to.have.length(1);
      expect(store.health()).to.deep.equal({ ready: true });
    });

  it('tries again where the server ends a call without an answer and without an error', async () => {
    const { events, double } = store;
    double.misbehave({ call: 'append', how: 'ended', times: 1 });
    expect(await events.append(open('tally-1'))).to.have.property('appended', true);
    double.misbehave({ call: 'read', how: 'ended', times: 1 });
    expect(await events.readStream('tally-1')).to.have.length(1);
    expect(retried).to.deep.equal([
      'the server ended the call',
      'the server ended a read before its first event',
    ]);
  });

  it('opens another call for its appends where one has gone silent', async () => {
    store.double.misbehave({ call: 'append', how: 'stuck', times: 1 });
    expect(await store.events.append(open('tally-1'))).to.have.property('appended', true);
    expect(retried).to.deep.equal([`no answer to an append within ${callMs} ms`]);
    expect(await store.events.append(open('tally-2'))).to.have.property('appended', true);
    expect(retried).to.have.length(1);
    await until('the silent call is closed', () => store.double.openCalls().append === 1);
  });

  it('refuses at once what would wait behind a thousand calls', async () => {
    const { events, double } = store;
    double.misbehave({ call: 'append', how: 'silent' });
    const calls = Array.from({ length: 1_010 }, (_, n) => failure(events.append(open(`tally-${n}`))));
    const refused = await within('the last is refused', boundMs, calls.at(-1) ?? Promise.resolve());
    expect(refused).to.be.an.instanceOf(StoreUnavailable);
    expect(refused).to.match(/^StoreUnavailable: Refused before it was tried: 1000 calls/);
    const errors = await within('all give up', boundMs, Promise.all(calls));
    expect(errors.every((error) => error instanceof StoreUnavailable)).to.equal(true);
    double.behave();
    expect(await events.append(open('late'))).to.have.property('appended', true);
  });

  it('answers the server’s lost race as a lost race', async () => {
    store.double.misbehave({ call: 'append', how: 'wrong-version', times: 1 });
    expect(await store.events.append(open('tally-1'))).to.deep.equal({ appended: false, current: 41 });
    expect(retried).to.deep.equal([]);
  });

  it('goes to the node that leads, where the one it speaks to does not', async () => {
    const follower = await startEventStoreDouble();
    const leader = { host: '127.0.0.1', port: store.double.port };
    for (const call of ['append', 'read', 'subscribe'] as const)
      follower.misbehave({ call, how: 'not-leader', leader });
    const { events, close } = openEventStoreDb({ connectionString: follower.connectionString, callMs });
    expect(await events.append(open('tally-1'))).to.have.property('appended', true);
    expect(await events.readStream('tally-1')).to.have.length(1);
    expect(idsOf('tally-1')).to.have.length(1);
    expect(follower.held('tally-1')).to.deep.equal([]);
    await close();
    await follower.close();
  });

  for (const how of ['drop', 'end', 'mute'] as const)
    it(`goes on without gap or repeat when the server’s subscriptions ${how}`, async () => {
      const { events, double } = store;
      const following = followLog(events);
      for (let n = 0; n < 60; n++) {
        await events.append(open(`tally-${n}`));
        if (n % 20 === 10) {
          await until('it is subscribed', () => double.subscribed() === 1);
          double.subscriptions(how);
        }
      }
      await until('all have come', () => following.seen.length >= 60);
      await following.stop();
      expect(following.seen).to.deep.equal(await wholeLog(events));
      await until('no subscription is open', () => double.openCalls().subscribe === 0);
    });

  it('subscribes again until the server answers, however it refuses', async () => {
    const { events, double } = store;
    for (const how of ['unavailable', 'not-ready', 'silent', 'ended'] as const)
      double.misbehave({ call: 'subscribe', how, times: 1 });
    const following = followLog(events);
    await events.append(open('tally-1'));
    await until('it has come', () => following.seen.length === 1);
    expect(double.faultsMet()).to.equal(4);
    await following.stop();
  });
});
