import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { RefusalCode } from '../../src/refusals.ts';
import { arrangeAccount, createClient, type Client } from '../support/client.ts';
import { expectInvalid, expectProblem } from '../support/problems.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';

const mebibyte = 1_048_576;

const json = { 'Content-Type': 'application/json' };

const secret = 'correct horse battery staple';

/** Bodies that are no JSON in UTF-8, or JSON that is never taken. */
const malformed: Readonly<Record<string, string | Buffer>> = {
  'half an object': `{"id":"aa","password":"${secret}"`,
  'a second value': `{"id":"aa"} "${secret}"`,
  'a NUL at the end': '{"id":"aa"}\0',
  'a byte order mark': '\uFEFF{"id":"aa"}',
  'white space only': ' \n',
  'a comment': '{"id":"aa"/* */}',
  'single quotes': `{'id':'${secret}'}`,
  NaN: '{"id":NaN}',
  'a raw line break in a string': '{"id":"a\na"}',
  'a lone continuation byte': Buffer.from('{"id":"a\x80"}', 'latin1'),
  'an overlong encoding': Buffer.from('{"id":"a\xC0\xAF"}', 'latin1'),
  'a lone surrogate in bytes': Buffer.from('{"id":"a\xED\xA0\x80"}', 'latin1'),
  'UTF-16': Buffer.from('{"id":"aa"}', 'utf16le'),
  '`__proto__`': '{"__proto__":{"id":"aa"},"id":"aa"}',
  'an escaped `__proto__`': '{"\\u005f\\u005fproto__":{},"id":"aa"}',
  'a nested `__proto__`': '{"id":{"a":[{"__proto__":1}]}}',
  'arrays 33 deep': '['.repeat(33) + ']'.repeat(33),
  'a bomb of brackets': '['.repeat(mebibyte),
  'a bomb of objects': '{"a":'.repeat(mebibyte / 5),
};

const filled = (id: string, bytes: number): string => `{"id":"${id}"}`.padEnd(bytes, ' ');

describe('a request’s body', () => {
  let program: Program;
  let client: Client;
  let bearer: string;

  before(async () => {
    program = await startProgram({ dir: freshFolder() });
    client = createClient(program.url);
    ({ bearer } = await arrangeAccount(client, 'acme'));
  });
  after(async () => {
    await program.stop();
    removeFolder(program.dir);
  });

  const send = (body: string | Buffer, headers: Record<string, string> = json) =>
    fetch(`${program.url}/admin/v1/tenants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${adminToken}`, ...headers },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    }).then(async (response) => {
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as unknown };
    });

  const chunked = (body: string, path = '/admin/v1/tenants') =>
    new Promise<{ status: number; text: string; headers: Record<string, string> }>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${adminToken}`, ...json, 'Transfer-Encoding': 'chunked' };
      const asked = request(program.url + path, { method: 'POST', headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text,
            headers: response.headers as Record<string, string>,
          }),
        );
      });
      asked.on('error', reject);
      for (let at = 0; at < body.length; at += 100_000) asked.write(body.slice(at, at + 100_000));
      asked.end();
    });

  for (const [name, body] of Object.entries(malformed)) {
    it(`is refused without an echo: ${name}`, async () => {
      const answer = await send(body);
      expectProblem(answer, 400, 'request.malformed');
      expect(answer.text).to.not.contain(secret);
    });
  }

  it('may be of any JSON type, and is refused as one fault of the whole', async () => {
    for (const body of ['null', '[]', '[{"id":"aa"}]', '"aa"', '1', 'true', '[]'.padStart(64, ' ')])
      expect(expectInvalid(await send(body)), body).to.deep.equal(['']);
  });

  it('is not taken for an empty one when it is null, where it may be left out', async () => {
    const { id } = await arrangeAccount(client, 'acme');
    const path = `/admin/v1/service-accounts/${id}/rotate`;
    expect(expectInvalid(await client('POST', path, { body: 'null' }))).to.deep.equal(['']);
    expect((await client('POST', path)).status).to.equal(200);
    expect((await client('POST', path, { body: {} })).status).to.equal(200);
  });

  it('that is missing is told apart from one that is wrong', async () => {
    for (const headers of [{}, json])
      expect(expectInvalid(await client('POST', '/admin/v1/tenants', { headers }))).to.deep.equal(['']);
  });

  it('is told every fault at once, in the path too', async () => {
    const body = {
      username: 'cred_x',
      password: 'short',
      role: 'owner',
      extra: 1,
      'a/b~c': 2,
      constructor: 3,
    };
    const answer = await client('POST', '/admin/v1/tenants/no%20tenant/users?limit=1', { body });
    expect(expectInvalid(answer)).to.deep.equal(
      ['/id', '/limit', '/username', '/password', '/role', '/extra', '/a~1b~0c', '/constructor'].toSorted(),
    );
  });

  it('never mints where a member is misspelt, of the wrong type, or at odds with another', async () => {
    const wish = { subject: 'job', role: 'writer', ttl_secs: 60 };
    const wrong: Readonly<Record<string, object>> = {
      '/write_schema': { ...wish, write_schema: ['a'] },
      '/Write_Schemas': { ...wish, Write_Schemas: ['a'] },
      '/writeSchemas': { ...wish, writeSchemas: ['a'] },
      '/write_schemas ': { ...wish, 'write_schemas ': ['a'] },
      '/write_schemas': { ...wish, write_schemas: [] },
      '/write_schemas/0': { ...wish, write_schemas: ['a;b'] },
      '/subject': { ...wish, subject: 'a\u0000b' },
      '/role': { ...wish, role: 'Writer' },
      '/ttl_secs': { ...wish, ttl_secs: '60' },
    };
    const more: Readonly<Record<string, readonly object[]>> = {
      '/write_schemas': [
        { ...wish, write_schemas: null },
        { ...wish, write_schemas: 'a' },
        { ...wish, write_schemas: ['a', 'a'] },
        { ...wish, write_schemas: { 0: 'a', length: 1 } },
        { ...wish, role: 'reader', write_schemas: ['a'] },
        { ...wish, write_schemas: Array.from({ length: 65 }, (_, n) => `s${n}`) },
      ],
      '/ttl_secs': [0, -1, 1.5, 86_401, null, [60], true].map((ttl_secs) => ({
        ...wish,
        ttl_secs,
      })),
      '/subject': ['', 'a'.repeat(257), '\uD800', 'a\u009Fb', 1].map((subject) => ({ ...wish, subject })),
    };
    for (const [pointer, body] of Object.entries(wrong)) {
      for (const one of [body, ...(more[pointer] ?? [])]) {
        const answer = await client('POST', '/admin/v1/tenants/acme/tokens', { token: bearer, body: one });
        expect(expectInvalid(answer), JSON.stringify(one).slice(0, 200)).to.deep.equal([pointer]);
      }
    }
    expect((await client('GET', '/admin/v1/tenants/acme/tokens')).body).to.deep.equal([]);
  });

  it('of a million faults is answered by a bounded list of them', async () => {
    const members = Array.from({ length: 100_000 }, (_, n) => `"${n.toString(36)}":0`);
    const answer = await send(`{${members.join(',')}}`);
    expect(expectInvalid(answer).length).to.be.within(64, 1_000);
  });

  it('may have 1 MiB and no byte more, with a length or in chunks', async () => {
    expect((await send(filled('exact', mebibyte))).status).to.equal(201);
    expectProblem(await send(filled('over', mebibyte + 1)), 413, 'request.too-large');
    expect((await chunked(filled('exact2', mebibyte))).status).to.equal(201);
    for (const bytes of [mebibyte + 1, 3 * mebibyte]) {
      const { status, text, headers } = await chunked(filled('over', bytes));
      expectProblem({ status, headers, body: text }, 413, 'request.too-large');
    }
    expect((await client('GET', '/admin/v1/tenants/over')).status).to.equal(404);
  });

  it('must say that it is JSON, in no other charset or encoding', async () => {
    const refused: readonly Record<string, string>[] = [
      {},
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Type': 'multipart/form-data; boundary=a' },
      { 'Content-Type': 'application/jsonx' },
      { 'Content-Type': 'application/json; charset=utf-16' },
      { 'Content-Type': 'application/json; charset=latin1' },
      { 'Content-Type': 'application/json, text/plain' },
      { 'Content-Type': 'text/json' },
      { ...json, 'Content-Encoding': 'gzip' },
      { ...json, 'Content-Encoding': 'br' },
      { ...json, 'Content-Encoding': 'identity, gzip' },
    ];
    const body = Buffer.from('{"id":"typed"}');
    const code: RefusalCode = 'request.unsupported-type';
    for (const headers of refused) expectProblem(await send(body, headers), 415, code);
    expectProblem(await send(gzipSync(body), { ...json, 'Content-Encoding': 'gzip' }), 415, code);
    for (const type of ['application/json;charset=UTF-8', 'Application/JSON', 'application/vnd.x+json'])
      expect((await send('{"id":"acme"}', { 'Content-Type': type })).status, type).to.equal(409);
  });

  it('whose type is thousands of spaces long costs no more than its length', async () => {
    const type = `application/json${' '.repeat(15_000)}x`;
    for (let n = 0; n < 100; n += 1)
      expectProblem(await send('{}', { 'Content-Type': type }), 415, 'request.unsupported-type');
  });

  it('leaves the service as it was', async () => {
    const { body } = await client('GET', '/admin/v1/tenants');
    expect((body as { id: string }[]).map(({ id }) => id)).to.deep.equal(['acme', 'exact', 'exact2']);
    expect(program.output()).to.not.match(/"level":"(error|fatal)"/);
    expect(program.output()).to.not.contain(secret);
  });
});
