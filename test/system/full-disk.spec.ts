import { expect } from 'chai';
import { createClient } from '../support/client.ts';
import { checkDataFile } from '../support/data-file.ts';
import { checkLedger } from '../support/ledger-check.ts';
import { createLedger, expectedOfCredential, type Ledger } from '../support/ledger.ts';
import { runLoad, seedLedger } from '../support/load.ts';
import { createExt4, createTmpfs, fillDisk, type Mount } from '../support/mounts.ts';
import { itUnless, whyNot } from '../support/native.ts';
import { startProgram, type Program } from '../support/program.ts';
import { seeded, testSeed } from '../support/random.ts';
import { startAndStop } from '../support/start-and-stop.ts';
import { until } from '../support/waiting.ts';

const megabytes = 48;

/** How long a load goes on until writes are refused, in milliseconds. */
const fullMsMax = 20_000;

const disks: readonly { name: string; needs: readonly string[]; create: (megabytes: number) => Mount }[] = [
  { name: 'in memory', needs: ['root', 'mount'], create: createTmpfs },
  { name: 'ext4', needs: ['root', 'mount', 'losetup', 'mkfs.ext4'], create: createExt4 },
];

for (const { name, needs, create } of disks) {
  describe(`on a full disk (${name})`, function () {
    // Of the hooks; each test has its own.
    this.timeout(30_000);
    const impossible = whyNot(...needs);
    const seed = testSeed();
    const random = seeded(seed);
    let ledger: Ledger = createLedger();
    let disk: Mount;
    let program: Program | undefined;

    beforeEach(async () => {
      if (impossible !== undefined) return;
      ledger = createLedger();
      disk = create(megabytes);
      disk.mount();
      program = await startProgram({ dir: disk.dir });
      await seedLedger(program.url, ledger, random);
    });

    afterEach(async () => {
      await program?.kill();
      if (impossible === undefined) disk.remove();
    });

    /** A load that ends when writes have been refused for a while. */
    const loadUntilFull = async (url: string) => {
      const deadline = performance.now() + fullMsMax;
      let refused = 0;
      const client = createClient(url);
      const isUnready = async (): Promise<boolean> =>
        (await client('GET', '/readyz', { token: null })).status === 503;
      const load = runLoad({
        url,
        ledger,
        random,
        isOver: () => refused > 0 || performance.now() > deadline,
      });
      await until('writes are refused', isUnready, fullMsMax).finally(() => (refused += 1));
      return load;
    };

    const check = async (url: string): Promise<void> => {
      expect(await checkLedger(url, ledger, { random, all: true }), `seed ${seed}`).to.deep.equal([]);
    };

    itUnless(
      impossible,
      'refuses writes as unavailable, answers look-ups, and takes writes again when there is room',
      async () => {
        if (program === undefined) throw new Error('There is no program.');
        const { url } = program;
        const client = createClient(url);
        const free = fillDisk(disk);
        const { problems, failures } = await loadUntilFull(url);
        expect(problems).to.deep.equal([]);
        expect(failures).to.not.have.length(0);
        for (const { status, headers, body } of failures) {
          expect(status).to.equal(503);
          expect(headers.get('content-type')).to.equal('application/problem+json');
          expect(headers.get('retry-after')).to.match(/^\d+$/);
          expect((body as { code: string }).code).to.equal('service.unavailable');
        }

        // Look-ups and lists go on, and what was revoked stays so: a refused write has changed nothing by halves.
        const working = ledger.credentials.filter((one) => expectedOfCredential(one) === 'works').slice(-8);
        for (const credential of working) {
          const { username, password, account } = credential;
          const tenant = `/admin/v1/tenants/${account.tenant.id}`;
          const look = async () => client('POST', `${tenant}/authenticate`, { body: { username, password } });
          expect((await look()).body).to.include({ active: true });
          expect((await client('GET', `${tenant}/tokens`)).status).to.equal(200);
          const { status } = await client('DELETE', `${tenant}/tokens/${username}`);
          expect(status).to.be.oneOf([204, 503]);
          // A small write can still find room; if it was acknowledged, it holds.
          if (status === 204) credential.life = 'ended';
          expect((await look()).body).to.include({ active: status === 503 });
        }
        expect((await client('GET', '/healthz', { token: null })).status).to.equal(200);

        free();
        await until(
          'it is ready again',
          async () => (await client('GET', '/readyz', { token: null })).status === 200,
        );
        for (const credential of working) {
          const { username, account } = credential;
          const { status } = await client(
            'DELETE',
            `/admin/v1/tenants/${account.tenant.id}/tokens/${username}`,
          );
          expect(status).to.equal(204);
          credential.life = 'ended';
        }
        let left = 200;
        const after = await runLoad({ url, ledger, random, isOver: () => left-- <= 0 });
        expect([after.problems, after.failures]).to.deep.equal([[], []]);
        await check(url);

        await program.kill();
        program = await startProgram({ dir: disk.dir });
        await check(program.url);
        expect(await program.stop()).to.equal(0);
        expect(checkDataFile(disk.dir)).to.deep.equal([]);
      },
    ).timeout(90_000);

    itUnless(
      impossible,
      'loses nothing when killed there, whether or not it can start before there is room',
      async () => {
        if (program === undefined) throw new Error('There is no program.');
        const free = fillDisk(disk);
        const { problems } = await loadUntilFull(program.url);
        expect(problems).to.deep.equal([]);
        await program.kill();

        const { code, listened, written } = await startAndStop({ dir: disk.dir });
        expect(code, written).to.equal(listened ? 0 : 1);
        if (!listened) expect(written).to.match(/^keyledger: /m);

        free();
        program = await startProgram({ dir: disk.dir });
        await check(program.url);
        expect(await program.stop()).to.equal(0);
        expect(checkDataFile(disk.dir)).to.deep.equal([]);
      },
    ).timeout(90_000);
  });
}
