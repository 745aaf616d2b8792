import { expect } from 'chai';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { checkDataFile } from '../support/data-file.ts';
import { checkLedger } from '../support/ledger-check.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import { runLoad, seedLedger } from '../support/load.ts';
import { compileNative, itUnless, whyNot } from '../support/native.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { seeded, testRounds, testSeed } from '../support/random.ts';
import { startAndStop } from '../support/start-and-stop.ts';
import { within } from '../support/waiting.ts';

// KEYLEDGER_TEST_ROUNDS: every call from the first to this one fails once, in a run of its own; 200 for a long run.
const rounds = testRounds(0);

/** What the end may take after an error that nobody can recover from, in milliseconds. */
const dieMsMax = 2_000;

/** How long a load goes on in search of the failing call, in milliseconds. */
const metMsMax = 30_000;

const wal = `${dataFileName}-wal`;

/** Which call of which kind fails, and whether those after it fail too. */
type Failure = {
  readonly calls: 'sync' | 'write';
  readonly at: number;
  readonly file: string;
  readonly sticky?: boolean;
  /** Few clients make many small commits; one makes each commit its own. */
  readonly clients?: number;
};

const everyCall = (calls: Failure['calls']): readonly Failure[] =>
  Array.from({ length: rounds }, (_, n) => ({ calls, at: n + 1, file: wal }));

const failures: readonly Failure[] = [
  { calls: 'sync', at: 1, file: wal },
  { calls: 'sync', at: 10, file: wal, sticky: true },
  { calls: 'write', at: 1, file: wal },
  { calls: 'write', at: 2, file: wal, sticky: true },
  // The middle of a commit, wherever that is.
  { calls: 'write', at: 37, file: wal },
  { calls: 'write', at: 250, file: wal },
  // The data file itself is written when the log has grown and moves there.
  { calls: 'write', at: 5, file: dataFileName, clients: 4 },
  { calls: 'sync', at: 1, file: dataFileName, clients: 4 },
  ...everyCall('sync'),
  ...everyCall('write'),
];

const met = 'the disk failed';
const askedAgain = 'the disk was asked again';

describe('on a disk that fails', function () {
  // Of the hooks; each test has its own.
  this.timeout(30_000);
  const impossible = whyNot('cc');
  const seed = testSeed();
  const random = seeded(seed);
  const seeds = { dir: '', ledger: createLedger() };
  let shim: ReturnType<typeof compileNative> | undefined;
  let dir = '';
  let ledger: Ledger = createLedger();
  let program: Program | undefined;

  before(async () => {
    if (impossible !== undefined) return;
    shim = compileNative('failing-disk', 'shared');
    seeds.dir = freshFolder();
    program = await startProgram({ dir: seeds.dir });
    await seedLedger(program.url, seeds.ledger, random);
    // Killed, so that the next start has a log to read back.
    await program.kill();
  });

  beforeEach(() => {
    dir = freshFolder();
    cpSync(seeds.dir, join(dir, 'data'), { recursive: true });
    ledger = structuredClone(seeds.ledger);
  });

  afterEach(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  after(() => {
    shim?.remove();
    removeFolder(seeds.dir);
  });

  const options = ({ calls, at, file, sticky = false }: Failure, armed: string) => ({
    dir: join(dir, 'data'),
    env: {
      LD_PRELOAD: shim?.path ?? '',
      FAILING_DISK_FOLDER: join(dir, 'data'),
      FAILING_DISK_FILE: file,
      FAILING_DISK_CALLS: calls,
      FAILING_DISK_AT: String(at),
      FAILING_DISK_STICKY: sticky ? '1' : '0',
      FAILING_DISK_ARMED: armed,
    },
  });

  /** Starts the program, then has its disk fail under a load, and waits for the program's end. */
  const fail = async (failure: Failure) => {
    const armed = join(dir, 'armed');
    const failing = await startProgram(options(failure, armed));
    program = failing;
    writeFileSync(armed, '');
    const deadline = performance.now() + metMsMax;
    const isOver = (): boolean => performance.now() > deadline;
    const report = await runLoad({ url: failing.url, ledger, random, clients: failure.clients ?? 8, isOver });
    const code = await within('the end', dieMsMax, failing.exited);
    expect(failing.output()).to.contain(met);
    expect(code).to.equal(1);
    // The kernel forgets what it failed to write: a second sync would succeed, and mean nothing.
    if (failure.calls === 'sync') expect(failing.output()).to.not.contain(askedAgain);
    expect(report.problems).to.deep.equal([]);
    return report;
  };

  const checkAfterwards = async (): Promise<void> => {
    program = await startProgram({ dir: join(dir, 'data') });
    expect(await checkLedger(program.url, ledger, { random, all: true }), `seed ${seed}`).to.deep.equal([]);
    expect(await program.stop()).to.equal(0);
    expect(checkDataFile(join(dir, 'data'))).to.deep.equal([]);
  };

  for (const failure of failures) {
    const { calls, at, file, sticky = false } = failure;
    const what = `${calls} ${at}${sticky ? ' and all after it' : ''} of ${file}`;
    itUnless(impossible, `ends with a failure at once, hangs nobody and loses nothing: ${what}`, async () => {
      await fail(failure);
      await checkAfterwards();
    }).timeout(metMsMax + 30_000);
  }

  for (const at of [4])
    itUnless(
      impossible,
      `acknowledges nothing of a commit whose sync failed, nor anything later: ${at}`,
      async () => {
        // With one client each change is a commit of its own, with one sync.
        const { acknowledged } = await fail({ calls: 'sync', at, file: wal, clients: 1 });
        expect(acknowledged).to.be.at.most(at - 1);
        await checkAfterwards();
      },
    ).timeout(30_000);

  for (const calls of ['sync', 'write'] as const)
    itUnless(
      impossible,
      `ends with a failure, and in time, where the log can’t be moved at the stop: ${calls}`,
      async () => {
        const armed = join(dir, 'armed');
        const failure: Failure = { calls, at: 1, file: dataFileName, sticky: calls === 'write' };
        program = await startProgram(options(failure, armed));
        let left = 50;
        await runLoad({ url: program.url, ledger, random, isOver: () => left-- <= 0 });
        writeFileSync(armed, '');
        expect(await within('the stop', 10_000, program.stop())).to.equal(1);
        expect(program.output()).to.contain(met);
        if (calls === 'sync') expect(program.output()).to.not.contain(askedAgain);
        await checkAfterwards();
      },
    ).timeout(30_000);

  for (const calls of ['sync', 'write'] as const)
    for (const at of [1, 3])
      itUnless(
        impossible,
        `a start that meets it ends with a failure, and the next one is whole: ${calls} ${at}`,
        async () => {
          const failure: Failure = { calls, at, file: '', sticky: true };
          const { code, written } = await startAndStop(options(failure, ''));
          // Where the start was done before, the stop has met it; or nothing has.
          expect(code, written).to.equal(written.includes(met) ? 1 : 0);
          await checkAfterwards();
        },
      ).timeout(30_000);
});
