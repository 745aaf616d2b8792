import { expect } from 'chai';
import type { RefusalCode } from '../../src/refusals.ts';
import { createClient } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import {
  adminToken,
  freshFolder,
  removeFolder,
  startProgram,
  verifierToken,
  type Program,
} from '../support/program.ts';
import { exchange, pipeline } from '../support/raw-socket.ts';

const host = 'Host: a\r\n';
const auth = `Authorization: Bearer ${adminToken}\r\n`;
const json = 'Content-Type: application/json\r\n';

const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\n${host}${headers}\r\n`;

/** The tenant's id is 2 characters, so that the body has 11 bytes. */
const create = (id: string, headers: string, body = `{"id":"${id}"}`): string =>
  `POST /admin/v1/tenants HTTP/1.1\r\n${host}${auth}${json}${headers}\r\n${body}`;

const chunked = (id: string): string => `b\r\n{"id":"${id}"}\r\n0\r\n\r\n`;

const large = 'a'.repeat(17 * 1_024);

/** More headers than Node keeps by default. */
const manyHeaders = 'a:\r\n'.repeat(2_500);

/** What could be read as two things: each is refused, and by nobody else read as a second request. */
const refused: Readonly<Record<string, readonly [bytes: string, status?: number, code?: RefusalCode]>> = {
  'a length and chunks': [
    create('aa', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${get('/healthz')}`),
  ],
  'chunks and a length': [
    create('aa', 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', `0\r\n\r\n${get('/healthz')}`),
  ],
  'two lengths': [create('aa', 'Content-Length: 11\r\nContent-Length: 12\r\n')],
  'one length twice': [create('aa', 'Content-Length: 11\r\nContent-Length: 11\r\n')],
  'a list of lengths': [create('aa', 'Content-Length: 11, 11\r\n')],
  'a signed length': [create('aa', 'Content-Length: +11\r\n')],
  'a negative length': [create('aa', 'Content-Length: -1\r\n')],
  'a length that no number holds': [create('aa', 'Content-Length: 18446744073709551627\r\n')],
  'chunks twice': [create('aa', 'Transfer-Encoding: chunked, chunked\r\n', chunked('aa'))],
  'an unknown transfer encoding': [create('aa', 'Transfer-Encoding: xchunked\r\n', chunked('aa'))],
  'a compressed transfer encoding': [create('aa', 'Transfer-Encoding: gzip, chunked\r\n', chunked('aa'))],
  'chunks in HTTP/1.0': [
    create('aa', 'Transfer-Encoding: chunked\r\n', chunked('aa')).replace('HTTP/1.1', 'HTTP/1.0'),
  ],
  'a chunk without a size': [create('aa', 'Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')],
  'chunks ended by a bare LF': [create('aa', 'Transfer-Encoding: chunked\r\n', 'b\n{"id":"aa"}\n0\n\n')],
  'a folded header': [get('/healthz', 'X-A: b\r\n c\r\n')],
  'NUL in a header': [get('/healthz', 'X-A: b\0c\r\n')],
  'NUL in the target': [get('/heal\0thz')],
  'a space before the colon': [get('/healthz', 'X-A : b\r\n')],
  'bare LFs': ['GET /healthz HTTP/1.1\nHost: a\n\n'],
  'a bare CR': ['GET /healthz HTTP/1.1\r\nHost: a\rX: b\r\n\r\n'],
  'two tokens': [get('/admin/v1/tenants', auth + auth)],
  'two tokens far apart': [get('/admin/v1/tenants', `${auth}${manyHeaders}${auth}`)],
  'two tokens, one behind many headers': [
    get('/admin/v1/tenants', `${auth}${manyHeaders}Authorization: Bearer ${verifierToken}\r\n`),
  ],
  'two API keys': [get('/healthz', 'X-API-Key: a\r\nx-api-key: b\r\n')],
  'two hosts': [get('/healthz', 'Host: b\r\n')],
  'two content types': [create('aa', `Content-Length: 11\r\n${json}`)],
  'two request ids': [get('/healthz', 'X-Request-Id: a\r\nX-Request-Id: b\r\n')],
  'no host': ['GET /healthz HTTP/1.1\r\n\r\n'],
  'a host that is none': ['GET /healthz HTTP/1.1\r\nHost: a b/c@d\r\n\r\n'],
  'an absolute target': [get('http://evil/healthz')],
  'a target that is an authority': [get('evil:80')],
  'a target that is an asterisk': ['OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
  'a target of another host': [get('//evil/healthz')],
  'a fragment': [get('/healthz#x')],
  'an encoded slash': [get('/admin/v1%2ftenants', auth)],
  'an encoded backslash': [get('/admin/v1%5Ctenants', auth)],
  'a backslash': [get('/admin\\v1/tenants', auth)],
  'an encoded NUL': [get('/admin/v1/tenants/a%00', auth)],
  'an encoded line break': [get('/admin/v1/tenants/a%0d%0a', auth)],
  'an encoded DEL': [get('/admin/v1/tenants/a%7F', auth)],
  'a broken escape': [get('/admin/v1/tenants/a%2', auth)],
  'an escape that is no UTF-8': [get('/admin/v1/tenants/acme/users/%ff', auth)],
  'an encoded lone surrogate': [get('/admin/v1/tenants/acme/users/%ED%A0%80', auth)],
  'a raw byte in the target': [get('/admin/v1/tenants/\xe9', auth)],
  'a space in the target': ['GET /heal thz HTTP/1.1\r\nHost: a\r\n\r\n'],
  'HTTP/0.9': ['GET /healthz\r\n\r\n'],
  'HTTP/2 without an upgrade': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'HTTP/9.9': ['GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n'],
  'a TLS greeting': ['\x16\x03\x01\x02\x00\x01\x00'],
  'an unknown method': ['FROB /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
  'a header of 17 KiB': [get('/healthz', `X-A: ${large}\r\n`), 431, 'request.headers-too-large'],
  'a target of 17 KiB': [get(`/${large}`), 431, 'request.headers-too-large'],
};

describe('a request that could mean two things', () => {
  let program: Program;

  before(async () => {
    program = await startProgram({ dir: freshFolder() });
  });
  after(async () => {
    await program.stop();
    removeFolder(program.dir);
  });

  for (const [name, [bytes, status = 400, code = 'request.malformed']] of Object.entries(refused)) {
    it(`is answered once, with ${status}: ${name}`, async () => {
      const answers = await exchange(program.port, bytes);
      expect(answers).to.have.length(1);
      const [answer] = answers;
      if (answer !== undefined) expectProblem(answer, status, code);
    });
  }

  it('has no effect', async () => {
    const { body } = await createClient(program.url)('GET', '/admin/v1/tenants');
    expect(body).to.deep.equal([]);
  });

  it('takes nothing from the answer to the request before it', async () => {
    const bytes = create('ab', 'Content-Length: 11\r\n') + 'garbage garbage\r\n\r\n';
    const [first, second, ...more] = await exchange(program.port, bytes);
    expect(first?.status).to.equal(201);
    expect(JSON.parse(first?.body ?? '')).to.include({ id: 'ab' });
    if (second !== undefined) expectProblem(second, 400, 'request.malformed');
    expect(more).to.deep.equal([]);
  });

  it('is answered on a connection that has served before', async () => {
    for (const [bytes, status, code] of [
      ['garbage\r\n\r\n', 400, 'request.malformed'],
      [get('/healthz', `X-A: ${large}\r\n`), 431, 'request.headers-too-large'],
    ] as const) {
      const [first, second, ...more] = await exchange(program.port, get('/healthz'), { afterwards: [bytes] });
      expect(first?.status).to.equal(200);
      if (second === undefined) throw new Error('The second request was not answered.');
      expectProblem(second, status, code);
      expect(more).to.deep.equal([]);
    }
  });

  it('does not take an expectation that it does not know for a reason to fail', async () => {
    const [answer, ...more] = await exchange(
      program.port,
      create('ac', 'Expect: magic\r\nContent-Length: 11\r\n'),
    );
    expect([answer?.status, more]).to.deep.equal([201, []]);
  });

  it('is told apart from two requests in one packet, which are answered in order', async () => {
    const answers = await pipeline(program.port, [
      get('/healthz'),
      get('/admin/v1/tenants/ab', auth),
      get('/nowhere', 'Connection: close\r\n'),
    ]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 404]);
  });

  it('never leads out of the folder of static files, nor to an internal error', async () => {
    for (const path of ['../package.json', '%2e%2e/package.json', './/etc/passwd', '%2e', 'a/../../x', '~']) {
      const [answer] = await exchange(program.port, get(`/apidoc/assets/${path}`));
      if (answer === undefined) throw new Error(`${path} was not answered.`);
      expectProblem(answer, 404, 'route.unknown');
    }
  });

  it('leaves the service as it was', async () => {
    expect((await createClient(program.url)('GET', '/readyz')).status).to.equal(200);
    expect(program.child.exitCode).to.equal(null);
    expect(program.output()).to.not.match(/"level":"(error|fatal)"/);
  });
});
