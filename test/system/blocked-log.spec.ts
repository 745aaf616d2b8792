import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { expect } from 'chai';
import { arrangeAccount, createClient, isActive, mint, type Client } from '../support/client.ts';
import { residentMebibytes } from '../support/memory.ts';
import { freshFolder, removeFolder, spawnProgram, startProgram } from '../support/program.ts';
import { pipeline } from '../support/raw-socket.ts';
import { until, within } from '../support/waiting.ts';

/** As many as come between two collections, at least: up to then memory goes up, and then down again by 150 MiB. */
const connections = 400;
const requestsPerConnection = 200;

/** Connections after which a process that serves has taken what it needs. */
const warmUpConnections = 100;

/** What is kept for the reader is 4 MiB. */
const growthMebibytesMax = 64;

/** A stop cuts itself off after 10 s; more than that means that it hangs, in milliseconds. */
const stopsWithinMs = 15_000;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** The program with a standard output into a pipe that is open and never read. */
const startUnread = async (dir: string, port: number): Promise<{ child: ChildProcess; reader: number }> => {
  const fifo = join(dir, 'log.fifo');
  execFileSync('mkfifo', [fifo]);
  // Open for both, so that neither side waits for the other.
  const reader = openSync(fifo, 'r+');
  const child = spawnProgram({
    dir: join(dir, 'data'),
    env: { SERVICE_PORT: String(port) },
    wrapper: ['sh', '-c', `exec "$@" >"${fifo}"`, 'sh'],
  });
  return { child, reader };
};

describe('a log that nobody reads', function () {
  this.timeout(180_000);
  const dir = freshFolder();
  let port: number;
  let client: Client;
  let child: ChildProcess;
  let reader: number;

  before(async () => {
    port = await freePort();
    client = createClient(`http://127.0.0.1:${port}`);
    ({ child, reader } = await startUnread(dir, port));
    child.stderr?.resume();
    await until('it is ready', async () =>
      client('GET', '/readyz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  });
  after(() => {
    child.kill('SIGKILL');
    closeSync(reader);
    removeFolder(dir);
  });

  it('neither stops the service nor takes memory without bound', async () => {
    // What is refused is logged.
    const request = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n';
    const requests = [
      ...Array.from({ length: requestsPerConnection - 1 }, () => request),
      request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    ];
    const flood = async (): Promise<void> => {
      const answers = await within('a flood', 30_000, pipeline(port, requests));
      expect(answers.filter(({ status }) => status === 404)).to.have.length(requestsPerConnection);
    };
    /** What stays while so many come. */
    const leastWhile = async (floods: number): Promise<number> => {
      let least = Infinity;
      for (let n = 0; n < floods; n += 1) {
        await flood();
        least = Math.min(least, residentMebibytes(child.pid ?? 0));
      }
      return least;
    };
    await leastWhile(warmUpConnections);
    const early = await leastWhile(connections);
    expect((await leastWhile(connections)) - early).to.be.below(growthMebibytesMax);
  });

  it('holds up no act and no revocation', async () => {
    const { bearer } = await arrangeAccount(client, 'acme');
    const minted = await mint(client, 'acme', bearer);
    expect(await isActive(client, 'acme', minted)).to.equal(true);
    const body = { username: 'alice', password: 'a password, hashed beside' };
    expect((await client('POST', '/admin/v1/tenants/acme/users', { body })).status).to.equal(201);
    await client('DELETE', `/admin/v1/tenants/acme/tokens/${minted.username}`);
    expect(await isActive(client, 'acme', minted)).to.equal(false);
  });

  it('does not hold up the end', async () => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = await within('the stop', stopsWithinMs, exited);
    expect(code).to.equal(0);
  });

  it('was full all the time, or nothing has been shown', () => {
    expect(readSync(reader, Buffer.alloc(1_048_576))).to.be.above(60_000);
  });
});

describe('a log whose reader has gone', function () {
  this.timeout(60_000);

  it('neither stops the service nor holds up the end', async () => {
    const program = await startProgram({ dir: freshFolder() });
    try {
      program.child.stdout?.destroy();
      const client = createClient(program.url);
      for (let n = 0; n < 100; n += 1) expect((await client('GET', '/nowhere')).status).to.equal(404);
      program.child.kill('SIGTERM');
      expect(await within('the stop', stopsWithinMs, program.exited)).to.equal(0);
    } finally {
      await program.kill();
      removeFolder(program.dir);
    }
  });
});
