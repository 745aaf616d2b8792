import { expect } from 'chai';
import { arrangeAccount, isActive, mint } from '../../support/client.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { serving } from '../../support/serving.ts';

const longest = 'Aa0_-'.repeat(13).slice(0, 63);

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('tenants over HTTP', () => {
  const { client } = serving();
  const create = (id: unknown) => client('POST', '/admin/v1/tenants', { body: { id } });
  const remove = (id: string) => client('DELETE', `/admin/v1/tenants/${id}`);

  it('creates a tenant, and says where it is', async () => {
    const { status, headers, body } = await create('acme');
    expect(status).to.equal(201);
    expect(body).to.have.all.keys('id', 'created_at').and.to.include({ id: 'acme' });
    expect(body.created_at).to.match(instant);
    expect(headers.get('location')).to.equal('/admin/v1/tenants/acme');
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('cache-control')).to.equal('no-store');
    const read = await client('GET', '/admin/v1/tenants/acme');
    expect([read.status, read.body]).to.deep.equal([200, body]);
  });
  it('refuses an id that is taken, and leaves the tenant as it is', async () => {
    const first = await create('taken');
    expectProblem(await create('taken'), 409, 'tenant.exists');
    expect((await client('GET', '/admin/v1/tenants/taken')).body).to.deep.equal(first.body);
  });
  it('takes ids that differ only by case for different tenants', async () => {
    expect((await create('Case')).status).to.equal(201);
    expect((await create('case')).status).to.equal(201);
  });
  for (const id of ['a', '0', '_', '-', '--', longest]) {
    it(`takes the id ${id}`, async () => {
      expect((await create(id)).status).to.equal(201);
      expect((await client('GET', `/admin/v1/tenants/${id}`)).body.id).to.equal(id);
    });
  }
  for (const id of ['', `${longest}a`, 'a b', 'a.b', 'a/b', 'ä', 'a\n', 'a~1', '٣', 7, null, ['a'], {}]) {
    it(`refuses the id ${JSON.stringify(id)}`, async () => {
      expect(expectInvalid(await create(id))).to.deep.equal(['/id']);
    });
  }
  it('names every fault of a body at once', async () => {
    const answer = await client('POST', '/admin/v1/tenants', { body: { id: 'a b', name: 'x', Id: 'y' } });
    expect(expectInvalid(answer)).to.deep.equal(['/Id', '/id', '/name']);
    expect(expectInvalid(await client('POST', '/admin/v1/tenants', { body: {} }))).to.deep.equal(['/id']);
    expect(expectInvalid(await client('POST', '/admin/v1/tenants'))).to.deep.equal(['']);
  });
  it('answers 404 for a tenant that was never there, and 400 for an id that none can have', async () => {
    expectProblem(await client('GET', '/admin/v1/tenants/nobody'), 404, 'tenant.unknown');
    expect(expectInvalid(await client('GET', '/admin/v1/tenants/a.b'))).to.deep.equal(['/id']);
  });
  it('lists the tenants as a plain array, oldest first, with the fields of each', async () => {
    await create('list-b');
    await create('list-a');
    const { status, body } = await client('GET', '/admin/v1/tenants');
    expect(status).to.equal(200);
    const listed = (body as { id: string }[]).filter(({ id }) => id.startsWith('list-'));
    expect(listed.map(({ id }) => id)).to.deep.equal(['list-b', 'list-a']);
    for (const one of listed) expect(one).to.have.all.keys('id', 'created_at');
  });

  describe('when deleted', () => {
    it('answer 204 without a body, as often as it is asked, also where there was never one', async () => {
      await create('gone');
      for (const id of ['gone', 'gone', 'never']) {
        const { status, text } = await remove(id);
        expect([status, text]).to.deep.equal([204, '']);
      }
    });
    it('are neither found nor listed', async () => {
      await create('gone-2');
      await remove('gone-2');
      expectProblem(await client('GET', '/admin/v1/tenants/gone-2'), 404, 'tenant.unknown');
      const { body } = await client('GET', '/admin/v1/tenants');
      expect(body.map(({ id }: { id: string }) => id)).to.not.include('gone-2');
    });
    it('leave nothing behind: what belonged to them is gone or refused', async () => {
      const { id, bearer } = await arrangeAccount(client, 'doomed');
      const credential = await mint(client, 'doomed', bearer);
      const user = { username: 'alice', password: 'correct horse' };
      await client('POST', '/admin/v1/tenants/doomed/users', { body: user });
      expect(await isActive(client, 'doomed', user)).to.equal(true);
      await remove('doomed');
      expect(await isActive(client, 'doomed', credential)).to.equal(false);
      expect(await isActive(client, 'doomed', user)).to.equal(false);
      expectProblem(await client('GET', `/admin/v1/service-accounts/${id}`), 404, 'service-account.unknown');
      const capabilities = await client('GET', '/admin/v1/capabilities', { token: bearer });
      expectProblem(capabilities, 401, 'authentication.invalid');
      for (const what of ['users', 'users/alice', 'tokens'])
        expectProblem(await client('GET', `/admin/v1/tenants/doomed/${what}`), 404, 'tenant.unknown');
      const accounts = (await client('GET', '/admin/v1/service-accounts')).body as { id: string }[];
      expect(accounts.map((account) => account.id)).to.not.include(id);
    });
    it('can be created again under the same id, empty', async () => {
      const { id, bearer } = await arrangeAccount(client, 'again');
      const credential = await mint(client, 'again', bearer);
      const user = { username: 'alice', password: 'correct horse' };
      await client('POST', '/admin/v1/tenants/again/users', { body: user });
      await remove('again');
      expect((await create('again')).status).to.equal(201);
      expect((await client('GET', '/admin/v1/tenants/again/users')).body).to.deep.equal([]);
      expect((await client('GET', '/admin/v1/tenants/again/tokens')).body).to.deep.equal([]);
      expect(await isActive(client, 'again', credential)).to.equal(false);
      expect(await isActive(client, 'again', user)).to.equal(false);
      const revoked = await client('DELETE', `/admin/v1/tenants/again/tokens/${credential.username}`);
      expectProblem(revoked, 404, 'credential.unknown');
      const rotated = await client('POST', `/admin/v1/service-accounts/${id}/rotate`);
      expectProblem(rotated, 404, 'service-account.unknown');
      const minted = await client('POST', '/admin/v1/tenants/again/tokens', {
        token: bearer,
        body: { subject: 'x', role: 'reader', ttl_secs: 60 },
      });
      expectProblem(minted, 401, 'authentication.invalid');
    });
  });
});
