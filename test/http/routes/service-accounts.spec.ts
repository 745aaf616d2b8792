import { expect } from 'chai';
import { arrangeAccount, isActive, mint } from '../../support/client.ts';
import { freshFolder, removeFolder } from '../../support/program.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { serveInProcess, serving, type InProcess } from '../../support/serving.ts';

const path = '/admin/v1/service-accounts';

const fields = ['id', 'name', 'tenant_id', 'max_role', 'max_ttl_secs', 'created_at'];

const usual = { name: 'robot', tenant_id: 'acme', max_role: 'writer', max_ttl_secs: 3_600 };

describe('service accounts over HTTP', () => {
  const { client } = serving();
  const create = (body: object = {}) => client('POST', path, { body: { ...usual, ...body } });
  const rotate = (id: string, body?: unknown) => client('POST', `${path}/${id}/rotate`, { body });
  const remove = (id: string, query = '') => client('DELETE', `${path}/${id}${query}`);
  /** The status that a bearer is answered with where any works. */
  const works = async (bearer: string): Promise<boolean> => {
    const answer = await client('GET', '/admin/v1/capabilities', { token: bearer });
    if (answer.status !== 200) expectProblem(answer, 401, 'authentication.invalid');
    return answer.status === 200;
  };
  before(() => client('POST', '/admin/v1/tenants', { body: { id: 'acme' } }));

  it('creates an account, says where it is, and answers its bearer', async () => {
    const { status, headers, body } = await create();
    expect(status).to.equal(201);
    const { bearer, ...account } = body;
    expect(account).to.have.all.keys(fields).and.to.include(usual);
    expect(account.id).to.match(/^sa_[0-9a-f]{32}$/);
    expect(bearer).to.match(/^sab_[0-9A-Za-z]{49}$/);
    expect(new Date(account.created_at).toISOString()).to.equal(account.created_at);
    expect(headers.get('location')).to.equal(`${path}/${account.id}`);
    const read = await client('GET', `${path}/${account.id}`);
    expect([read.status, read.body]).to.deep.equal([200, account]);
    expect(await works(bearer)).to.equal(true);
  });
  it('takes the same name for any number of accounts', async () => {
    const [first, second] = [await create(), await create()];
    expect(first.body.id).to.not.equal(second.body.id);
    expect(first.body.bearer).to.not.equal(second.body.bearer);
  });
  it('takes the bounds of every field', async () => {
    const bounds = [
      { name: 'x' },
      { name: 'x'.repeat(128) },
      { name: '\u{1F916}'.repeat(128) },
      { name: 'a b/ä"\\' },
      { max_ttl_secs: 1 },
      { max_ttl_secs: 86_400 },
      ...['reader', 'writer', 'admin'].map((max_role) => ({ max_role })),
    ];
    for (const bound of bounds) {
      const { status, body } = await create(bound);
      expect(status, JSON.stringify(bound)).to.equal(201);
      expect(body).to.include(bound);
    }
  });
  const beyond: Readonly<Record<string, readonly unknown[]>> = {
    name: ['', 'x'.repeat(129), 'a\nb', '\u0000', 7, null],
    tenant_id: ['', 'a b', 'x'.repeat(64), null],
    max_role: ['owner', 'Writer', '', null],
    max_ttl_secs: [0, -1, 86_401, 1.5, '60', null],
  };
  for (const [field, values] of Object.entries(beyond)) {
    for (const value of values) {
      it(`refuses the ${field} ${JSON.stringify(value).slice(0, 20)}`, async () => {
        expect(expectInvalid(await create({ [field]: value }))).to.deep.equal([`/${field}`]);
      });
    }
  }
  it('names every fault of a body at once', async () => {
    const answer = await client('POST', path, { body: { name: '', max_tll_secs: 1 } });
    expect(expectInvalid(answer)).to.deep.equal([
      '/max_role',
      '/max_tll_secs',
      '/max_ttl_secs',
      '/name',
      '/tenant_id',
    ]);
  });
  it('answers 404 for the account of a tenant that is not there', async () => {
    expectProblem(await create({ tenant_id: 'nowhere' }), 404, 'tenant.unknown');
  });
  it('answers 404 for an account that is not there', async () => {
    expectProblem(await client('GET', `${path}/sa_none`), 404, 'service-account.unknown');
    expectProblem(await client('POST', `${path}/sa_none/rotate`), 404, 'service-account.unknown');
  });
  it('lists the accounts of every tenant, oldest first, never with a bearer', async () => {
    await client('POST', '/admin/v1/tenants', { body: { id: 'other' } });
    const { bearer: first, ...one } = (await create({ name: 'list-1' })).body;
    const { bearer: second, ...two } = (await create({ name: 'list-2', tenant_id: 'other' })).body;
    const { status, body, text } = await client('GET', path);
    expect(status).to.equal(200);
    const listed = (body as { name: string }[]).filter(({ name }) => name.startsWith('list-'));
    expect(listed).to.deep.equal([one, two]);
    expect(text).to.not.include('bearer').and.to.not.include(first).and.to.not.include(second);
  });
  it('lists the accounts of one tenant where it is named, and of none where there is none', async () => {
    await client('POST', '/admin/v1/tenants', { body: { id: 'lonely' } });
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three'])
      ids.push((await create({ name, tenant_id: 'lonely' })).body.id);
    const listed = async (query: string) => {
      const { body, headers } = await client('GET', `${path}?${query}`);
      return { ids: (body as { id: string }[]).map(({ id }) => id), link: headers.get('link') };
    };
    expect((await listed('tenant_id=lonely')).ids).to.deep.equal(ids);
    const { ids: page, link } = await listed('tenant_id=lonely&limit=2&order=desc');
    expect(page).to.deep.equal([ids[2], ids[1]]);
    expect(link).to.match(/tenant_id=lonely/);
    expect((await listed('tenant_id=nowhere')).ids).to.deep.equal([]);
    await client('DELETE', '/admin/v1/tenants/lonely');
    expect((await listed('tenant_id=lonely')).ids).to.deep.equal([]);
  });

  describe('when rotated', () => {
    it('have a new bearer, and the old one works no more', async () => {
      const { bearer, ...account } = (await create()).body;
      for (const body of [undefined, {}, { grace_secs: 0 }]) {
        const before = (await rotate(account.id)).body.bearer;
        const { status, body: rotated } = await rotate(account.id, body);
        expect(status).to.equal(200);
        expect(rotated).to.deep.equal({ ...account, bearer: rotated.bearer });
        expect(await works(rotated.bearer)).to.equal(true);
        expect(await works(before)).to.equal(false);
        expect(await works(bearer)).to.equal(false);
      }
    });
    it('keep the old bearer working where grace is given', async () => {
      const { id, bearer } = (await create()).body;
      const rotated = (await rotate(id, { grace_secs: 86_400 })).body;
      expect([await works(bearer), await works(rotated.bearer)]).to.deep.equal([true, true]);
      await rotate(id);
      expect([await works(bearer), await works(rotated.bearer)]).to.deep.equal([false, false]);
    });
    it('keep what they minted', async () => {
      const { id, bearer } = (await create()).body;
      const credential = await mint(client, 'acme', bearer);
      await rotate(id);
      expect(await isActive(client, 'acme', credential)).to.equal(true);
    });
    for (const grace_secs of [-1, 86_401, 1.5, '60', null]) {
      it(`refuse the grace ${JSON.stringify(grace_secs)}, and the bearer stays`, async () => {
        const { id, bearer } = (await create()).body;
        expect(expectInvalid(await rotate(id, { grace_secs }))).to.deep.equal(['/grace_secs']);
        expect(expectInvalid(await rotate(id, { grace: 1 }))).to.deep.equal(['/grace']);
        expect(await works(bearer)).to.equal(true);
      });
    }
  });

  describe('when deleted', () => {
    it('answer 204 without a body, as often as it is asked, also where there was never one', async () => {
      const { id } = (await create()).body;
      for (const of of [id, id, 'sa_none']) {
        const { status, text } = await remove(of);
        expect([status, text]).to.deep.equal([204, '']);
      }
    });
    it('are neither found nor listed, and their bearers work no more', async () => {
      const { id, bearer } = (await create()).body;
      const { body } = await client('POST', `${path}/${id}/rotate`, { body: { grace_secs: 60 } });
      await remove(id);
      expect([await works(bearer), await works(body.bearer)]).to.deep.equal([false, false]);
      expectProblem(await client('GET', `${path}/${id}`), 404, 'service-account.unknown');
      expectProblem(await client('POST', `${path}/${id}/rotate`), 404, 'service-account.unknown');
      expect((await client('GET', path)).text).to.not.include(id);
    });
    for (const query of ['', '?credentials=revoke']) {
      it(`take with them what they minted (${query || 'unless told'})`, async () => {
        const { id, bearer } = (await create()).body;
        const credential = await mint(client, 'acme', bearer);
        await remove(id, query);
        expect(await isActive(client, 'acme', credential)).to.equal(false);
      });
    }
    it('leave what they minted where that is asked, and the operator can still revoke it', async () => {
      const { id, bearer } = (await create()).body;
      const credential = await mint(client, 'acme', bearer);
      expect((await remove(id, '?credentials=keep')).status).to.equal(204);
      expect(await works(bearer)).to.equal(false);
      expect(await isActive(client, 'acme', credential)).to.equal(true);
      const at = `/admin/v1/tenants/acme/tokens/${credential.username}`;
      expect((await client('DELETE', at)).status).to.equal(204);
      expect(await isActive(client, 'acme', credential)).to.equal(false);
    });
    it('take with them what an earlier deletion kept, where asked again without keeping it', async () => {
      const { id, bearer } = (await create()).body;
      const credential = await mint(client, 'acme', bearer);
      await remove(id, '?credentials=keep');
      await remove(id, '?credentials=keep');
      expect(await isActive(client, 'acme', credential)).to.equal(true);
      expect((await remove(id)).status).to.equal(204);
      expect(await isActive(client, 'acme', credential)).to.equal(false);
    });
    it('refuse any other wish for what they minted, and stay', async () => {
      const { id, bearer } = (await create()).body;
      for (const query of ['?credentials=kept', '?credentials=', '?credential=keep'])
        expect(expectInvalid(await remove(id, query))).to.have.length(1);
      expect(await works(bearer)).to.equal(true);
    });
    it('let other accounts of the tenant be', async () => {
      const [first, second] = [(await create()).body, (await create()).body];
      const credential = await mint(client, 'acme', second.bearer);
      await remove(first.id);
      expect(await works(second.bearer)).to.equal(true);
      expect(await isActive(client, 'acme', credential)).to.equal(true);
    });
  });
});

describe('the grace of a rotation', () => {
  const startMs = Date.UTC(2030, 0, 1);
  let nowMs = startMs;
  let dir: string;
  let service: InProcess;
  before(async () => {
    dir = freshFolder();
    service = await serveInProcess(dir, { clock: () => nowMs });
  });
  after(async () => {
    await service?.stop();
    removeFolder(dir);
  });

  it('ends in the very millisecond, for the old bearer alone', async () => {
    const { client } = service;
    const { id, bearer } = await arrangeAccount(client, 'acme');
    const { body } = await client('POST', `${path}/${id}/rotate`, { body: { grace_secs: 60 } });
    const statusOf = async (token: string) =>
      (await client('GET', '/admin/v1/capabilities', { token })).status;
    nowMs = startMs + 59_999;
    expect([await statusOf(bearer), await statusOf(body.bearer)]).to.deep.equal([200, 200]);
    nowMs = startMs + 60_000;
    expect([await statusOf(bearer), await statusOf(body.bearer)]).to.deep.equal([401, 200]);
  });
  it('is never lengthened by a later rotation with more of it', async () => {
    const { client } = service;
    const { id, bearer } = await arrangeAccount(client, 'acme-2');
    await client('POST', `${path}/${id}/rotate`, { body: { grace_secs: 60 } });
    await client('POST', `${path}/${id}/rotate`, { body: { grace_secs: 86_400 } });
    nowMs += 60_000;
    expect((await client('GET', '/admin/v1/capabilities', { token: bearer })).status).to.equal(401);
  });
});
