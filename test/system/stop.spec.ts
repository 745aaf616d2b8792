import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';
import { createClient, type Answer } from '../support/client.ts';
import { checkDataFile } from '../support/data-file.ts';
import { checkLedger } from '../support/ledger-check.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import { runLoad, seedLedger, usualMix } from '../support/load.ts';
import {
  adminToken,
  freshFolder,
  removeFolder,
  spawnProgram,
  startProgram,
  type Program,
} from '../support/program.ts';
import { between, seeded, testRounds, testSeed } from '../support/random.ts';
import { until, within } from '../support/waiting.ts';

// KEYLEDGER_TEST_ROUNDS: how often the program is stopped under load.
const rounds = testRounds(3);

/** What an orderly stop may take: the bound that the service gives itself. */
const stopMsMax = 10_000;

/** What the end may take after what nobody caught. */
const dieMsMax = 2_000;

/** Enough hashes to be under way for some hundred milliseconds, and fewer than the service queues. */
const hashes = 60;

/** Mints and revocations, and users whose passwords are hashed. */
const mixWithHashes = { ...usualMix, createUser: 12 };

const throwOnSignal = new URL('../support/throw-on-signal.js', import.meta.url).href;

const isRefused = async (url: string): Promise<boolean> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
};

/** How many requests are in flight, and how many of a route have been answered. */
const requestsOf = async (url: string, route: string) => {
  const { text } = await createClient(url)('GET', '/metrics', { token: null });
  const answered = text
    .split('\n')
    .filter((line) => line.startsWith('http_server_request_duration_seconds_count{') && line.includes(route))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  // The scrape itself is in flight too.
  const inFlight = Number(/^http_server_active_requests (\d+)$/m.exec(text)?.[1]) - 1;
  return { inFlight, answered };
};

/** A request whose body never comes to its end; it keeps the program from stopping before its own time limits. */
const halfRequest = async (url: string) => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST /admin/v1/tenants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"id":',
  );
  return socket;
};

describe('an orderly stop', function () {
  // Of the hooks; each test has its own.
  this.timeout(30_000);
  const seed = testSeed();
  const random = seeded(seed);
  let dir = '';
  let ledger: Ledger = createLedger();
  let program: Program;

  beforeEach(async () => {
    dir = freshFolder();
    ledger = createLedger();
    program = await startProgram({ dir });
  });

  afterEach(async () => {
    await program.kill();
    removeFolder(dir);
  });

  it(`fails no request under load and loses nothing (${rounds} stops, seed ${seed})`, async () => {
    await seedLedger(program.url, ledger, random);
    for (let round = 1; round <= rounds; round += 1) {
      const { url, stop } = program;
      const load = runLoad({ url, ledger, random, mix: mixWithHashes, isOver: () => false });
      // Not a wait for something: the moment itself is what is drawn.
      await passed(between(random, 50, 500));
      expect(await within('an orderly stop', stopMsMax, stop()), program.output()).to.equal(0);
      const { statuses, problems } = await load;
      expect(
        [...statuses.keys()].filter((status) => status >= 500),
        `seed ${seed}`,
      ).to.deep.equal([]);
      program = await startProgram({ dir });
      expect([...problems, ...(await checkLedger(program.url, ledger, { random }))]).to.deep.equal([]);
    }
    await program.stop();
    expect(checkDataFile(dir)).to.deep.equal([]);
  }).timeout(30_000 + rounds * 20_000);

  it('answers every request that was in flight, passwords being hashed included', async () => {
    const client = createClient(program.url);
    await client('POST', '/admin/v1/tenants', { body: { id: 'acme' } });
    const create = (n: number): Promise<Answer> =>
      client('POST', '/admin/v1/tenants/acme/users', {
        body: { username: `user-${n}`, password: 'correct horse', role: 'reader' },
      });
    const created = Array.from({ length: hashes }, (_, n) => create(n));
    await until('all have come, and some are in flight', async () => {
      const { inFlight, answered } = await requestsOf(program.url, '/users"');
      return inFlight > 0 && inFlight + answered === hashes;
    });
    expect(await within('an orderly stop', stopMsMax, program.stop())).to.equal(0);
    expect((await Promise.all(created)).map(({ status }) => status)).to.deep.equal(
      Array.from({ length: hashes }, () => 201),
    );
    program = await startProgram({ dir });
    const { body } = await createClient(program.url)('GET', '/admin/v1/tenants/acme/users');
    expect(body).to.have.length(hashes);
  }).timeout(30_000);

  it('is cut short by a second signal', async () => {
    const socket = await halfRequest(program.url);
    await until('the request is in flight', async () => (await requestsOf(program.url, '')).inFlight === 1);
    program.child.kill('SIGTERM');
    await until('no connection is taken any more', () => isRefused(program.url));
    program.child.kill('SIGTERM');
    expect(await within('the end', dieMsMax, program.exited)).to.equal(1);
    expect(program.output()).to.contain('second signal');
    socket.destroy();
  }).timeout(30_000);
});

describe('an exception that nobody catches', () => {
  it('ends the program at once with a failure, and nothing acknowledged is lost', async () => {
    const dir = freshFolder();
    const ledger = createLedger();
    const random = seeded(testSeed());
    let program = await startProgram({ dir, env: { NODE_OPTIONS: `--import ${throwOnSignal}` } });
    try {
      await seedLedger(program.url, ledger, random);
      const { url } = program;
      const load = runLoad({ url, ledger, random, mix: mixWithHashes, isOver: () => false });
      await until('the load has begun', () => ledger.credentials.length > 50);
      program.child.kill('SIGUSR2');
      expect(await within('the end', dieMsMax, program.exited)).to.equal(1);
      expect(program.output()).to.contain('An exception that nobody catches.');
      const { problems } = await load;
      program = await startProgram({ dir });
      expect([...problems, ...(await checkLedger(program.url, ledger, { random }))]).to.deep.equal([]);
    } finally {
      await program.kill();
      removeFolder(dir);
    }
  }).timeout(30_000);
});

describe('a second program on the same folder', () => {
  it('is refused with a message, while the first goes on', async () => {
    const dir = freshFolder();
    const program = await startProgram({ dir });
    try {
      const second = spawnProgram({ dir });
      let written = '';
      second.stderr?.on('data', (chunk) => (written += String(chunk)));
      second.stdout?.resume();
      const [code] = (await within('the refusal', stopMsMax, once(second, 'close'))) as [number | null];
      expect(code).to.equal(1);
      expect(written).to.equal(
        `keyledger: The data folder ${dir} is in use by another process (pid ${program.pid}).\n`,
      );
      const client = createClient(program.url);
      expect((await client('POST', '/admin/v1/tenants', { body: { id: 'acme' } })).status).to.equal(201);
      expect((await client('GET', '/readyz')).status).to.equal(200);
      expect(await program.stop()).to.equal(0);
    } finally {
      await program.kill();
      removeFolder(dir);
    }
  }).timeout(30_000);

  it('starts when the first one was killed', async () => {
    const dir = freshFolder();
    const first = await startProgram({ dir });
    await first.kill();
    const second = await startProgram({ dir });
    expect(await second.stop()).to.equal(0);
    removeFolder(dir);
  }).timeout(30_000);
});

/** A program whose standard output and error nobody reads any more. */
const startUnheard = async (dir: string, after: string): Promise<Program> => {
  const program = await startProgram({ dir, env: { NODE_OPTIONS: `--import ${throwOnSignal}` } });
  const { stdout, stderr } = program.child;
  if (stdout === null || stderr === null) throw new Error('Nothing is read.');
  // From here on every line that it writes fails.
  for (const stream of [stdout, stderr]) {
    const closed = once(stream, 'close');
    stream.destroy();
    await closed;
  }
  if (after === 'a request')
    expect((await createClient(program.url)('GET', '/unknown')).status).to.equal(404);
  return program;
};

describe('a log whose reader has gone', () => {
  for (const { signal, code, msMax } of [
    { signal: 'SIGTERM', code: 0, msMax: stopMsMax },
    { signal: 'SIGUSR2', code: 1, msMax: dieMsMax },
  ] as const)
    for (const after of ['the start', 'a request'])
      it(`holds up no end: ${signal} after ${after}`, async () => {
        const dir = freshFolder();
        const program = await startUnheard(dir, after);
        try {
          program.child.kill(signal);
          expect(await within('the end', msMax, program.exited)).to.equal(code);
        } finally {
          await program.kill();
          removeFolder(dir);
        }
      }).timeout(30_000);
});
