import { expect } from 'chai';
import { arrangeAccount, createClient, mint, type Client } from '../support/client.ts';
import { expectInvalid, expectProblem } from '../support/problems.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { exchange } from '../support/raw-socket.ts';

const lists = [
  '/admin/v1/tenants',
  '/admin/v1/service-accounts',
  '/admin/v1/tenants/acme/users',
  '/admin/v1/tenants/acme/tokens',
];

/** Queries of a list, and what each is refused for. */
const badQueries: Readonly<Record<string, string>> = {
  'limit=0': '/limit',
  'limit=1001': '/limit',
  'limit=-1': '/limit',
  'limit=1.5': '/limit',
  'limit=5.0': '/limit',
  'limit=1e2': '/limit',
  'limit=0x10': '/limit',
  'limit=%205': '/limit',
  'limit=%2B5': '/limit',
  'limit=%D9%A5': '/limit',
  'limit=Infinity': '/limit',
  'limit=': '/limit',
  limit: '/limit',
  'limit=true': '/limit',
  'limit=1&limit=2': '/limit',
  'limit=1&limit=1': '/limit',
  'limit=%ff': '/limit',
  'limit=%00': '/limit',
  'limit[]=1': '/limit[]',
  'limit=99999999999999999999999': '/limit',
  'order=ASC': '/order',
  'order=': '/order',
  'order=asc&order=desc': '/order',
  'cursor=1': '/cursor',
  'cursor=': '/cursor',
  'cursor=-0000000000000000001': '/cursor',
  'cursor=00000000000000000001%00': '/cursor',
  'cursor=00000000000000000001&cursor=00000000000000000001': '/cursor',
  "cursor=0000000000000000'--": '/cursor',
  'Limit=1': '/Limit',
  'offset=1': '/offset',
  '__proto__=1': '/__proto__',
  'constructor=1': '/constructor',
  '=1': '/',
  '%': '/%',
};

describe('a request’s path and query', () => {
  let program: Program;
  let client: Client;
  let bearer: string;

  before(async () => {
    program = await startProgram({ dir: freshFolder() });
    client = createClient(program.url);
    ({ bearer } = await arrangeAccount(client, 'acme'));
    for (let n = 0; n < 3; n += 1) await mint(client, 'acme', bearer);
  });
  after(async () => {
    await program.stop();
    removeFolder(program.dir);
  });

  for (const [query, pointer] of Object.entries(badQueries)) {
    it(`are refused by name: ?${query}`, async () => {
      for (const path of lists) {
        const answer = await client('GET', `${path}?${query}`);
        expect(expectInvalid(answer)).to.deep.equal([pointer]);
        expect((answer.body as { errors: { in: string }[] }).errors[0]?.in).to.equal('query');
      }
    });
  }

  it('are answered with an empty page where the cursor lies at or beyond an end', async () => {
    for (const cursor of ['09223372036854775807', '09223372036854775808', '99999999999999999999']) {
      for (const path of lists) {
        const { status, body } = await client('GET', `${path}?limit=2&cursor=${cursor}`);
        expect([status, body], cursor).to.deep.equal([200, []]);
      }
    }
    const { body } = await client('GET', `${lists[3]}?order=desc&cursor=99999999999999999999`);
    expect(body).to.have.length(3);
  });

  it('may name no parameter where there is none', async () => {
    expect(expectInvalid(await client('GET', '/admin/v1/tenants/acme?limit=1'))).to.deep.equal(['/limit']);
    const deletion = await client('DELETE', '/admin/v1/service-accounts/sa_none?credentials=Keep');
    expect(expectInvalid(deletion)).to.deep.equal(['/credentials']);
    const mistyped = await client('DELETE', '/admin/v1/service-accounts/sa_none?credential=keep');
    expect(expectInvalid(mistyped)).to.deep.equal(['/credential']);
  });

  it('name a tenant by its id and by nothing like it', async () => {
    for (const id of [
      'a'.repeat(64),
      'a%20b',
      'a%2Eb',
      'acme%3B',
      '%61cme%7E',
      '%F0%9F%98%80',
      'acme;x',
      "a'",
    ])
      expect(expectInvalid(await client('GET', `/admin/v1/tenants/${id}`)), id).to.deep.equal(['/id']);
    for (const id of ['ACME', 'acme-', 'constructor', '__proto__', 'toString', '-', '_', 'a'.repeat(63)])
      expectProblem(await client('GET', `/admin/v1/tenants/${id}`), 404, 'tenant.unknown');
    expect((await client('GET', '/admin/v1/tenants/%61c%6De')).status).to.equal(200);
  });

  it('name nothing by what only objects have', async () => {
    for (const name of [
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      '~',
      'a b'.replace(' ', '%20'),
    ]) {
      const at = async (path: string, method = 'GET') => client(method, path.replace('*', name));
      expectProblem(await at('/admin/v1/tenants/acme/users/*'), 404, 'user.unknown');
      expectProblem(await at('/admin/v1/tenants/acme/tokens/*', 'DELETE'), 404, 'credential.unknown');
      expectProblem(await at('/admin/v1/service-accounts/*'), 404, 'service-account.unknown');
      expectProblem(await at('/admin/v1/projections/*/rebuild', 'POST'), 404, 'projection.unknown');
      expectProblem(await at('/problems/*'), 404, 'route.unknown');
    }
  });

  it('are case-sensitive, and end where they end', async () => {
    for (const path of [
      '/admin/v1/tenants/',
      '/admin/v1/Tenants',
      '/admin/v1//tenants',
      '/admin/v1/tenants/acme/',
    ])
      expectProblem(await client('GET', path), 404, 'route.unknown');
    for (const path of [
      '/Admin/v1/tenants',
      '/admin/V1/tenants',
      '/healthz/',
      '/%68ealthz',
      '/admin',
      '/Sign-in',
    ])
      expectProblem(await client('GET', path, { token: null }), 404, 'route.unknown');
  });

  const get = async (target: string) =>
    exchange(
      program.port,
      `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`,
    );

  it('are not resolved by the service: dots are names like any other', async () => {
    for (const target of ['/admin/v1/tenants/..', '/admin/v1/tenants/%2e%2e']) {
      const [answer] = await get(target);
      expect(answer === undefined ? [] : expectInvalid(answer)).to.deep.equal(['/id']);
    }
    for (const target of ['/x/../admin/v1/tenants', '/admin/v1/tenants/../tenants', '/./healthz']) {
      const [answer] = await get(target);
      expect(answer?.status, target).to.equal(404);
    }
  });

  it('may be long, and are then refused like short ones', async () => {
    for (const path of [`/${'a'.repeat(12_000)}`, `/admin/v1/tenants${'/a'.repeat(5_000)}`])
      expectProblem(await client('GET', path), 404, 'route.unknown');
    const long = await client('DELETE', `/admin/v1/tenants/acme/tokens/${'%41'.repeat(4_000)}`);
    expect(expectInvalid(long)).to.deep.equal(['/username']);
    const query = await client('GET', `/admin/v1/tenants?${'a=1&'.repeat(3_000)}`);
    expect(expectInvalid(query)).to.deep.equal(['/a']);
  });

  const sent = async (reason: string) =>
    client('DELETE', '/admin/v1/service-accounts/sa_none', { headers: { 'X-Reason': reason } });

  it('carry a reason in UTF-8 of bounded length', async () => {
    expect((await sent('é'.repeat(3))).status, 'Latin-1 is no UTF-8').to.equal(400);
    expect(expectInvalid(await sent('a'.repeat(1_001)))).to.deep.equal(['/X-Reason']);
    expect((await sent(Buffer.from('weil · 😀').toString('latin1'))).status).to.equal(204);
    expect((await sent('a'.repeat(1_000))).status).to.equal(204);
  });

  it('leave the service as it was', () => {
    expect(program.output()).to.not.match(/"level":"(error|fatal)"/);
  });
});
