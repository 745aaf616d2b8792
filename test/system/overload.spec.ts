import { expect } from 'chai';
import { arrangeAccount, createClient, isActive, mint, type Answer, type Client } from '../support/client.ts';
import { residentMebibytes, watchMemory } from '../support/memory.ts';
import { expectProblem } from '../support/problems.ts';
import { freshFolder, removeFolder, startProgram, verifierToken, type Program } from '../support/program.ts';
import { pipeline } from '../support/raw-socket.ts';
import { within } from '../support/waiting.ts';

const usersAtOnce = 50;
const signInsAtOnce = 250;

const mintConnections = 20;
const mintsPerConnection = 600;

/** 16 hashes at once would take 304 MiB; two of them, and what waits, take far less. */
const hashingMebibytesMax = 160;

/** How long one answer may take under a flood, in milliseconds: a bound on waiting, not a measure. */
const answerWithinMs = 20_000;

const password = 'a password under load';

const refused = (answers: readonly Answer[]): number => {
  const busy = answers.filter(({ status }) => status === 503);
  for (const answer of busy) expectProblem(answer, 503, 'service.busy');
  return busy.length;
};

describe('overload', function () {
  this.timeout(120_000);
  let program: Program;
  let client: Client;
  let bearer: string;

  before(async () => {
    // Threads enough for many hashes at once, so that it is the service's own bound that is seen.
    program = await startProgram({ dir: freshFolder(), env: { UV_THREADPOOL_SIZE: '16' } });
    client = createClient(program.url);
    ({ bearer } = await arrangeAccount(client, 'acme'));
  });
  after(async () => {
    await program.stop();
    removeFolder(program.dir);
  });

  /** Mints, looks up, revokes, looks up again: each with its effect. */
  const mintAndRevoke = async (): Promise<void> => {
    const minted = await mint(client, 'acme', bearer);
    expect(await isActive(client, 'acme', minted)).to.equal(true);
    const { status } = await client('DELETE', `/admin/v1/tenants/acme/tokens/${minted.username}`);
    expect(status).to.equal(204);
    expect(await isActive(client, 'acme', minted)).to.equal(false);
  };

  /** The same until the flood is over, each time in bounded time. */
  const revokeMeanwhile = async (isOver: () => boolean): Promise<number> => {
    let rounds = 0;
    do {
      await within('a revocation under load', answerWithinMs, mintAndRevoke());
      rounds += 1;
    } while (!isOver());
    return rounds;
  };

  const during = async <T>(flood: Promise<T>): Promise<{ result: T; rounds: number }> => {
    let isOver = false;
    const ended = flood.finally(() => (isOver = true));
    const [result, rounds] = await Promise.all([ended, revokeMeanwhile(() => isOver)]);
    return { result, rounds };
  };

  it('of passwords is refused beyond a bounded queue, and hinders neither look-ups nor revocations', async () => {
    const before = residentMebibytes(program.pid);
    const watched = watchMemory(program.pid);
    const users = Array.from({ length: usersAtOnce }, (_, n) =>
      client('POST', '/admin/v1/tenants/acme/users', { body: { username: `user-${n}`, password } }),
    );
    const signIns = Array.from({ length: signInsAtOnce }, () =>
      client('POST', '/admin/v1/tenants/acme/authenticate', {
        token: verifierToken,
        body: { username: 'nobody', password },
      }),
    );
    const { result, rounds } = await during(Promise.all([Promise.all(users), Promise.all(signIns)]));
    const [created, signedIn] = result;
    expect(refused(created) + refused(signedIn)).to.be.above(0);
    for (const { status } of created) expect(status).to.be.oneOf([201, 503]);
    for (const { status } of signedIn) expect(status).to.be.oneOf([200, 503]);
    expect(rounds).to.be.above(0);
    expect(watched.stop() - before).to.be.below(hashingMebibytesMax);
    const { body } = await client('GET', '/admin/v1/tenants/acme/users');
    expect(body).to.have.length(created.filter(({ status }) => status === 201).length);
  });

  it('of passwords passes: who tries again is served', async () => {
    const body = { username: 'after-the-flood', password };
    expect((await client('POST', '/admin/v1/tenants/acme/users', { body })).status).to.equal(201);
    const signedIn = await client('POST', '/admin/v1/tenants/acme/authenticate', { body });
    expect(signedIn.body).to.include({ active: true });
  });

  it('of mints is answered one by one: made, or refused with a time to come back', async () => {
    const wish = JSON.stringify({ subject: 'flood', role: 'reader', ttl_secs: 60 });
    const request = (isLast: boolean): string =>
      `POST /admin/v1/tenants/acme/tokens HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${bearer}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${wish.length}\r\n` +
      `${isLast ? 'Connection: close\r\n' : ''}\r\n${wish}`;
    const requests = Array.from({ length: mintsPerConnection }, (_, n) =>
      request(n === mintsPerConnection - 1),
    );
    const floods = Array.from({ length: mintConnections }, () => pipeline(program.port, requests));
    const { result, rounds } = await during(Promise.all(floods));
    const passwords = new Set<string>();
    let busy = 0;
    for (const answers of result) {
      expect(answers).to.have.length(mintsPerConnection);
      for (const answer of answers) {
        if (answer.status === 201) passwords.add((JSON.parse(answer.body) as { password: string }).password);
        else {
          busy += 1;
          expectProblem(answer, 503, 'service.unavailable');
        }
      }
    }
    expect(passwords.size + busy).to.equal(mintConnections * mintsPerConnection);
    expect(rounds).to.be.above(0);
  });
});
