import { expect } from 'chai';
import { setTimeout as passed } from 'node:timers/promises';
import { checkDataFile } from '../support/data-file.ts';
import { checkLedger } from '../support/ledger-check.ts';
import { createLedger } from '../support/ledger.ts';
import { runLoad, seedLedger } from '../support/load.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { between, seeded, testRounds, testSeed } from '../support/random.ts';

// KEYLEDGER_TEST_ROUNDS: how often the program is killed; 200 for a long run.
// KEYLEDGER_TEST_SEED: repeats what was drawn (not how the machine interleaved it).
const rounds = testRounds(20);

/** The moment of death is drawn between these, counted from the beginning of the load. */
const killAfterMs = { least: 20, most: 500 };

describe('killed at any moment', () => {
  let dir = '';
  const seed = testSeed();
  const random = seeded(seed);
  const ledger = createLedger();
  let program: Program | undefined;

  before(() => {
    dir = freshFolder();
  });

  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  it(`loses nothing acknowledged and revives nothing revoked (${rounds} kills, seed ${seed})`, async () => {
    program = await startProgram({ dir });
    await seedLedger(program.url, ledger, random);
    let acknowledged = 0;
    for (let round = 1; round <= rounds; round += 1) {
      const { url, kill } = program;
      const clients = between(random, 16, 32);
      const load = runLoad({ url, ledger, random, clients, isOver: () => false });
      // Not a wait for something: the moment itself is what is drawn.
      await passed(between(random, killAfterMs.least, killAfterMs.most));
      await kill();
      const report = await load;
      acknowledged += report.acknowledged;
      program = await startProgram({ dir });
      const all = round === rounds;
      const problems = [...report.problems, ...(await checkLedger(program.url, ledger, { random, all }))];
      expect(problems, `round ${round}, seed ${seed}`).to.deep.equal([]);
    }
    expect(acknowledged, 'changes that were acknowledged').to.be.above(rounds);
    expect(await program.stop()).to.equal(0);
    expect(checkDataFile(dir), `seed ${seed}`).to.deep.equal([]);
  }).timeout(30_000 + rounds * 15_000);
});
