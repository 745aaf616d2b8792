import { expect } from 'chai';
import * as fc from 'fast-check';
import { createClock } from '../../src/core/clock.ts';
import { arrangeAccount, createClient, isActive, mint, type Minted } from '../support/client.ts';
import { readLog } from '../support/contents.ts';
import { createHandClock, type HandClock } from '../support/hand-clock.ts';
import { freshFolder, removeFolder, startProgram } from '../support/program.ts';
import { testRounds, testSeed } from '../support/random.ts';
import { serveInProcess, type InProcess } from '../support/serving.ts';

// KEYLEDGER_TEST_ROUNDS: tens of random walks of the clock; KEYLEDGER_TEST_SEED repeats them.
const walks = testRounds(2) * 10;
const seed = testSeed();

const hourMs = 3_600_000;

/** In the midst of a second, at its beginning and at its end. */
const starts = [
  Date.UTC(2030, 0, 1, 12, 0, 0, 500),
  Date.UTC(2030, 0, 1),
  Date.UTC(2029, 11, 31, 23, 59, 59, 999),
];

/** The shortest life and the longest. */
const ttls = [1, 86_400];

describe('expiry and revocation', () => {
  let dir: string;
  let service: InProcess | undefined;
  let time: HandClock;
  const serveFrom = async (startMs: number): Promise<InProcess> => {
    dir = freshFolder();
    time = createHandClock(startMs);
    const clock = createClock(0, time.wallMs, time.monotonicMs);
    return (service = await serveInProcess(dir, { clock }));
  };
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    removeFolder(dir);
  });
  const active = (one: Minted): Promise<boolean> => isActive((service as InProcess).client, 'acme', one);
  const revoke = async ({ username }: Minted): Promise<void> => {
    const { status } = await (service as InProcess).client(
      'DELETE',
      `/admin/v1/tenants/acme/tokens/${username}`,
    );
    expect(status).to.equal(204);
  };
  const statusOf = async ({ username }: Minted): Promise<string | undefined> => {
    const { body } = await (service as InProcess).client('GET', '/admin/v1/tenants/acme/tokens');
    return (body as { username: string; status: string }[]).find((one) => one.username === username)?.status;
  };

  for (const startMs of starts) {
    for (const ttl_secs of ttls) {
      const from = new Date(startMs).toISOString();

      it(`a credential of ${ttl_secs} s, minted at ${from}, works to its last millisecond and never after`, async () => {
        const { client } = await serveFrom(startMs);
        const { bearer } = await arrangeAccount(client, 'acme');
        const one = await mint(client, 'acme', bearer, { ttl_secs });
        expect(Date.parse(one.expires_at)).to.equal(startMs + ttl_secs * 1_000);
        time.pass(ttl_secs * 1_000 - 1);
        expect(await active(one)).to.equal(true);
        for (const ms of [1, 1, 998, 1, hourMs, 86_400_000]) {
          time.pass(ms);
          expect(await active(one), `${ms} ms later`).to.equal(false);
        }
        expect(await statusOf(one)).to.equal('expired');
      });

      it(`a credential of ${ttl_secs} s, minted at ${from} and revoked around its end, is refused for ever`, async () => {
        const { client } = await serveFrom(startMs);
        const { bearer } = await arrangeAccount(client, 'acme');
        // Milliseconds around the end at which each is revoked.
        const moments = [-1_000, -999, -1, 0, 1, 1_000];
        const all = await Promise.all(moments.map(() => mint(client, 'acme', bearer, { ttl_secs })));
        time.pass(ttl_secs * 1_000 - 1_000);
        let now = -1_000;
        for (const [at, moment] of moments.entries()) {
          time.pass(moment - now);
          now = moment;
          await revoke(all[at] as Minted);
          for (const one of all.slice(0, at + 1)) expect(await active(one), `at ${now}`).to.equal(false);
          for (const one of all.slice(at + 1)) expect(await active(one), `at ${now}`).to.equal(now < 0);
        }
        const statuses = await Promise.all(all.map(statusOf));
        expect(statuses).to.deep.equal(['revoked', 'revoked', 'revoked', 'expired', 'expired', 'expired']);
        for (const ms of [-hourMs, 2 * hourMs, -2 * hourMs]) {
          time.step(ms);
          for (const one of all) expect(await active(one), `set by ${ms} ms`).to.equal(false);
        }
        expect(await Promise.all(all.map(statusOf))).to.deep.equal(statuses);
      });
    }
  }

  it('a clock that is set back an hour revives nothing and lengthens nothing', async () => {
    const { client } = await serveFrom(starts[0] ?? 0);
    const { bearer } = await arrangeAccount(client, 'acme');
    const [gone, left] = [
      await mint(client, 'acme', bearer, { ttl_secs: 60 }),
      await mint(client, 'acme', bearer, { ttl_secs: 120 }),
    ];
    time.pass(60_000);
    expect([await active(gone), await active(left)]).to.deep.equal([false, true]);
    time.step(-hourMs);
    expect([await active(gone), await active(left)]).to.deep.equal([false, true]);
    time.pass(59_999);
    expect(await active(left)).to.equal(true);
    time.pass(1);
    expect([await active(gone), await active(left)]).to.deep.equal([false, false]);
  });

  it('a clock that is set forward an hour, and back again, has ended what that hour ended', async () => {
    const { client } = await serveFrom(starts[0] ?? 0);
    const { id, bearer } = await arrangeAccount(client, 'acme');
    const one = await mint(client, 'acme', bearer, { ttl_secs: 1_800 });
    await client('POST', `/admin/v1/service-accounts/${id}/rotate`, { body: { grace_secs: 1_800 } });
    const bearerStatus = async () =>
      (await client('GET', '/admin/v1/capabilities', { token: bearer })).status;
    expect([await active(one), await bearerStatus()]).to.deep.equal([true, 200]);
    time.step(hourMs);
    expect([await active(one), await bearerStatus()]).to.deep.equal([false, 401]);
    time.step(-hourMs);
    expect([await active(one), await bearerStatus()]).to.deep.equal([false, 401]);
  });

  it(`however the clock is set, what was refused once is never taken again (${walks} walks, seed ${seed})`, async () => {
    const { client } = await serveFrom(starts[0] ?? 0);
    const { bearer } = await arrangeAccount(client, 'acme');
    const moves = fc.array(
      fc.oneof(
        fc.record({ pass: fc.integer({ min: 0, max: 1_500 }) }),
        fc.record({ step: fc.constantFrom(-hourMs, hourMs, -1_000, 1_000, -1, 1) }),
        fc.constant({ revoke: true }),
      ),
      { minLength: 1, maxLength: 15 },
    );
    await fc.assert(
      fc.asyncProperty(moves, async (all) => {
        const one = await mint(client, 'acme', bearer, { ttl_secs: 2 });
        let passedMs = 0;
        let isOver = false;
        for (const move of all) {
          if ('pass' in move) {
            time.pass(move.pass);
            passedMs += move.pass;
          } else if ('step' in move) time.step(move.step);
          else await revoke(one);
          isOver ||= 'revoke' in move || passedMs >= 2_000;
          const taken = await active(one);
          if (isOver) expect(taken).to.equal(false);
          isOver ||= !taken;
        }
      }),
      { numRuns: walks, seed },
    );
  }).timeout(60_000);

  it('a program that starts again with its wall clock set back an hour goes on from the last event', async () => {
    const now = Date.now();
    const { client, stop } = await serveFrom(now);
    const { bearer } = await arrangeAccount(client, 'acme');
    const [gone, left] = [
      await mint(client, 'acme', bearer, { ttl_secs: 1_800 }),
      await mint(client, 'acme', bearer, { ttl_secs: 7_200 }),
    ];
    time.pass(hourMs);
    const last = await mint(client, 'acme', bearer);
    await revoke(last);
    await stop();
    service = undefined;
    // The real program has the real clock, which the last event is an hour ahead of.
    const program = await startProgram({ dir });
    try {
      const again = createClient(program.url);
      const works = (one: Minted) => isActive(again, 'acme', one);
      expect([await works(gone), await works(left), await works(last)]).to.deep.equal([false, true, false]);
      const fresh = await mint(again, 'acme', bearer, { ttl_secs: 60 });
      expect(Date.parse(fresh.expires_at)).to.be.at.least(now + hourMs + 60_000);
      expect(await works(fresh)).to.equal(true);
      await program.stop();
      const times = readLog(dir).map((event) => event.time);
      expect(times).to.deep.equal(times.toSorted());
    } finally {
      await program.kill();
    }
  });
});
