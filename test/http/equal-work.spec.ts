import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import type { ReadModels } from '../../src/core/ports.ts';
import type { Secrets } from '../../src/core/secrets.ts';
import { createTokenAuthentication } from '../../src/http/authentication.ts';
import { createSecrets } from '../../src/secrets/tokens.ts';
import { arrangeAccount, createClient, mint, type Client } from '../support/client.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { forEach } from '../support/waiting.ts';

/*
 * What a stranger's clock could tell is told here by the work that is done: which comparisons are made, and how much
 * processor time is used. With `KEYLEDGER_TEST_ROUNDS` (100,000 for a thorough run) the times of answers to tokens
 * that are wrong at the first and at the last character are compared too.
 */

const tokens = {
  admin: 'the-admin-token-0123456789-0123456789',
  adminPrevious: 'the-previous-token-0123456789-0123456',
  verifier: 'the-verifier-token-0123456789-0123456',
};

/** Welch's t of samples that differ by chance alone stays below this but once in 100,000 times. */
const mean = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0) / of.length;

const welchMax = 4.5;

/** Processor time that is counted in hundredths of a second, of a few dozen hashes, is this far off at the most. */
const factorMax = 2;

const attempts = 40;

const wrongAt = (token: string, at: number): string =>
  token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1);

/** Reads that know nothing: no bearer was ever given out. */
const noReads = {
  documents: () => ({ get: async () => undefined }),
} as unknown as ReadModels;

type Call = readonly [name: string, ...args: unknown[]];

/** The real secrets, with a record of what they were asked. */
const recorded = (): { secrets: Secrets; calls: Call[] } => {
  const calls: Call[] = [];
  const real = createSecrets();
  const secrets = new Proxy(real, {
    get:
      (target, name: keyof Secrets) =>
      (...args: never[]) => {
        calls.push([name, ...args]);
        return (target[name] as (...args: never[]) => unknown)(...args);
      },
  });
  return { secrets, calls };
};

const requestWith = (token: string): IncomingMessage =>
  ({ headers: { authorization: `Bearer ${token}` } }) as unknown as IncomingMessage;

/** What is asked of the secrets for one wrong token: names and the lengths of the arguments. */
const workFor = async (token: string): Promise<readonly (readonly [string, ...number[]])[]> => {
  const { secrets, calls } = recorded();
  const authenticate = createTokenAuthentication(tokens, { reads: noReads, secrets, clock: Date.now });
  calls.length = 0;
  const outcome = await authenticate(requestWith(token)).then(
    () => 'known',
    () => 'refused',
  );
  expect(outcome).to.equal('refused');
  return calls.map(([name, ...args]) => [name, ...args.map((arg) => String(arg).length)]);
};

/** Processor time that a process has used, in hundredths of a second. */
const processorTime = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
};

const welch = (a: readonly number[], b: readonly number[]): number => {
  const spread = (of: readonly number[]): number => {
    const middle = mean(of);
    return of.reduce((sum, one) => sum + (one - middle) ** 2, 0) / (of.length - 1) / of.length;
  };
  return (mean(a) - mean(b)) / Math.sqrt(spread(a) + spread(b));
};

describe('work that tells nothing', () => {
  it('is done alike for a token wrong at its first, at its last and at every character', async () => {
    const { admin } = tokens;
    const first = await workFor(wrongAt(admin, 0));
    expect(first.filter(([name]) => name === 'isSame')).to.have.length(3);
    for (let at = 1; at < admin.length; at += 1)
      expect(await workFor(wrongAt(admin, at))).to.deep.equal(first);
  });

  it('compares digests of one length, never tokens, whatever a token’s length', async () => {
    for (const token of ['x', 'x'.repeat(4_000), tokens.admin.slice(1), `${tokens.admin}x`]) {
      for (const [name, ...lengths] of await workFor(token))
        if (name === 'isSame') expect(lengths).to.deep.equal([43, 43]);
    }
  });

  it('compares by the platform’s constant-time comparison alone', () => {
    const secrets = createSecrets();
    const { timingSafeEqual } = crypto;
    const compared: number[] = [];
    crypto.timingSafeEqual = (a, b) => {
      compared.push(a.byteLength, b.byteLength);
      return timingSafeEqual(a, b);
    };
    syncBuiltinESMExports();
    try {
      const digest = secrets.digest('one');
      for (const other of [digest, wrongAt(digest, 0), wrongAt(digest, 42)])
        expect(secrets.isSame(digest, other)).to.equal(other === digest);
      expect(compared).to.deep.equal([43, 43, 43, 43, 43, 43]);
    } finally {
      crypto.timingSafeEqual = timingSafeEqual;
      syncBuiltinESMExports();
    }
  });

  describe('in the whole program', function () {
    this.timeout(3_600_000);
    let program: Program;
    let client: Client;

    before(async () => {
      program = await startProgram({ dir: freshFolder() });
      client = createClient(program.url);
      const { bearer } = await arrangeAccount(client, 'acme');
      await mint(client, 'acme', bearer);
      const body = { username: 'alice', password: 'the right password' };
      await client('POST', '/admin/v1/tenants/acme/users', { body });
    });
    after(async () => {
      await program.stop();
      removeFolder(program.dir);
    });

    /** Processor time of as many look-ups of a user. */
    const workOf = async (tenant: string, username: string, password: string): Promise<number> => {
      const before = processorTime(program.pid);
      await forEach(Array.from({ length: attempts }), 2, async () => {
        const body = { username, password };
        const answer = await client('POST', `/admin/v1/tenants/${tenant}/authenticate`, { body });
        expect(answer.body).to.include({ active: password === 'the right password' && username === 'alice' });
      });
      return processorTime(program.pid) - before;
    };

    it('hashes a password for an unknown user or tenant as for a known one', async () => {
      await workOf('acme', 'alice', 'warm up');
      const known = await workOf('acme', 'alice', 'the wrong password');
      expect(known, 'some hashing is seen').to.be.above(attempts / 2);
      for (const [tenant, username, password] of [
        ['acme', 'nobody', 'the wrong password'],
        ['nowhere', 'alice', 'the wrong password'],
        ['acme', 'nobody', ''],
        ['acme', 'alice', 'the right password'],
      ] as const) {
        const work = await workOf(tenant, username, password);
        expect(work, `${tenant}/${username}`).to.be.within(known / factorMax, known * factorMax);
      }
    });

    const rounds = Number(process.env['KEYLEDGER_TEST_ROUNDS'] ?? 0);
    (rounds > 0 ? it : it.skip)(
      'answers tokens wrong at the first and at the last character alike',
      async () => {
        const wrong = [wrongAt(adminToken, 0), wrongAt(adminToken, adminToken.length - 1)];
        const samples: [number[], number[]] = [[], []];
        for (let n = 0; n < 2 * rounds; n += 1) {
          const which = n % 2;
          const started = performance.now();
          await client('GET', '/admin/v1/capabilities', { token: wrong[which] ?? '' });
          samples[which]?.push(performance.now() - started);
        }
        // The slowest tenth is the machine's own doing.
        const [a, b] = samples.map((times) => times.toSorted((x, y) => x - y).slice(0, times.length * 0.9));
        expect(Math.abs(welch(a ?? [], b ?? []))).to.be.below(welchMax);
      },
    );
  });
});
