import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { arrangeAccount, createClient, isActive, mint } from '../support/client.ts';
import { freshFolder, removeFolder, spawnProgram, startProgram, type Program } from '../support/program.ts';
import { until } from '../support/waiting.ts';

/** More than one transaction of the rebuild. */
const tenants = 3_000;

/** What the program has written on standard output, as it comes. */
const linesOf = (child: ReturnType<typeof spawnProgram>): { readonly text: () => string } => {
  let text = '';
  child.stdout?.on('data', (chunk) => (text += String(chunk)));
  return { text: () => text };
};

describe('the start', function () {
  this.timeout(60_000);
  const dir = freshFolder();
  after(() => removeFolder(dir));

  it('rebuilds read models of another version from the log, and says meanwhile that it is starting', async () => {
    const first = await startProgram({ dir });
    const client = createClient(first.url);
    const account = await arrangeAccount(client, 'kept');
    const [revoked, alive] = [
      await mint(client, 'kept', account.bearer),
      await mint(client, 'kept', account.bearer),
    ];
    await client('DELETE', `/admin/v1/tenants/kept/tokens/${revoked.username}`);
    for (let made = 0; made < tenants; made += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          client('POST', '/admin/v1/tenants', { body: { id: `t${made + at}` } }),
        ),
      );
    }
    await first.stop();
    const db = openDatabase(join(dir, 'keyledger.db'));
    db.exec('UPDATE read_models SET version = 0');
    // The rebuild waits for this lock, so that the start takes as long as the test wants.
    db.exec('BEGIN IMMEDIATE');

    const seen = new Set<string>();
    const child = spawnProgram({ dir });
    const { text } = linesOf(child);
    try {
      await until('it answers', () => text().includes('"msg":"starting"'));
      const port = /"port":(\d+)/.exec(text())?.[1] ?? '';
      const url = `http://127.0.0.1:${port}`;
      await until('it is ready', async () => {
        const health = await fetch(`${url}/healthz`);
        expect(health.status).to.equal(200);
        const other = await fetch(`${url}/admin/v1/tenants`);
        if (other.status === 503) expect(other.headers.get('retry-after')).to.equal('2');
        const ready = await fetch(`${url}/readyz`);
        const body = (await ready.json()) as { status: string; reason?: string };
        seen.add(`${ready.status} ${body.status} ${body.reason ?? ''}`);
        if (db.isTransaction) db.exec('ROLLBACK');
        return ready.status === 200;
      });
      expect([...seen]).to.deep.equal(['503 not ready starting', '200 ready ']);
      const again = createClient(url);
      expect((await again('GET', '/admin/v1/tenants')).body).to.have.length(tenants + 1);
      expect(await isActive(again, 'kept', revoked)).to.equal(false);
      expect(await isActive(again, 'kept', alive)).to.equal(true);
    } finally {
      db.close();
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });

  it('ends with exit code 2 and a line for each fault where a setting is wrong', async () => {
    const child = spawnProgram({ dir, env: { SERVICE_PORT: 'x', SERVICE_LOG_LEVEL: 'y' } });
    let errors = '';
    child.stderr?.on('data', (chunk) => (errors += String(chunk)));
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).to.equal(2);
    expect(errors.trim().split('\n')).to.have.length(2);
  });

  it('ends with a clear message where the address is taken', async () => {
    const other = freshFolder();
    const first: Program = await startProgram({ dir });
    try {
      await startProgram({ dir: other, env: { SERVICE_PORT: String(first.port) } }).then(
        () => expect.fail('it started'),
        (error: Error) => expect(error.message).to.match(/ended with 1[\s\S]*EADDRINUSE/),
      );
    } finally {
      await first.stop();
      removeFolder(other);
    }
  });
});
