import { expect } from 'chai';
import { arrangeAccount, isActive, mint } from '../../support/client.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { serving } from '../../support/serving.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const password = 'correct horse battery staple';

describe('users over HTTP', () => {
  const { client } = serving();
  const path = '/admin/v1/tenants/acme/users';
  const create = (body: object, at = path) => client('POST', at, { body: { password, ...body } });
  before(() => client('POST', '/admin/v1/tenants', { body: { id: 'acme' } }));

  it('creates a user, says where it is, and never answers the password', async () => {
    const { status, headers, body, text } = await create({ username: 'Alice@example.com', role: 'writer' });
    expect(status).to.equal(201);
    expect(body).to.have.all.keys('id', 'tenant_id', 'username', 'role', 'created_at');
    expect(body).to.include({ tenant_id: 'acme', username: 'Alice@example.com', role: 'writer' });
    expect(body.id).to.match(uuid);
    expect(new Date(body.created_at).toISOString()).to.equal(body.created_at);
    expect(text).to.not.include(password);
    const read = await client('GET', headers.get('location') ?? '');
    expect([read.status, read.body]).to.deep.equal([200, body]);
  });
  for (const role of ['reader', 'writer', 'admin']) {
    it(`creates a ${role}`, async () => {
      expect((await create({ username: `a-${role}`, role })).body.role).to.equal(role);
    });
  }
  it('creates a reader where no role is named', async () => {
    expect((await create({ username: 'roleless' })).body.role).to.equal('reader');
  });
  for (const role of ['owner', 'Reader', '', null, 1]) {
    it(`refuses the role ${JSON.stringify(role)}`, async () => {
      expect(expectInvalid(await create({ username: 'bad-role', role }))).to.deep.equal(['/role']);
    });
  }
  it('refuses a name that is taken in whatever case, and the name is kept as given', async () => {
    expect((await create({ username: 'Bob' })).body.username).to.equal('Bob');
    for (const username of ['Bob', 'bob', 'BOB'])
      expectProblem(await create({ username }), 409, 'user.exists');
    expect((await client('GET', `${path}/bOB`)).body.username).to.equal('Bob');
  });
  for (const username of ['a', '_', '...', '@', '+', '-', 'x'.repeat(63), 'cred', 'a.cred_b']) {
    it(`takes the name ${username}`, async () => {
      expect((await create({ username })).status).to.equal(201);
      const at = `${path}/${encodeURIComponent(username)}`;
      expect((await client('GET', at)).body.username).to.equal(username);
    });
  }
  for (const username of [
    '',
    // Clients read these in a path as folders, and `DELETE …/users/..` as a request for the tenant.
    '.',
    '..',
    'x'.repeat(64),
    'a b',
    'a/b',
    'ä',
    'a\n',
    'cred_x',
    'Cred_x',
    'CRED_',
    1,
    null,
  ]) {
    it(`refuses the name ${JSON.stringify(username)}`, async () => {
      expect(expectInvalid(await create({ username }))).to.deep.equal(['/username']);
    });
  }
  it('takes passwords of 8 to 1,024 bytes of UTF-8, and no others', async () => {
    const passwords = { a8: 'x'.repeat(8), a1024: 'x'.repeat(1_024), b8: '\u{1F600}\u{1F600}', c8: 'äöüß' };
    for (const [username, of] of Object.entries(passwords)) {
      expect((await create({ username, password: of })).status, username).to.equal(201);
      expect(await isActive(client, 'acme', { username, password: of }), username).to.equal(true);
    }
    for (const of of ['', 'x'.repeat(7), 'x'.repeat(1_025), 'ä'.repeat(513), 'äöü', 12_345_678, null]) {
      const answer = await create({ username: 'bad-password', password: of });
      expect(expectInvalid(answer)).to.deep.equal(['/password']);
      if (typeof of === 'string' && of !== '') expect(answer.text).to.not.include(of);
    }
  });
  it('names every fault of a body at once', async () => {
    const body = { username: 'a b', password: 'short', role: 'owner', roles: [] };
    expect(expectInvalid(await client('POST', path, { body }))).to.deep.equal([
      '/password',
      '/role',
      '/roles',
      '/username',
    ]);
  });
  it('answers 404 for users of a tenant that is not there', async () => {
    const at = '/admin/v1/tenants/nowhere/users';
    expectProblem(await create({ username: 'x' }, at), 404, 'tenant.unknown');
    expectProblem(await client('GET', at), 404, 'tenant.unknown');
    expectProblem(await client('GET', `${at}/x`), 404, 'tenant.unknown');
    expectProblem(await client('DELETE', `${at}/x`), 404, 'tenant.unknown');
  });
  it('answers 404 for a user that is not there', async () => {
    expectProblem(await client('GET', `${path}/nobody`), 404, 'user.unknown');
    expectProblem(await client('DELETE', `${path}/nobody`), 404, 'user.unknown');
  });

  it('lists the users of the tenant, oldest first, without minted credentials and without passwords', async () => {
    const { bearer } = await arrangeAccount(client, 'listing');
    await client('POST', '/admin/v1/tenants', { body: { id: 'listing-2' } });
    await mint(client, 'listing', bearer);
    const at = '/admin/v1/tenants/listing/users';
    const created = [];
    for (const username of ['zoe', 'Adam', 'mia']) created.push((await create({ username }, at)).body);
    await create({ username: 'other' }, '/admin/v1/tenants/listing-2/users');
    const { status, body, text } = await client('GET', at);
    expect(status).to.equal(200);
    expect(body).to.deep.equal(created);
    expect(text).to.not.match(/password|argon2|hash/i);
    const newestFirst = await client('GET', `${at}?order=desc`);
    expect(newestFirst.body).to.deep.equal(created.toReversed());
  });
  it('lists no user of a tenant without one', async () => {
    await client('POST', '/admin/v1/tenants', { body: { id: 'empty' } });
    expect((await client('GET', '/admin/v1/tenants/empty/users')).body).to.deep.equal([]);
  });

  it('deletes a user once, in whatever case, and it can sign in no more', async () => {
    await create({ username: 'Carol' });
    expect(await isActive(client, 'acme', { username: 'carol', password })).to.equal(true);
    const { status, text } = await client('DELETE', `${path}/CAROL`);
    expect([status, text]).to.deep.equal([204, '']);
    expect(await isActive(client, 'acme', { username: 'carol', password })).to.equal(false);
    expectProblem(await client('DELETE', `${path}/Carol`), 404, 'user.unknown');
    expectProblem(await client('GET', `${path}/Carol`), 404, 'user.unknown');
    const { body } = await client('GET', path);
    expect(body.map(({ username }: { username: string }) => username)).to.not.include('Carol');
  });
  it('makes another user under a name that was deleted, with its own password alone', async () => {
    const first = await create({ username: 'dave', role: 'admin' });
    await client('DELETE', `${path}/dave`);
    const second = await create({ username: 'dave', password: 'another password' });
    expect(second.status).to.equal(201);
    expect(second.body.id).to.not.equal(first.body.id);
    expect(second.body.role).to.equal('reader');
    expect(await isActive(client, 'acme', { username: 'dave', password })).to.equal(false);
    expect(await isActive(client, 'acme', { username: 'dave', password: 'another password' })).to.equal(true);
  });
  it('lets the same name live in two tenants, each with its own password', async () => {
    await client('POST', '/admin/v1/tenants', { body: { id: 'other' } });
    await create({ username: 'eve', password: 'password of acme' });
    await create({ username: 'eve', password: 'password of other' }, '/admin/v1/tenants/other/users');
    expect(await isActive(client, 'other', { username: 'eve', password: 'password of acme' })).to.equal(
      false,
    );
    expect(await isActive(client, 'other', { username: 'eve', password: 'password of other' })).to.equal(
      true,
    );
  });
});
