import { expect } from 'chai';
import * as fc from 'fast-check';
import { startOfLog, toPosition, type StoredEvent } from '../../src/core/event.ts';
import type { EventStore } from '../../src/core/ports.ts';
import type { MongoDb } from '../../src/stores/mongodb/index.ts';
import {
  freshDatabase,
  givenServer,
  openNode,
  ready,
  serverMissing,
  withFerretDb,
} from '../support/mongodb.ts';
import { testRounds, testSeed } from '../support/random.ts';
import { tally } from '../support/tally-events.ts';
import type { Strike, Tally, TallyFact } from '../support/tally-projections.ts';

/** Runs of the law: 25, or `KEYLEDGER_TEST_ROUNDS`. */
const rounds = testRounds(25);

/** A log without events: what reaches the read models comes by `settle` alone. */
const emptyLog: EventStore = {
  append: () => Promise.reject(new Error('Nothing is appended here.')),
  readStream: async () => [],
  readAll: async () => [],
  readAllBack: async () => [],
  head: async () => startOfLog,
  subscribe: async function* (_, signal) {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    yield* [];
  },
};

type Step = 'count' | 'turn' | 'strike';

/** A stream's events: `turn` ends the document where there is one and makes it where there is none. */
const streamOf = (stream: string, steps: readonly Step[], from: number, run: string): StoredEvent[] => {
  let isOpen = false;
  return steps.map((step, revision) => {
    const fact = (): ReturnType<typeof tally<TallyFact['type']>> => {
      if (step === 'strike')
        return tally('Struck', { id: `${run}-${revision % 3}`, at: ((from + revision) * 7) % 11 });
      if (step === 'count') return tally('Counted', { by: revision + 1 });
      isOpen = !isOpen;
      return isOpen ? tally('Opened', { list: `list-${revision}` }) : tally('Closed', {});
    };
    return { ...fact(), stream, revision, position: toPosition(from + revision) };
  });
};

/** What the documents must be, told from the events without any projection. */
const wanted = (streams: readonly (readonly StoredEvent[])[]) => {
  const tallies = new Map<string, Tally>();
  const strikes = new Map<string, number>();
  for (const event of streams.flat()) {
    const data = JSON.parse(event.data) as { by?: number; list?: string; id?: string; at?: number };
    const there = tallies.get(event.stream);
    if (event.type === 'Opened')
      tallies.set(event.stream, { id: event.stream, list: data.list ?? '', total: 0 });
    if (event.type === 'Closed') tallies.delete(event.stream);
    if (event.type === 'Counted' && there !== undefined)
      tallies.set(event.stream, { ...there, total: there.total + (data.by ?? 0) });
    if (event.type === 'Struck') {
      const { id = '', at = 0 } = data;
      strikes.set(id, Math.min(strikes.get(id) ?? Infinity, at));
    }
  }
  return { tallies, strikes };
};

type Delivery = { readonly stream: number; readonly upTo: number; readonly node: 0 | 1 };

const steps = fc.array(fc.constantFrom<Step>('turn', 'turn', 'count', 'strike'), {
  minLength: 1,
  maxLength: 8,
});
const deliveries = fc.array(
  fc.record({ stream: fc.nat(3), upTo: fc.nat(8), node: fc.constantFrom<0 | 1>(0, 1) }),
  { maxLength: 16 },
);

/** Two nodes on one database; each run of the law has streams and tombstones of its own. */
const suite = (connectionString: () => string, atOnce: number): void => {
  let nodes: readonly [MongoDb, MongoDb];
  let runs = 0;
  before(async function () {
    this.timeout(60_000);
    const url = connectionString();
    nodes = [await openNode(url, emptyLog), await openNode(url, emptyLog)];
    await Promise.all(nodes.map(ready));
  });
  after(() => Promise.all(nodes.map((node) => node.close())));

  /** As of each position there is what the events up to there make, and pages have it in order. */
  const holdThePast = async (streams: readonly (readonly StoredEvent[])[]): Promise<void> => {
    const [{ readModels }] = nodes;
    for (const at of new Set(streams.flat().map(({ position }) => position))) {
      const upTo = streams.map((events) => events.filter(({ position }) => position <= at));
      const { tallies, strikes } = wanted(upTo);
      const then = readModels.documentsAsOf<Tally>('tallies', at);
      const ids = streams.map(([first]) => first?.stream ?? '');
      expect(await then.getMany(ids), `as of ${at}`).to.deep.equal(ids.map((id) => tallies.get(id)));
      for (const list of new Set([...tallies.values()].map((it) => it.list))) {
        const mine = (await then.page({ group: list, limit: 1_000 }))
          .map(({ document }) => document)
          .filter(({ id }) => ids.includes(id));
        const there = [...tallies.values()].filter((it) => it.list === list);
        expect(mine, `${list} as of ${at}`).to.have.deep.members(there);
      }
      const laid = [0, 1, 2].map((n) => `${runs}-${n}`);
      const struck = await readModels.documentsAsOf<Strike>('strikes', at).getMany(laid);
      expect(
        struck.map((it) => it?.at),
        `struck as of ${at}`,
      ).to.deep.equal(laid.map((id) => strikes.get(id)));
    }
  };

  /** Every stream reaches the read models whole at least once, and any part of it at any other time. */
  const law = async (all: readonly (readonly Step[])[], late: readonly Delivery[]): Promise<void> => {
    runs += 1;
    const streams = all.map((it, n) => streamOf(`${runs}-${n}`, it, runs * 1_000 + n * 10, `${runs}`));
    const whole = streams.map((it, stream): Delivery => ({ stream, upTo: it.length, node: 0 }));
    const order = [...late.slice(0, late.length / 2), ...whole, ...late.slice(late.length / 2)];
    for (let n = 0; n < order.length; n += atOnce)
      await Promise.all(
        order.slice(n, n + atOnce).map(async ({ stream, upTo, node }) => {
          await nodes[node].readModels.settle((streams[stream] ?? []).slice(0, upTo));
        }),
      );
    const { tallies, strikes } = wanted(streams);
    await holdThePast(streams);
    for (const { readModels } of nodes) {
      for (const [{ stream = '' } = {}] of streams)
        expect(await readModels.documents<Tally>('tallies').get(stream)).to.deep.equal(tallies.get(stream));
      for (const n of [0, 1, 2])
        expect((await readModels.documents<Strike>('strikes').get(`${runs}-${n}`))?.at).to.equal(
          strikes.get(`${runs}-${n}`),
        );
    }
  };

  it(`are the same whatever part of a stream is settled again and late, ${atOnce} at once by two nodes`, () =>
    fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 4 }), deliveries, law), {
      numRuns: rounds,
      seed: testSeed(),
      endOnFailure: true,
    })).timeout(120_000);

  it('are the same when two nodes settle the same events at once', async () => {
    const events = streamOf('s', ['turn', 'count', 'strike', 'count', 'turn', 'turn', 'count'], 1, 's');
    for (let upTo = 1; upTo <= events.length; upTo++)
      await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          nodes[n % 2 === 0 ? 0 : 1].readModels.settle(events.slice(0, upTo)),
        ),
      );
    for (const { readModels } of nodes) {
      expect(await readModels.documents('tallies').get('s')).to.deep.equal({
        id: 's',
        list: 'list-5',
        total: 7,
      });
      expect(await readModels.documents('strikes').get('s-2')).to.deep.equal({ at: 10 });
    }
  }).timeout(30_000);
};

// FerretDB 1 reads, changes and writes a document in three steps that others may come between: it can't show what
// a server promises whose updates are atomic.
withFerretDb('the read models on FerretDB', (ferretDb) => {
  suite(() => ferretDb().url(freshDatabase()), 1);
});

describe('the read models on a MongoDB server', () => {
  const url = givenServer();
  if (url === undefined) it(serverMissing);
  else suite(url, 16);
});
