import { expect } from 'chai';
import { setTimeout as passed } from 'node:timers/promises';
import { createClient, type Client } from '../support/client.ts';
import { checkDataFile } from '../support/data-file.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { between, seeded, testRounds, testSeed } from '../support/random.ts';
import { arrangeWorkspaces, withKey, type Key, type Workspace } from '../support/workspace.ts';

// KEYLEDGER_TEST_ROUNDS: how often the program is killed.
// KEYLEDGER_TEST_SEED: repeats what was drawn (not how the machine interleaved it).
const rounds = testRounds(6);
const seed = testSeed();

/** The moment of death is drawn between these, counted from the beginning of the load, in milliseconds. */
const killAfterMs = { least: 20, most: 400 };

/** Each makes, rolls and revokes keys one after the other. */
const clients = 8;

/** What was acknowledged: secrets that have to work, and secrets that must never work again. */
type Acknowledged = { readonly alive: Map<string, string>; readonly ended: Set<string> };

/** One client's life, until the program is gone. What was asked for and not answered may be either. */
const live = async (admin: Client, { alive, ended }: Acknowledged, random: () => number): Promise<void> => {
  const ask = async (method: string, path: string, body?: object): Promise<{ id: string; key: string }> => {
    const answer = await admin(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body as Key;
  };
  const path = '/api/acme/api-keys';
  for (;;) {
    const { id, key } = await ask('POST', path, { name: 'killed' });
    alive.set(id, key);
    const drawn = random();
    if (drawn < 0.3) continue;
    alive.delete(id);
    if (drawn < 0.6) {
      const rolled = await ask('POST', `${path}/${id}/roll`);
      alive.set(id, rolled.key);
    } else await ask('DELETE', `${path}/${id}`);
    ended.add(key);
  }
};

describe('API keys of a program that is killed at any moment', () => {
  const dir = freshFolder();
  const random = seeded(seed);
  const acknowledged: Acknowledged = { alive: new Map(), ended: new Set() };
  let program: Program;
  let acme: Workspace;
  before(async () => {
    [acme] = (await arrangeWorkspaces(dir, ['acme'])) as [Workspace];
    program = await startProgram({ dir });
  });
  after(async () => {
    await program.kill();
    removeFolder(dir);
  });

  const codeOf = async (key: string): Promise<string> => {
    const { status, body } = await withKey(createClient(program.url), { key })('GET', '/workflows');
    return status === 200 ? 'active' : (body as { code: string }).code;
  };

  it(`work where they were given out, and never again once they ended (${rounds} kills, seed ${seed})`, async () => {
    const { alive, ended } = acknowledged;
    for (let round = 1; round <= rounds; round += 1) {
      const admin = withKey(createClient(program.url), acme.admin);
      const lives = Promise.allSettled(
        Array.from({ length: clients }, () => live(admin, acknowledged, random)),
      );
      // Not a wait for something: the moment itself is what is drawn.
      await passed(between(random, killAfterMs.least, killAfterMs.most));
      await program.kill();
      // What ends a life is that nobody answers, and not an answer.
      for (const one of await lives)
        expect(String((one as PromiseRejectedResult).reason), `seed ${seed}`).to.match(/^TypeError: /);
      program = await startProgram({ dir });
      for (const key of alive.values())
        expect(await codeOf(key), `round ${round}, seed ${seed}`).to.equal('active');
      for (const key of ended)
        expect(await codeOf(key), `round ${round}, seed ${seed}`).to.equal('api-key.revoked');
    }
    expect(ended.size, 'keys that ended').to.be.above(rounds);
    expect(alive.size, 'keys that work').to.be.above(rounds);
    expect(await program.stop()).to.equal(0);
    expect(checkDataFile(dir), `seed ${seed}`).to.deep.equal([]);
  }).timeout(30_000 + rounds * 15_000);
});
