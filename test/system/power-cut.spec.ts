import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { checkDataFile } from '../support/data-file.ts';
import { checkLedger } from '../support/ledger-check.ts';
import { createLedger } from '../support/ledger.ts';
import { runLoad, seedLedger } from '../support/load.ts';
import { createExt4, type Mount } from '../support/mounts.ts';
import { compileNative, itUnless, whyNot } from '../support/native.ts';
import { startProgram, type Program } from '../support/program.ts';
import { between, seeded, testRounds, testSeed } from '../support/random.ts';
import { until } from '../support/waiting.ts';

// KEYLEDGER_TEST_ROUNDS: how often the power is cut; 50 for a long run.
const rounds = testRounds(5);

/** Cuts of a disk that lies, before the test is held to be unable to find a loss. */
const controlRounds = 3;

const megabytes = 128;

/** The moment is drawn between these, counted from the beginning of the load. */
const cutAfterMs = { least: 50, most: 500 };

/** Whether every thread of the process stands still: one that is in the middle of a sync does not yet. */
const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((task) =>
    / T /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').replace(/^.*\)/, '')),
  );

describe('when the power is cut', function () {
  // Of the hooks; each test has its own.
  this.timeout(30_000);
  const impossible = whyNot('root', 'cc', 'mount', 'losetup', 'mkfs.ext4');
  const seed = testSeed();
  let random = seeded(seed);
  let cutPower: ReturnType<typeof compileNative>;
  let lyingDisk: ReturnType<typeof compileNative>;
  let disk: Mount;
  let ledger = createLedger();
  let program: Program | undefined;

  before(() => {
    if (impossible !== undefined) return;
    cutPower = compileNative('cut-power', 'program');
    lyingDisk = compileNative('failing-disk', 'shared');
  });

  beforeEach(async () => {
    if (impossible !== undefined) return;
    random = seeded(seed);
    ledger = createLedger();
    disk = createExt4(megabytes);
    disk.mount();
    program = await startProgram({ dir: disk.dir });
    await seedLedger(program.url, ledger, random);
  });

  afterEach(async () => {
    await program?.kill();
    if (impossible === undefined) disk.remove();
  });

  after(() => {
    if (impossible !== undefined) return;
    cutPower.remove();
    lyingDisk.remove();
  });

  /** Loads the program and takes the disk from under it; what was acknowledged was acknowledged before. */
  const loadAndCut = async ({ url, pid, child, kill }: Program) => {
    const load = runLoad({ url, ledger, random, isOver: () => false });
    // Not a wait for something: the moment itself is what is drawn.
    await passed(between(random, cutAfterMs.least, cutAfterMs.most));
    // It stands still first, so that nothing is acknowledged any more once the disk is gone.
    child.kill('SIGSTOP');
    await until('it stands still', () => isStopped(pid));
    execFileSync(cutPower.path, [dirname(disk.dir)]);
    await kill();
    const report = await load;
    disk.unmount();
    disk.mount();
    return report;
  };

  itUnless(
    impossible,
    `loses nothing acknowledged and revives nothing revoked (${rounds} cuts, seed ${seed})`,
    async () => {
      for (let round = 1; round <= rounds; round += 1) {
        if (program === undefined) throw new Error('There is no program.');
        const { problems } = await loadAndCut(program);
        program = await startProgram({ dir: disk.dir });
        const found = await checkLedger(program.url, ledger, { random, all: round === rounds });
        expect([...problems, ...found], `round ${round}, seed ${seed}`).to.deep.equal([]);
      }
      expect(await program?.stop()).to.equal(0);
      expect(checkDataFile(disk.dir)).to.deep.equal([]);
    },
  ).timeout(30_000 + rounds * 15_000);

  itUnless(impossible, 'is tested by cuts that do lose what was not synced', async () => {
    const env = { LD_PRELOAD: lyingDisk.path, FAILING_DISK_FOLDER: disk.dir, FAILING_DISK_CALLS: 'lie' };
    const losses: string[] = [];
    for (let round = 1; round <= controlRounds && losses.length === 0; round += 1) {
      await program?.kill();
      program = await startProgram({ dir: disk.dir, env });
      await loadAndCut(program);
      // So much can be lost that the file can't even be opened.
      program = await startProgram({ dir: disk.dir }).catch(
        (error: unknown) => void losses.push(String(error)),
      );
      if (program === undefined) continue;
      const found = await checkLedger(program.url, ledger, { random, all: true });
      losses.push(...found.filter((problem) => problem.endsWith('is lost')));
    }
    expect(losses, 'what a disk lost that swallows every sync').to.not.have.length(0);
  }).timeout(60_000);
});
