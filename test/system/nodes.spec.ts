import { expect } from 'chai';
import { setTimeout as passed } from 'node:timers/promises';
import type { EventStore } from '../../src/core/ports.ts';
import { openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { arrangeAccount, isActive, mint, type Answer } from '../support/client.ts';
import { wholeLog } from '../support/eventstore.ts';
import type { FerretDb } from '../support/ferretdb.ts';
import { checkLedger } from '../support/ledger-check.ts';
import { createLedger } from '../support/ledger.ts';
import { runLoad, seedLedger, usualMix, type Mix } from '../support/load.ts';
import { readRows, withFerretDb } from '../support/mongodb.ts';
import { checkLog, startBalancer } from '../support/nodes-balancer.ts';
import { createWitness } from '../support/nodes-witness.ts';
import { lastRebuilds, startNodes, type Node, type Nodes } from '../support/nodes.ts';
import { between, pick, seeded, testRounds, testSeed, type Random } from '../support/random.ts';
import { until } from '../support/waiting.ts';

// KEYLEDGER_TEST_ROUNDS: how often a node is killed or paused, for each number of nodes; 100 for a long run.
// KEYLEDGER_TEST_SEED: repeats what was drawn (not how the machine interleaved it).
const rounds = testRounds(3);

/** So many looks at another node, at the position of the change, before anything goes wrong. */
const looksMin = 20;

/** A projector that is away this long has lost its turn when it comes back, in milliseconds. */
const pauseMsLong = 6_500;

/** How long another node may take to project, in milliseconds: a promise of the service. */
const handOverMsMax = 10_000;

/** How long recovery is waited for, in milliseconds. */
const recoverMs = 30_000;

/** More ends than usual, and few hashes. */
const mix: Mix = { ...usualMix, mint: 40, createUser: 2, lookUp: 30, deleteTenant: 2 };

const lateProgram = new URL('../support/nodes-late-program.js', import.meta.url).pathname;

const statusOf = async (node: Node, path: string): Promise<number> =>
  (await node.client()('GET', path, { token: null })).status;

const allReady = (nodes: readonly Node[]): Promise<void> =>
  until(
    'every node is ready',
    async () =>
      (await Promise.all(nodes.map((node) => statusOf(node, '/readyz')))).every((status) => status === 200),
    recoverMs,
  );

const isProjecting = async (node: Node): Promise<boolean> =>
  node.state() === 'up' &&
  /^projector_active 1$/m.test((await node.client()('GET', '/metrics', { token: null })).text);

/** The node that projects, once there is one. */
const projector = async (nodes: readonly Node[]): Promise<Node> => {
  let found: Node | undefined;
  const look = async (): Promise<boolean> => {
    const all = await Promise.all(nodes.map(isProjecting));
    found = nodes[all.indexOf(true)];
    return found !== undefined;
  };
  await until('a node projects', look, handOverMsMax);
  if (found === undefined) throw new Error('No node projects.');
  return found;
};

type ReadModel = { readonly name: string; readonly version: number; readonly checkpoint: string };

const keyOf = ({ name, version }: ReadModel): string => `${name}@${version}`;

const readModelsOf = async (node: Node) => {
  const { status, body } = await node.client()('GET', '/admin/v1/projections');
  return status === 200 ? (body as readonly (ReadModel & { rebuilding: unknown })[]) : [];
};

/** Asks the log's server itself, past the nodes. */
const askLog = async <T>({ eventStore }: Nodes, ask: (events: EventStore) => Promise<T>): Promise<T> => {
  const store = openEventStoreDb({ connectionString: eventStore.connectionString });
  try {
    return await ask(store.events);
  } finally {
    await store.close();
  }
};

const headOf = (all: Nodes): Promise<string> => askLog(all, (events) => events.head());

const caughtUp = async (all: Nodes, node: Node, ms = recoverMs): Promise<void> => {
  const head = await headOf(all);
  const isThere = async (): Promise<boolean> => {
    const models = await readModelsOf(node);
    return models.length > 0 && models.every(({ checkpoint }) => checkpoint >= head);
  };
  await until('every read model is at the head of the log', isThere, ms);
};

const lists = ['/admin/v1/tenants', '/admin/v1/service-accounts'];

/** What every node lists. */
const listed = async (nodes: readonly Node[]): Promise<readonly string[]> =>
  Promise.all(nodes.flatMap((node) => lists.map(async (path) => (await node.client()('GET', path)).text)));

/** Each read model's documents, and those that a rebuild of it leaves: the same, and listed the same. */
const expectRebuildsToChangeNothing = async (all: Nodes, random: Random): Promise<void> => {
  const { nodes, readModels } = all;
  const [first] = nodes;
  if (first === undefined) throw new Error('There is no node.');
  await caughtUp(all, first);
  const listedBefore = await listed(nodes);
  expect(new Set(listedBefore).size, 'lists that differ from node to node').to.equal(lists.length);
  const models = await readModelsOf(first);
  const read = () => Promise.all(models.map((model) => readRows(readModels, keyOf(model))));
  const before = await read();
  for (const { name } of models) {
    const { status } = await (pick(random, nodes) ?? first).client()(
      'POST',
      `/admin/v1/projections/${name}/rebuild`,
    );
    expect(status).to.equal(202);
  }
  const isRebuilt = async (): Promise<boolean> => {
    const now = await lastRebuilds(readModels);
    return models.every((model) => (now.get(keyOf(model)) ?? null) !== null);
  };
  await until('every read model has been rebuilt', isRebuilt, recoverMs);
  expect([...(await lastRebuilds(readModels)).values()].filter((it) => it?.error !== null)).to.deep.equal([]);
  const after = await read();
  for (const [at, model] of models.entries())
    expect(after[at]?.rows, keyOf(model)).to.deep.equal(before[at]?.rows);
  expect(await listed(nodes), 'lists after the rebuilds').to.deep.equal(listedBefore);
};

/** A load over every node that is up, with its ledger and its witness. */
const startLoad = async (all: Nodes, random: Random) => {
  const { nodes } = all;
  const ledger = createLedger();
  const condition = { isCalm: true, isOver: true };
  const problems: string[] = [];
  const witness = createWitness(nodes, { random, isCalm: () => condition.isCalm });
  const balancer = await startBalancer(nodes, { random, witness, isCalm: () => condition.isCalm });
  await seedLedger(balancer.url, ledger, random);
  let acknowledged = 0;
  const { url } = balancer;
  const lane = async (): Promise<void> => {
    // A client ends with its connection, which goes with its node: the next one takes its place.
    while (!condition.isOver) {
      const report = await runLoad({ url, ledger, random, mix, clients: 1, isOver: () => condition.isOver });
      problems.push(...report.problems);
      acknowledged += report.acknowledged;
    }
  };
  let lanes: Promise<unknown> = Promise.resolve();
  const found = (): readonly string[] =>
    [...problems, ...witness.problems, ...balancer.problems].slice(0, 20);
  return {
    condition,
    witness,
    balancer,
    acknowledged: () => acknowledged,
    found,
    begin: (clients: number): void => {
      condition.isOver = false;
      lanes = Promise.all(Array.from({ length: clients }, lane));
    },
    end: async (): Promise<void> => {
      condition.isOver = true;
      await lanes;
      await balancer.looked();
    },
    /** Everything that was asked, held against what is there and what the log says. */
    check: async (which: { readonly all: boolean }): Promise<readonly string[]> => [
      ...found(),
      ...(await checkLedger(url, ledger, { random, ...which })),
      ...checkLog(balancer.asked, await askLog(all, wholeLog)),
    ],
  };
};

type Load = Awaited<ReturnType<typeof startLoad>>;

/** Kills or pauses one node and has it come back. */
const trouble = async (nodes: readonly Node[], { witness }: Load, random: Random): Promise<void> => {
  await passed(between(random, 50, 400));
  const node = pick(random, nodes);
  if (node === undefined) return;
  if (random() < 0.5) {
    await node.kill();
    await passed(between(random, 0, 300));
    await node.start();
    return;
  }
  node.pause();
  await passed(between(random, 50, 1_000));
  // They wait in its socket, and are the first that it reads.
  const looks = witness.lookAgain(node);
  node.resume();
  await looks;
};

const expectPromisesKept = async (all: Nodes, random: Random, long: boolean): Promise<void> => {
  const { nodes } = all;
  const load = await startLoad(all, random);
  try {
    load.begin(6);
    const isSeen = (): boolean => load.witness.counts.atPosition >= looksMin;
    await until('other nodes have been asked for the position of a change', isSeen, recoverMs);
    await load.end();
    expect(load.found(), 'while nothing went wrong').to.deep.equal([]);
    load.condition.isCalm = false;
    load.begin(8);
    for (let round = 1; round <= rounds; round += 1) await trouble(nodes, load, random);
    if (long) {
      const node = await projector(nodes);
      node.pause();
      await passed(pauseMsLong);
      const looks = load.witness.lookAgain(node);
      node.resume();
      await looks;
    }
    await load.end();
    await allReady(nodes);
    expect(await load.check({ all: true })).to.deep.equal([]);
    await expectRebuildsToChangeNothing(all, random);
    expect(await load.check({ all: false }), 'after the rebuilds').to.deep.equal([]);
  } finally {
    load.condition.isOver = true;
    await load.balancer.close();
  }
};

type Engine = {
  readonly name: string;
  readonly leave: (all: Nodes, ferretDb: FerretDb) => unknown;
  readonly comeBack: (all: Nodes, ferretDb: FerretDb) => unknown;
};

const outages: readonly Engine[] = [
  {
    name: 'the event store was killed',
    leave: ({ eventStore }) => eventStore.kill(),
    comeBack: ({ restartEventStore }) => restartEventStore(),
  },
  {
    name: 'the event store hung',
    leave: ({ eventStore }) => eventStore.halt(),
    comeBack: ({ eventStore }) => eventStore.resume(),
  },
  {
    name: 'the read models were killed',
    leave: (_, ferretDb) => ferretDb.kill(),
    comeBack: (_, ferretDb) => ferretDb.start(),
  },
  {
    name: 'the read models hung',
    leave: (_, ferretDb) => ferretDb.pause(),
    comeBack: (_, ferretDb) => ferretDb.resume(),
  },
];

withFerretDb('several nodes over the same engines', (ferretDb) => {
  let all: Nodes | undefined;
  const seed = testSeed();
  const random = seeded(seed);

  const given = async (count: number): Promise<Nodes> => (all = await startNodes(count, ferretDb()));

  afterEach(async function () {
    this.timeout(20_000);
    await all?.close();
    all = undefined;
  });

  for (const count of [2, 3]) {
    it(`keeps every promise while ${count} nodes are killed and paused (${rounds} times, seed ${seed})`, async () => {
      await expectPromisesKept(await given(count), random, count === 3);
    }).timeout(60_000 + rounds * 5_000);
  }

  it('has another node project within 10 s where the one that projects is killed', async () => {
    const { nodes } = await given(3);
    const killed = await projector(nodes);
    const [other] = nodes.filter((node) => node !== killed);
    if (all === undefined || other === undefined) throw new Error('There is no other node.');
    await arrangeAccount(other.client(), 'acme');
    await killed.kill();
    await arrangeAccount(other.client(), 'bolt');
    const head = await headOf(all);
    let next: readonly Node[] = [];
    const isHandedOver = async (): Promise<boolean> => {
      const left = nodes.filter((node) => node !== killed);
      const active = await Promise.all(left.map(isProjecting));
      next = left.filter((_, at) => active[at]);
      const models = await readModelsOf(other);
      return next.length > 0 && models.length > 0 && models.every(({ checkpoint }) => checkpoint >= head);
    };
    await until('another node projects, up to the head of the log', isHandedOver, handOverMsMax);
    expect(next).to.have.length(1);
  }).timeout(60_000);

  it(`answers 503 while an engine is away, and recovers by itself (seed ${seed})`, async () => {
    const there = await given(2);
    const { nodes } = there;
    const load = await startLoad(there, random);
    try {
      load.condition.isCalm = false;
      for (const { name, leave, comeBack } of outages) {
        load.begin(6);
        await passed(300);
        const before = load.balancer.statuses.get(503) ?? 0;
        await leave(there, ferretDb());
        await until(
          `no node is ready after ${name}`,
          async () =>
            (await Promise.all(nodes.map((node) => statusOf(node, '/readyz')))).every((it) => it === 503),
          recoverMs,
        );
        await until(`a request is answered 503`, () => (load.balancer.statuses.get(503) ?? 0) > before);
        const needsNothing: Answer[] = await Promise.all(
          nodes.flatMap((node) => [
            node.client()('GET', '/healthz', { token: null }),
            node.client()('GET', '/metrics', { token: null }),
            node.client()('GET', '/admin/v1/capabilities'),
          ]),
        );
        expect(needsNothing.map(({ status }) => status).filter((status) => status !== 200)).to.deep.equal([]);
        await comeBack(there, ferretDb());
        await allReady(nodes);
        const minted = load.balancer.statuses.get(201) ?? 0;
        await until('changes are acknowledged again', () => (load.balancer.statuses.get(201) ?? 0) > minted);
        await load.end();
        await allReady(nodes);
        await caughtUp(there, nodes[0] as Node);
        expect(await load.check({ all: false }), `after ${name}`).to.deep.equal([]);
      }
    } finally {
      ferretDb().resume();
      load.condition.isOver = true;
      await load.balancer.close();
    }
  }).timeout(180_000);

  it('refuses what another node ended, on a node whose clock is two minutes behind', async () => {
    const { nodes, another } = await given(1);
    const late = another(lateProgram);
    await late.start();
    const here = (nodes[0] as Node).client();
    const behind = late.client();
    const bearerWorks = async (token: string): Promise<boolean> =>
      (await behind('GET', '/admin/v1/capabilities', { token })).status === 200;
    const { id, bearer } = await arrangeAccount(here, 'acme');
    const [one, two] = [await mint(here, 'acme', bearer), await mint(here, 'acme', bearer)];
    const beforehand = [await bearerWorks(bearer), await isActive(behind, 'acme', one)];
    expect(beforehand, 'what works before').to.deep.equal([true, true]);
    const revoked = await here('DELETE', `/admin/v1/tenants/acme/tokens/${one.username}`);
    const rotated = await here('POST', `/admin/v1/service-accounts/${id}/rotate`);
    expect([revoked.status, rotated.status]).to.deep.equal([204, 200]);
    expect(await isActive(behind, 'acme', one), 'the credential that was revoked').to.equal(false);
    expect(await isActive(behind, 'acme', two), 'the credential that was not').to.equal(true);
    expect(await bearerWorks(bearer), 'the bearer that was rotated away').to.equal(false);
    const { bearer: fresh } = rotated.body as { bearer: string };
    expect(await bearerWorks(fresh), 'the new bearer').to.equal(true);
  }).timeout(60_000);
});
