import { readdirSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { arrangeAccount, createClient, isActive, mint, type Client } from '../support/client.ts';
import { watchMemory } from '../support/memory.ts';
import { expectProblem } from '../support/problems.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { answersOf, openSocket } from '../support/raw-socket.ts';
import { until, within } from '../support/waiting.ts';

/** Slow clients of each kind. */
const dribblers = 700;
const others = 100;

/** Clients that ask for much and read nothing. */
const stalled = 20;

/** The service ends what is slow after 12 s, looks each second, and lingers for one: in milliseconds. */
const slowEndsMs = 20_000;

/** It ends a connection on which nothing moves after 20 s, or 40, in milliseconds. */
const stalledEndsMs = 60_000;

const dribbleEveryMs = 250;

const growthMebibytesMax = 100;

/** What is sent of a body that is too large: the answer has to come though the rest never does. */
const earlyBytes = 2 * 1_048_576;

const hundredMegabytes = 104_857_600;

const head = (method: string, path: string, headers = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${adminToken}\r\n${headers}`;

const create = (headers: string): string =>
  head('POST', '/admin/v1/tenants', `Content-Type: application/json\r\n${headers}\r\n\r\n`);

/** Connections that the test’s own healthy client may keep open. */
const keptMax = 10;

/** What a descriptor is; it can be closed while one looks. */
const linkOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
};

/** A client that is watched until its connection ends. */
type Watched = { readonly socket: Socket; ended: boolean; text: string };

describe('slow clients', function () {
  this.timeout(120_000);
  let program: Program;
  let client: Client;
  let bearer: string;
  let atRest: number;
  const opened: Watched[] = [];

  before(async () => {
    program = await startProgram({ dir: freshFolder() });
    client = createClient(program.url);
    ({ bearer } = await arrangeAccount(client, 'acme'));
    atRest = connections();
    // More than the buffers of both kernels take.
    const bytes = `${head('GET', '/apidoc/assets/swagger-ui-bundle.js')}\r\n`.repeat(12);
    for (const { socket } of await open(stalled, bytes, { reads: false })) socket.pause();
    await until('they are connected', () => connections() >= atRest + stalled);
  });
  after(async () => {
    for (const { socket } of opened) socket.destroy();
    await program.stop();
    removeFolder(program.dir);
  });

  const open = async (count: number, bytes: string, { reads = true } = {}): Promise<Watched[]> => {
    const fresh: Watched[] = [];
    for (let n = 0; n < count; n += 1) {
      const watched: Watched = { socket: await openSocket(program.port), ended: false, text: '' };
      // They keep their own half open: the service has to end the connection by itself.
      watched.socket.on('close', () => (watched.ended = true));
      watched.socket.on('error', () => {});
      if (reads) watched.socket.on('data', (chunk) => (watched.text += chunk.toString('latin1')));
      if (bytes !== '') watched.socket.write(bytes);
      fresh.push(watched);
    }
    opened.push(...fresh);
    return fresh;
  };

  /** Sends one more byte on each, for ever. */
  const dribble = (slow: readonly Watched[]): NodeJS.Timeout =>
    setInterval(() => {
      for (const { socket, ended } of slow) if (!ended && socket.writable) socket.write('a');
    }, dribbleEveryMs);

  const serveOthers = async (isOver: () => boolean): Promise<number> => {
    let served = 0;
    for (; !isOver(); served += 1) {
      const minted = await within('a healthy mint', 10_000, mint(client, 'acme', bearer));
      expect(await isActive(client, 'acme', minted)).to.equal(true);
      const { status } = await client('GET', '/healthz');
      expect(status).to.equal(200);
    }
    return served;
  };

  /** Seen from the service: a client that keeps its own half learns nothing of the end. */
  const connections = (): number => {
    const folder = `/proc/${program.pid}/fd`;
    return readdirSync(folder).filter((fd) => linkOf(`${folder}/${fd}`).startsWith('socket:')).length;
  };

  it('are ended within seconds, by the thousand, while others are served and memory stays flat', async () => {
    await serveOthers(
      (
        (left) => () =>
          (left -= 1) < 0
      )(200),
    );
    const before = watchMemory(program.pid).stop();
    const memory = watchMemory(program.pid);
    const headers = await open(dribblers, `${head('GET', '/healthz')}X-Slow: `);
    const bodies = await open(others, create('Content-Length: 1000'));
    const halves = await open(others, create('Content-Length: 1000') + '{"id":"');
    const silent = await open(others, '');
    const chunks = await open(others, create('Transfer-Encoding: chunked') + '5\r\n{"id"');
    const slow = [...headers, ...bodies, ...halves, ...silent, ...chunks];
    const dribbling = dribble([...headers, ...bodies]);
    let done = false;
    let grown = 0;
    const served = serveOthers(() => done);
    try {
      await until(
        'every slow connection has ended',
        () => connections() <= atRest + stalled + keptMax,
        slowEndsMs,
      );
    } finally {
      done = true;
      clearInterval(dribbling);
      grown = memory.stop() - before;
    }
    expect(await served).to.be.above(10);
    expect(grown).to.be.below(growthMebibytesMax);
    for (const { text } of slow) {
      const answers = answersOf(text);
      expect(answers.length).to.be.at.most(1);
      for (const answer of answers) expectProblem(answer, 408, 'request.timeout');
    }
    expect(slow.filter(({ text }) => text !== '').length, 'told why').to.be.above(slow.length / 2);
  });

  for (const [name, headers, chunk] of [
    ['100 MB', `Content-Length: ${hundredMegabytes}`, 'a'.repeat(65_536)],
    ['endless chunks', 'Transfer-Encoding: chunked', `10000\r\n${'a'.repeat(65_536)}\r\n`],
  ] as const) {
    it(`that send ${name} are told early, every time, and are ended`, async () => {
      for (let n = 0; n < 10; n += 1) {
        const [one] = await open(1, create(headers));
        if (one === undefined) throw new Error('No connection.');
        const { socket } = one;
        const send = (): void => {
          while (socket.bytesWritten < earlyBytes && !one.ended && socket.writable && socket.write(chunk));
        };
        socket.on('drain', send);
        send();
        await until('it is told', () => answersOf(one.text).length > 0);
        const [answer] = answersOf(one.text);
        if (answer !== undefined) expectProblem(answer, 413, 'request.too-large');
      }
    });
  }

  it('are all ended in the end, those too that read no more', async () => {
    await until('every connection has ended', () => connections() <= atRest + keptMax, stalledEndsMs);
    expect((await client('GET', '/readyz')).status).to.equal(200);
  });
});
