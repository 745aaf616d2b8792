import { expect } from 'chai';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { createClient } from '../support/client.ts';
import { checkDataFile } from '../support/data-file.ts';
import { environmentOf, faultMet, type Fault } from '../support/faults-from-environment.ts';
import { checkLedger } from '../support/ledger-check.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import { runLoad, seedLedger, usualMix } from '../support/load.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { seeded, testSeed } from '../support/random.ts';
import { startAndStop } from '../support/start-and-stop.ts';
import { until, within } from '../support/waiting.ts';

/** How long a load waits for the fault to be met, in milliseconds. */
const metMsMax = 30_000;

/** What the end may take after it, in milliseconds. */
const endMsMax = 5_000;

const faultyProgram = fileURLToPath(new URL('../support/faulty-program.js', import.meta.url));

type Place = Pick<Fault, 'point' | 'thread' | 'hit'> & {
  /** What an exception there costs: the request alone, or the process, where nobody could know what is stored. */
  readonly thrown: 'goes on' | 'ends';
  /** The read model to rebuild, so that the point is reached. */
  readonly rebuild?: string;
  /** Few clients make many small commits. */
  readonly clients?: number;
};

const places: readonly Place[] = [
  { point: 'before-append', thread: 'main', hit: 30, thrown: 'goes on' },
  { point: 'before-append', thread: 'worker', hit: 30, thrown: 'goes on' },
  { point: 'before-projection', thread: 'worker', hit: 20, thrown: 'goes on' },
  { point: 'before-commit', thread: 'worker', hit: 20, thrown: 'goes on' },
  { point: 'after-commit', thread: 'worker', hit: 20, thrown: 'ends' },
  { point: 'before-reply', thread: 'main', hit: 30, thrown: 'goes on' },
  { point: 'in-checkpoint', thread: 'worker', hit: 1, thrown: 'ends', clients: 4 },
  { point: 'in-rebuild', thread: 'worker', hit: 1, thrown: 'goes on', rebuild: 'credentials' },
  { point: 'before-swap', thread: 'worker', hit: 1, thrown: 'goes on', rebuild: 'service_accounts' },
  { point: 'before-swap', thread: 'worker', hit: 1, thrown: 'goes on', rebuild: 'revocations' },
];

/** Every list that clients can ask for, as text. */
const allLists = async (url: string, { tenants }: Ledger): Promise<Record<string, string>> => {
  const client = createClient(url);
  const paths = ['/admin/v1/tenants', '/admin/v1/service-accounts'];
  for (const { id, life } of tenants)
    if (life === 'alive') paths.push(`/admin/v1/tenants/${id}/tokens`, `/admin/v1/tenants/${id}/users`);
  const lists: Record<string, string> = {};
  for (const path of paths) lists[path] = (await client('GET', path)).text;
  return lists;
};

type Model = { readonly name: string; readonly rebuilding: object | null };

const rebuildAll = async (url: string): Promise<void> => {
  const client = createClient(url);
  const models = async () => (await client('GET', '/admin/v1/projections')).body as readonly Model[];
  for (const { name } of await models()) {
    const { status } = await client('POST', `/admin/v1/projections/${name}/rebuild`);
    expect(status, name).to.equal(202);
  }
  await until('all are rebuilt', async () => (await models()).every(({ rebuilding }) => rebuilding === null));
};

describe('at every fail point', function () {
  // Of the hooks; each test has its own.
  this.timeout(30_000);
  const seed = testSeed();
  const random = seeded(seed);
  const seeds = { dir: '', ledger: createLedger() };
  let dir = '';
  let ledger: Ledger = createLedger();
  let program: Program | undefined;

  before(async () => {
    seeds.dir = freshFolder();
    program = await startProgram({ dir: seeds.dir });
    await seedLedger(program.url, seeds.ledger, random);
    expect(await program.stop()).to.equal(0);
  });

  beforeEach(() => {
    dir = freshFolder();
    cpSync(seeds.dir, dir, { recursive: true });
    ledger = structuredClone(seeds.ledger);
  });

  afterEach(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  after(() => removeFolder(seeds.dir));

  /** A load on a program that meets the fault; answers what the load met. */
  const strike = async (fault: Fault, { rebuild, clients = 8, thrown }: Place) => {
    const faulty = await startProgram({ dir, program: faultyProgram, env: environmentOf(fault) });
    program = faulty;
    const { url } = faulty;
    const ends = fault.action === 'kill' || thrown === 'ends';
    const isMet = (): boolean => faulty.output().includes(faultMet(fault.point));
    let left = 20;
    // Where the program goes on, so does the load, for some requests more.
    const deadline = performance.now() + metMsMax;
    const isOver = (): boolean => (!ends && isMet() && left-- <= 0) || performance.now() > deadline;
    const load = runLoad({ url, ledger, random, clients, mix: usualMix, isOver });
    if (rebuild !== undefined)
      // An answer is not to be expected where the process dies of it.
      await createClient(url)('POST', `/admin/v1/projections/${rebuild}/rebuild`).catch(() => undefined);
    const report = await load;
    expect(isMet(), `the fault was met:\n${faulty.output().slice(-2_000)}`).to.equal(true);
    if (ends)
      expect(await within('the end', endMsMax, faulty.exited)).to.equal(
        fault.action === 'kill' ? 'SIGKILL' : 1,
      );
    return report;
  };

  /** What must hold after any fault: where the program died of it, once the service itself has started again. */
  const checkAfterwards = async (goesOn = false): Promise<void> => {
    if (!goesOn) program = await startProgram({ dir });
    if (program === undefined) throw new Error('There is no program.');
    expect(await checkLedger(program.url, ledger, { random, all: true }), `seed ${seed}`).to.deep.equal([]);
    const before = await allLists(program.url, ledger);
    await rebuildAll(program.url);
    expect(await allLists(program.url, ledger)).to.deep.equal(before);
    expect(await program.stop()).to.equal(0);
    // The tables that were just rebuilt, against a replay of the log by other means.
    expect(checkDataFile(dir)).to.deep.equal([]);
  };

  for (const place of places) {
    const { point, thread, hit, thrown, rebuild } = place;
    const where = `${point} (${thread}${rebuild === undefined ? '' : `, rebuilding ${rebuild}`})`;

    it(`${where}, death leaves the read models as the log tells them and no command half`, async () => {
      const { problems } = await strike({ point, thread, hit, action: 'kill' }, place);
      expect(problems).to.deep.equal([]);
      await checkAfterwards();
    }).timeout(90_000);

    it(`${where}, an exception costs ${thrown === 'ends' ? 'the process' : 'at most a request'} and nothing else`, async () => {
      const { problems, statuses } = await strike({ point, thread, hit, action: 'throw' }, place);
      expect(problems).to.deep.equal([]);
      if (thrown === 'goes on')
        expect((statuses.get(500) ?? 0) + (statuses.get(503) ?? 0), 'requests that failed').to.be.at.most(1);
      await checkAfterwards(thrown === 'goes on');
    }).timeout(90_000);
  }

  for (const point of ['in-rebuild', 'before-swap'] as const)
    it(`${point} at a start that fills all read models anew, after a death the next start makes it good`, async () => {
      const db = openDatabase(join(dir, dataFileName));
      db.exec('UPDATE read_models SET version = 0');
      db.close();
      const env = environmentOf({ point, thread: 'worker', hit: 1, action: 'kill' });
      expect(await startAndStop({ dir, program: faultyProgram, env })).to.include({ code: 'SIGKILL' });
      await checkAfterwards();
    }).timeout(60_000);
});
