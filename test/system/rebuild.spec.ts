import { expect } from 'chai';
import { signInOperator, signInUser, signOut } from '../../src/commands/session.ts';
import { projections } from '../../src/projections/index.ts';
import { createClient, type Client } from '../support/client.ts';
import { digests, readContents } from '../support/contents.ts';
import { cause, operatorSignedIn, signedOut, timeMs, userSignedIn } from '../support/examples.ts';
import { createLifeLoad } from '../support/life-load.ts';
import { faultsOf } from '../support/lives.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { seeded, testRounds, testSeed } from '../support/random.ts';
import { until } from '../support/waiting.ts';
import { arrangeWorkspaces, beforehand, bodyOf, makeKeyOver, withKey } from '../support/workspace.ts';

// KEYLEDGER_TEST_ROUNDS: hundreds of operations before the rebuilds, and as many beside them.
// KEYLEDGER_TEST_SEED: repeats what was drawn (not how the machine interleaved it).
const operations = testRounds(12) * 100;
const seed = testSeed();

const clients = 8;

/** Look every secret up again and again, beside the clients, while the rebuilds go on. */
const sweepers = 3;

/** How often all are rebuilt at least. */
const rebuilds = 3;

const names = projections.map(({ name }) => name);

const rebuild = async (client: Client, name: string): Promise<void> => {
  const path = '/admin/v1/projections';
  const { status, text } = await client('POST', `${path}/${name}/rebuild`);
  expect(status, text).to.equal(202);
  await until(`${name} is rebuilt`, async () => {
    const { body } = await client('GET', path);
    const model = (body as { name: string; rebuilding: unknown }[]).find((one) => one.name === name);
    return model?.rebuilding === null;
  });
};

/** Sessions, of which one has ended. */
const arrangeSessions = (dir: string): Promise<void> =>
  beforehand(dir, async ({ run }) => {
    const { expires_at: _, ...user } = userSignedIn.data;
    const { expires_at: __, ...operator } = operatorSignedIn.data;
    await run(signInUser, { ...user, atMs: timeMs }, cause);
    await run(signInOperator, { ...operator, atMs: timeMs }, cause);
    await run(signOut, { session_id: signedOut.data.session_id }, cause);
  });

/** API keys that are used, rolled and revoked, and of every resource one that is there and one that is gone. */
const useWorkspace = async (admin: Client): Promise<void> => {
  const [one, two] = [await makeKeyOver(admin, 'work'), await makeKeyOver(admin, 'work')];
  bodyOf(await admin('POST', `/api/work/api-keys/${one.id}/roll`, { body: { overlap_secs: 60 } }));
  bodyOf(await admin('DELETE', `/api/work/api-keys/${two.id}`), 204);
  for (const kind of ['agents', 'threads', 'workflows']) {
    const name = kind === 'threads' ? 'title' : 'name';
    for (const value of ['kept', 'gone']) {
      const made = await admin('POST', `/api/work/${kind}`, { body: { [name]: value } });
      const path = `/api/work/${kind}/${bodyOf<{ id: string }>(made, 201).id}`;
      bodyOf(await admin('PATCH', path, { body: { metadata: { a: { b: [1, null, '😀'] } } } }));
      if (value === 'gone') bodyOf(await admin('DELETE', path), 204);
    }
  }
};

describe('a rebuild of a read model', () => {
  let dir: string;
  let program: Program;
  before(async () => {
    dir = freshFolder();
    const [work] = await arrangeWorkspaces(dir, ['work']);
    await arrangeSessions(dir);
    program = await startProgram({ dir });
    const client = createClient(program.url);
    if (work !== undefined) await useWorkspace(withKey(client, work.admin));
    await client('POST', '/admin/v1/tenants', { body: { id: 'users' } });
    for (const username of ['alice', 'bob', 'carol'])
      await client('POST', '/admin/v1/tenants/users/users', { body: { username, password: 'password' } });
    await client('DELETE', '/admin/v1/tenants/users/users/bob');
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  it(`goes on while the service serves: nothing revoked is taken and nothing alive is refused (seed ${seed})`, async () => {
    const load = createLifeLoad({ url: () => program.url, up: () => Promise.resolve() }, seeded(seed));
    const client = createClient(program.url);
    // A log that takes a rebuild some time, and many secrets that have ended.
    await load.run(clients, operations);
    const run = load.run(clients, 2 * operations);
    const rebuilding = { isOver: false };
    const sweeping = async (): Promise<void> => {
      while (!rebuilding.isOver) await load.sweep();
    };
    const sweeps = Promise.all(Array.from({ length: sweepers }, sweeping));
    let rebuilt = 0;
    while (load.done() < 2 * operations || rebuilt < rebuilds) {
      for (const name of names) await rebuild(client, name);
      // What is grown and never emptied has to show that it isn't.
      await rebuild(client, 'revocations');
      rebuilt += 1;
    }
    rebuilding.isOver = true;
    await Promise.all([run, sweeps]);
    await load.sweep();
    expect([...load.oddities, ...load.lives().flatMap(faultsOf)], `seed ${seed}`).to.deep.equal([]);
  }).timeout(60_000 + operations * 20);

  for (const name of names) {
    it(`leaves ${name}, and all others, exactly as they were`, async () => {
      const before = digests(readContents(dir));
      await rebuild(createClient(program.url), name);
      expect(digests(readContents(dir))).to.deep.equal(before);
      expect(before[name]).to.not.match(/^0 rows/);
    });
  }
});
