import { join } from 'node:path';
import { expect } from 'chai';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { openEventStoreDb, type EventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { temporaryFolder } from '../support/embedded.ts';
import { startEventStoreProcess, type EventStoreProcess } from '../support/eventstore-process.ts';
import { failure, followLog, wholeLog } from '../support/eventstore.ts';
import { startTcpRelay } from '../support/tcp-relay.ts';
import { testRounds } from '../support/random.ts';
import { count, open } from '../support/tally-events.ts';
import { until, within } from '../support/waiting.ts';

/** How long one try may take in these tests, in milliseconds. */
const callMs = 500;

/** How often the server is killed: `KEYLEDGER_TEST_ROUNDS`, else 3. */
const rounds = testRounds(3);

/** Far above what it takes the adapter to find a server again, in milliseconds. */
const boundMs = 20_000;

describe('the EventStoreDB adapter, where the server is away', () => {
  let server: EventStoreProcess;
  let store: EventStoreDb;
  let file: string;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    const folder = await temporaryFolder();
    ({ remove } = folder);
    file = join(folder.dir, 'log.jsonl');
    server = await startEventStoreProcess(file);
    store = openEventStoreDb({ connectionString: server.connectionString, callMs, quietMs: 500 });
  });
  afterEach(async () => {
    await store.close();
    await server.kill();
    await remove();
  });
  const restart = async (): Promise<void> => {
    server = await startEventStoreProcess(file, server.port);
  };
  const appended = async (stream: string): Promise<boolean> => {
    const error = await failure(store.events.append(open(stream)));
    if (error === undefined) return true;
    expect(error).to.be.an.instanceOf(StoreUnavailable);
    return false;
  };

  it('keeps every acknowledged append and follows the log without gap or repeat through kills', async () => {
    const following = followLog(store.events);
    const acknowledged: string[] = [];
    const over = new AbortController();
    const appender = async (which: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n++) {
        const stream = `tally-${which}-${n}`;
        if (await appended(stream)) acknowledged.push(stream);
      }
    };
    const appenders = Promise.all(Array.from({ length: 8 }, (_, which) => appender(which)));
    for (let round = 0; round < rounds; round++) {
      const before = acknowledged.length;
      await until('appends go on', () => acknowledged.length > before + 50, boundMs);
      await server.kill();
      await until('it is not ready', () => !store.health().ready, boundMs);
      await restart();
    }
    const before = acknowledged.length;
    await until('appends go on', () => acknowledged.length > before + 50, boundMs);
    over.abort();
    await appenders;
    const log = await wholeLog(store.events);
    await until('all have come', () => following.seen.length >= log.length, boundMs);
    await following.stop();
    expect(following.seen.map(({ position }) => position)).to.deep.equal(log.map(({ position }) => position));
    expect(new Set(log.map(({ id }) => id)).size).to.equal(log.length);
    const streams = new Set(log.map(({ stream }) => stream));
    expect(acknowledged.filter((stream) => !streams.has(stream))).to.deep.equal([]);
  }).timeout(120_000);

  it('says StoreUnavailable for every call while the server is away, and recovers by itself', async () => {
    const { events, health } = store;
    await events.append(open('tally-1'));
    expect(health()).to.deep.equal({ ready: true });
    await server.kill();
    const calls = [
      events.append(count('tally-1', 0)),
      events.readStream('tally-1'),
      events.readAll('0'),
      events.head(),
      store.lastEventTime(),
    ];
    const errors = await within('all give up', boundMs, Promise.all(calls.map(failure)));
    for (const error of errors) expect(error).to.be.an.instanceOf(StoreUnavailable);
    expect(health()).to.have.property('ready', false);
    await restart();
    await until('it is ready', () => health().ready, boundMs);
    expect(await events.readStream('tally-1')).to.have.length(1);
    expect(await events.append(count('tally-1', 0))).to.have.property('appended', true);
  }).timeout(60_000);

  it('gives up in time on a server that hangs, and goes on when it does', async () => {
    const following = followLog(store.events);
    await store.events.append(open('tally-1'));
    server.halt();
    const [first, second] = [open('tally-2'), count('tally-1', 0)];
    const errors = await within(
      'both give up',
      boundMs,
      Promise.all([first, second].map((wish) => failure(store.events.append(wish)))),
    );
    for (const error of errors) expect(error).to.be.an.instanceOf(StoreUnavailable);
    server.resume();
    // What was given up may have been stored: the same ids at the same place answer either way.
    await until('it answers', async () => (await failure(store.events.append(first))) === undefined, boundMs);
    expect(await store.events.append(second)).to.have.property('appended', true);
    await until('all have come', () => following.seen.length >= 3, boundMs);
    await following.stop();
    const log = await wholeLog(store.events);
    expect(log).to.have.length(3);
    expect(following.seen).to.deep.equal(log);
  }).timeout(60_000);

  it('takes another connection where its own has died without a word', async () => {
    const relay = await startTcpRelay(server.port);
    const connectionString = `esdb://127.0.0.1:${relay.port}?tls=false`;
    const relayed = openEventStoreDb({ connectionString, callMs, quietMs: 500 });
    const following = followLog(relayed.events);
    expect(await relayed.events.append(open('tally-1'))).to.have.property('appended', true);
    await until('it has come', () => following.seen.length === 1);
    relay.silence();
    // Keep-alive finds out after twenty seconds; that is not waited for.
    const second = open('tally-2');
    await until(
      'an append comes through',
      async () => (await failure(relayed.events.append(second))) === undefined,
    );
    await until('the subscription goes on', () => following.seen.length === 2);
    await following.stop();
    expect(following.seen).to.deep.equal(await wholeLog(relayed.events));
    await relayed.close();
    await relay.close();
  }).timeout(60_000);

  it('opens where there is no server yet, and is ready once there is', async () => {
    await server.kill();
    const early = openEventStoreDb({ connectionString: server.connectionString, callMs });
    expect(early.health()).to.have.property('ready', false);
    expect(await failure(early.events.head())).to.be.an.instanceOf(StoreUnavailable);
    await restart();
    await until('it is ready', () => early.health().ready, boundMs);
    expect(await early.events.append(open('tally-1'))).to.have.property('appended', true);
    await early.close();
  }).timeout(60_000);

  for (const [name, to] of [
    ['+discover', (port: number) => `kurrentdb+discover://127.0.0.1:${port}`],
    ['several hosts', (port: number) => `esdb://127.0.0.1:1,127.0.0.1:${port}`],
  ] as const)
    it(`finds the server by ${name}, again after a discovery that failed`, async () => {
      const options = 'tls=false&maxDiscoverAttempts=1&discoveryInterval=10&gossipTimeout=1';
      const connectionString = `${to(server.port)}?${options}`;
      const found = openEventStoreDb({ connectionString, callMs: 2_000 });
      expect(await found.events.append(open('tally-1'))).to.have.property('appended', true);
      await server.kill();
      expect(await failure(found.events.append(open('tally-2')))).to.be.an.instanceOf(StoreUnavailable);
      expect(await failure(found.events.head())).to.be.an.instanceOf(StoreUnavailable);
      await restart();
      await until('it is ready', () => found.health().ready, boundMs);
      expect(await found.events.append(open('tally-2'))).to.have.property('appended', true);
      expect(await found.events.readAll('0')).to.have.length.at.least(2);
      await found.close();
    }).timeout(60_000);
});
