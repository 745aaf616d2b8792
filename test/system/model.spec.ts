import * as fc from 'fast-check';
import { createConnection, type Connection } from '../support/connection.ts';
import { createModel, perform, performAll, type ModelClock } from '../support/model.ts';
import { histories } from '../support/wishes.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { testRounds, testSeed } from '../support/random.ts';
import { serveInProcess, type InProcess } from '../support/serving.ts';

// KEYLEDGER_TEST_ROUNDS: tens of histories; 1000 for a long run. KEYLEDGER_TEST_SEED repeats them.
const sequences = testRounds(30) * 10;
const seed = testSeed();

const lengths = { least: 5, most: 20 };

describe('the Admin API', () => {
  const clock: ModelClock = { nowMs: Date.UTC(2030, 0, 1) };
  let dir: string;
  let service: InProcess;
  let connection: Connection;
  before(async () => {
    dir = freshFolder();
    service = await serveInProcess(dir, { clock: () => clock.nowMs });
    connection = createConnection(service.url);
  });
  after(async () => {
    connection?.close();
    await service?.stop();
    removeFolder(dir);
  });

  it(`answers as its model does, whatever is asked in whatever order (${sequences} sequences, seed ${seed})`, async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(histories(lengths), async (wishes) => {
        const model = createModel(`m${(runs += 1)}-`, clock);
        for (const wish of wishes) await perform(model, connection, wish);
        await performAll(model, connection);
      }),
      { numRuns: sequences, seed },
    );
  }).timeout(30_000 + sequences * 500);
});
