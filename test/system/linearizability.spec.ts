import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createLifeLoad, type LifeLoad } from '../support/life-load.ts';
import { faultsOf } from '../support/lives.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { seeded, testRounds, testSeed } from '../support/random.ts';
import { until } from '../support/waiting.ts';

// KEYLEDGER_TEST_ROUNDS: how many seeds; 20 for a long run.
// KEYLEDGER_TEST_OPERATIONS: how many operations for each; 100000 for a long run.
// KEYLEDGER_TEST_SEED: repeats what was drawn (not how the machine interleaved it).
const seeds = testRounds(3);
const operations = Number(process.env['KEYLEDGER_TEST_OPERATIONS'] ?? 3_400);

const firstSeed = testSeed();

const clients = 16;

/** How often the program is killed and started again in the midst of each run. */
const kills = 2;

/** Enough for a mutant to be found: of a few hundred look-ups, most are of what was just ended. */
const mutantOperations = 1_000;

const mutantSeeds = 3;

const mutantProgram = fileURLToPath(new URL('../support/mutant-program.js', import.meta.url));

const allFaults = (load: LifeLoad): readonly string[] => [
  ...load.oddities,
  ...load.lives().flatMap(faultsOf),
];

describe('making, ending and looking up', () => {
  let dir: string;
  let program: Program | undefined;
  beforeEach(() => {
    dir = freshFolder();
  });
  afterEach(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  for (let at = 0; at < seeds; at += 1) {
    const seed = firstSeed + at;
    it(`are linearizable: ${clients} clients, ${operations} operations, ${kills} kills (seed ${seed})`, async () => {
      let running = (program = await startProgram({ dir }));
      let back: Promise<void> = Promise.resolve();
      const load = createLifeLoad({ url: () => running.url, up: () => back }, seeded(seed));
      const run = load.run(clients, operations);
      for (let kill = 1; kill <= kills; kill += 1) {
        const due = Math.floor((operations * kill) / (kills + 1));
        await until(`operation ${due}`, () => load.done() >= due, 600_000);
        back = running.kill().then(async () => {
          running = program = await startProgram({ dir });
        });
        await back;
      }
      await run;
      await load.sweep();
      expect(allFaults(load), `seed ${seed}`).to.deep.equal([]);
      const lives = load.lives();
      expect(lives.length).to.be.above(operations / 10);
      expect(lives.filter(({ ends }) => ends.length > 0).length).to.be.above(operations / 20);
    }).timeout(60_000 + operations * 30);
  }

  for (const mutant of ['delayed', 'cached']) {
    for (let at = 0; at < mutantSeeds; at += 1) {
      const seed = firstSeed + at;
      it(`are found not to be, where look-ups are ${mutant} (seed ${seed})`, async () => {
        const env = { KEYLEDGER_TEST_MUTANT: mutant };
        const running = (program = await startProgram({ dir, env, program: mutantProgram }));
        const up = (): Promise<void> => Promise.reject(new Error(running.output()));
        const load = createLifeLoad({ url: () => running.url, up }, seeded(seed));
        await load.run(clients, mutantOperations);
        expect(load.oddities).to.deep.equal([]);
        expect(load.lives().flatMap(faultsOf), `seed ${seed}`).to.not.be.empty;
      }).timeout(60_000);
    }
  }
});
