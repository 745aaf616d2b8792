import { expect } from 'chai';
import { arrangeAccount, isActive, mint } from '../../support/client.ts';
import { freshFolder, removeFolder } from '../../support/program.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { serveInProcess, serving } from '../../support/serving.ts';

const usual = { subject: 'ci', role: 'reader', ttl_secs: 60 };

const path = '/admin/v1/tenants/acme/tokens';

type Account = { readonly id: string; readonly bearer: string };

describe('credentials over HTTP', () => {
  const { client } = serving();
  let own: Account;
  let sibling: Account;
  let stranger: Account;
  before(async () => {
    own = await arrangeAccount(client, 'acme');
    sibling = await arrangeAccount(client, 'acme', { max_role: 'writer', max_ttl_secs: 600 });
    stranger = await arrangeAccount(client, 'other');
  });
  const ask = (body: object, token: string = own.bearer) =>
    client('POST', path, { token, body: { ...usual, ...body } });

  const revoke = (username: string, token?: string, tenant = 'acme') =>
    client('DELETE', `/admin/v1/tenants/${tenant}/tokens/${username}`, token === undefined ? {} : { token });
  const list = async (token?: string, query = '') => {
    const { status, body, text } = await client(
      'GET',
      `/admin/v1/tenants/listing/tokens${query}`,
      token === undefined ? {} : { token },
    );
    expect(status).to.equal(200);
    expect(text)
      .to.not.match(/password|digest/)
      .and.to.not.include('tk_');
    return body as { username: string; status: string }[];
  };

  it('mints a credential with everything a client needs', async () => {
    const before = Date.now();
    const { status, body, headers } = await ask({});
    expect(status).to.equal(201);
    expect(body).to.have.all.keys(
      'username',
      'password',
      'tenant',
      'role',
      'expires_at',
      'service_account_id',
    );
    expect(body).to.include({ tenant: 'acme', role: 'reader', service_account_id: own.id });
    expect(body.username).to.match(/^cred_[0-9a-f]{32}$/);
    expect(body.password).to.match(/^tk_[0-9A-Za-z]{49}$/);
    expect(new Date(body.expires_at).toISOString()).to.equal(body.expires_at);
    expect(Date.parse(body.expires_at)).to.be.within(before + 60_000, Date.now() + 60_001);
    expect(headers.get('cache-control')).to.equal('no-store');
  });
  it('mints a scoped writer, and answers its schemas', async () => {
    const write_schemas = ['public', '_x$1', 'A'.repeat(63)];
    const { status, body } = await ask({ role: 'writer', write_schemas });
    expect(status).to.equal(201);
    expect(body.write_schemas).to.deep.equal(write_schemas);
  });
  it('answers one as it is listed, to the operator and to the account that minted it', async () => {
    const { username } = await mint(client, 'acme', own.bearer);
    const one = await client('GET', `${path}/${username}`);
    expect(one.status).to.equal(200);
    expect(one.text).to.not.match(/password|digest|tk_/);
    const all = (await client('GET', path)).body as readonly { username: string }[];
    expect(one.body).to.deep.equal(all.find((listed) => listed.username === username));
    expect((await client('GET', `${path}/${username}`, { token: own.bearer })).body).to.deep.equal(one.body);
    await revoke(username);
    expect((await client('GET', `${path}/${username}`)).body).to.include({ username, status: 'revoked' });
    expectProblem(await client('GET', `${path}/cred_none`), 404, 'credential.unknown');
    expectProblem(
      await client('GET', `/admin/v1/tenants/other/tokens/${username}`),
      404,
      'credential.unknown',
    );
    expectProblem(await client('GET', `/admin/v1/tenants/nowhere/tokens/${username}`), 404, 'tenant.unknown');
  });
  it('mints another username and password each time', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => mint(client, 'acme', own.bearer)));
    expect(new Set(all.map(({ username }) => username)).size).to.equal(20);
    expect(new Set(all.map((one) => one.password)).size).to.equal(20);
  });
  it('takes the bounds of every field', async () => {
    const schemas = Array.from({ length: 64 }, (_, n) => `s${n}`);
    const bounds: readonly object[] = [
      { subject: 'x' },
      { subject: 'ä'.repeat(256) },
      { subject: '\u{1F916}'.repeat(256) },
      { ttl_secs: 1 },
      { ttl_secs: 86_400 },
      { role: 'admin' },
      { role: 'writer', write_schemas: schemas },
    ];
    for (const bound of bounds) expect((await ask(bound)).status, JSON.stringify(bound)).to.equal(201);
  });
  const beyond: readonly (readonly [object, string])[] = [
    [{ subject: '' }, '/subject'],
    [{ subject: 'x'.repeat(257) }, '/subject'],
    [{ subject: 'a\nb' }, '/subject'],
    [{ role: 'owner' }, '/role'],
    [{ role: undefined }, '/role'],
    [{ ttl_secs: 0 }, '/ttl_secs'],
    [{ ttl_secs: 86_401 }, '/ttl_secs'],
    [{ ttl_secs: 1.5 }, '/ttl_secs'],
    [{ ttl_secs: undefined }, '/ttl_secs'],
    [{ role: 'writer', write_schemas: [] }, '/write_schemas'],
    [{ role: 'writer', write_schemas: Array.from({ length: 65 }, (_, n) => `s${n}`) }, '/write_schemas'],
    [{ role: 'writer', write_schemas: ['a', 'a'] }, '/write_schemas'],
    [{ role: 'writer', write_schemas: ['a', '1b'] }, '/write_schemas/1'],
    [{ role: 'writer', write_schemas: ['a-b'] }, '/write_schemas/0'],
    [{ role: 'writer', write_schemas: ['a'.repeat(64)] }, '/write_schemas/0'],
    [{ role: 'writer', write_schemas: 'a' }, '/write_schemas'],
    [{ role: 'writer', write_schemas: null }, '/write_schemas'],
    [{ role: 'reader', write_schemas: ['a'] }, '/write_schemas'],
    [{ role: 'admin', write_schemas: ['a'] }, '/write_schemas'],
    [{ role: 'writer', write_schema: ['a'] }, '/write_schema'],
  ];
  for (const [body, pointer] of beyond) {
    it(`mints nothing for ${JSON.stringify(body).slice(0, 50)}`, async () => {
      expect(expectInvalid(await ask(body))).to.deep.equal([pointer]);
    });
  }
  it('mints nothing above the role or the life that the account may give', async () => {
    expectProblem(await ask({ role: 'admin' }, sibling.bearer), 403, 'credential.role-above-max');
    expectProblem(await ask({ ttl_secs: 601 }, sibling.bearer), 400, 'credential.ttl-above-max');
    expect((await ask({ role: 'writer', ttl_secs: 600 }, sibling.bearer)).status).to.equal(201);
  });
  it('mints nothing for the operator, nor for another tenant, whether that exists or not', async () => {
    expectProblem(await client('POST', path, { body: usual }), 403, 'authorization.denied');
    expectProblem(await ask({}, stranger.bearer), 403, 'authorization.denied');
    const nowhere = await client('POST', '/admin/v1/tenants/nowhere/tokens', {
      token: own.bearer,
      body: usual,
    });
    expectProblem(nowhere, 403, 'authorization.denied');
  });

  describe('when revoked', () => {
    it('work no more, and answer 204 without a body as often as it is asked', async () => {
      for (const token of [undefined, own.bearer]) {
        const credential = await mint(client, 'acme', own.bearer);
        expect(await isActive(client, 'acme', credential)).to.equal(true);
        for (let times = 0; times < 2; times += 1) {
          const { status, text } = await revoke(credential.username, token);
          expect([status, text]).to.deep.equal([204, '']);
          expect(await isActive(client, 'acme', credential)).to.equal(false);
        }
      }
    });
    it('are refused to another account, and go on working', async () => {
      const credential = await mint(client, 'acme', own.bearer);
      const answer = await revoke(credential.username, sibling.bearer);
      expectProblem(answer, 403, 'credential.not-yours');
      expectProblem(await revoke(credential.username, stranger.bearer), 403, 'authorization.denied');
      expect(await isActive(client, 'acme', credential)).to.equal(true);
    });
    it('are unknown where they were never minted, in another tenant too', async () => {
      const { username } = await mint(client, 'acme', own.bearer);
      expectProblem(await revoke('cred_none'), 404, 'credential.unknown');
      expectProblem(await revoke('cred_none', own.bearer), 404, 'credential.unknown');
      expectProblem(await revoke(username, undefined, 'other'), 404, 'credential.unknown');
      expectProblem(await revoke(username, undefined, 'nowhere'), 404, 'tenant.unknown');
      expectProblem(await revoke(username, own.bearer, 'other'), 403, 'authorization.denied');
      expectProblem(await revoke(username, own.bearer, 'nowhere'), 403, 'authorization.denied');
    });
  });

  describe('when listed', () => {
    it('are all of the tenant’s for the operator and an account’s own for itself, with who has them', async () => {
      const [first, second] = [
        await arrangeAccount(client, 'listing'),
        await arrangeAccount(client, 'listing'),
      ];
      const wishes = [
        { of: first, wish: { subject: 'a' } },
        { of: second, wish: { subject: 'b', role: 'writer', write_schemas: ['s'] } },
        { of: first, wish: { subject: 'c', role: 'admin' } },
      ];
      const expected: Record<string, unknown>[] = [];
      for (const { of, wish } of wishes) {
        const { password: _, ...minted } = (await mint(client, 'listing', of.bearer, wish)) as unknown as {
          password: string;
        };
        expected.push({ ...minted, subject: wish.subject, status: 'active' });
      }
      const all = (await list()) as unknown as { minted_at: string }[];
      expect(all).to.deep.equal(expected.map((one, at) => ({ ...one, minted_at: all[at]?.minted_at })));
      for (const { minted_at } of all) expect(new Date(minted_at).toISOString()).to.equal(minted_at);
      expect(await list(first.bearer)).to.deep.equal([all[0], all[2]]);
      expect(await list(second.bearer)).to.deep.equal([all[1]]);
      expect(await list(undefined, '?order=desc')).to.deep.equal(all.toReversed());
      expect(await list(first.bearer, '?order=desc')).to.deep.equal([all[2], all[0]]);
    });
    it('are not told to another tenant’s account, nor for a tenant that is not there', async () => {
      for (const tenant of ['acme', 'nowhere']) {
        const answer = await client('GET', `/admin/v1/tenants/${tenant}/tokens`, { token: stranger.bearer });
        expectProblem(answer, 403, 'authorization.denied');
      }
      expectProblem(await client('GET', '/admin/v1/tenants/nowhere/tokens'), 404, 'tenant.unknown');
    });
  });
});

describe('the status of a listed credential', () => {
  it('is active, expired or revoked, and a revoked one never becomes expired', async () => {
    const dir = freshFolder();
    const startMs = Date.UTC(2030, 0, 1);
    let nowMs = startMs;
    const { client, stop } = await serveInProcess(dir, { clock: () => nowMs });
    try {
      const { id, bearer } = await arrangeAccount(client, 'acme');
      const kept = await arrangeAccount(client, 'acme');
      const [short, long, revoked] = await Promise.all(
        [60, 120, 60].map((ttl_secs) => mint(client, 'acme', bearer, { ttl_secs })),
      );
      const left = await mint(client, 'acme', kept.bearer, { ttl_secs: 120 });
      await client('DELETE', `${path}/${revoked?.username}`);
      await client('DELETE', `/admin/v1/service-accounts/${kept.id}?credentials=keep`);
      const statuses = async () => {
        const { body } = await client('GET', path);
        const by = new Map(
          (body as { username: string; status: string }[]).map((one) => [one.username, one]),
        );
        return [short, long, revoked, left].map((one) => by.get(one?.username ?? '')?.status);
      };
      nowMs = startMs + 59_999;
      expect(await statuses()).to.deep.equal(['active', 'active', 'revoked', 'active']);
      nowMs = startMs + 60_000;
      expect(await statuses()).to.deep.equal(['expired', 'active', 'revoked', 'active']);
      await client('DELETE', `/admin/v1/service-accounts/${id}`);
      expect(await statuses()).to.deep.equal(['expired', 'revoked', 'revoked', 'active']);
      nowMs = startMs + 120_000;
      expect(await statuses()).to.deep.equal(['expired', 'revoked', 'revoked', 'expired']);
    } finally {
      await stop();
      removeFolder(dir);
    }
  });
});
