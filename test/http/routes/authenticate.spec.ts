import { expect } from 'chai';
import { arrangeAccount, mint, type Answer, type Minted } from '../../support/client.ts';
import { freshFolder, removeFolder, verifierToken } from '../../support/program.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { serveInProcess, serving } from '../../support/serving.ts';

const password = 'correct horse battery staple';

const inactive = (answer: Answer): void => {
  expect([answer.status, answer.text]).to.deep.equal([200, '{"active":false}']);
};

describe('the look-up over HTTP', () => {
  const { client } = serving();
  const lookUp = (pair: object, tenant = 'acme', token = verifierToken) =>
    client('POST', `/admin/v1/tenants/${tenant}/authenticate`, { token, body: pair });
  let account: { id: string; bearer: string };
  let credential: Minted;
  before(async () => {
    account = await arrangeAccount(client, 'acme');
    await arrangeAccount(client, 'other');
    credential = await mint(client, 'acme', account.bearer, { role: 'writer', write_schemas: ['public'] });
    const body = { username: 'Alice', password, role: 'admin' };
    await client('POST', '/admin/v1/tenants/acme/users', { body });
  });

  it('tells what a credential is good for', async () => {
    const { status, body } = await lookUp(pairOf(credential));
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      active: true,
      kind: 'credential',
      username: credential.username,
      role: 'writer',
      write_schemas: ['public'],
      expires_at: credential.expires_at,
      service_account_id: account.id,
    });
  });
  it('tells nothing of schemas for a credential that is not scoped', async () => {
    const { body } = await lookUp(pairOf(await mint(client, 'acme', account.bearer)));
    expect(body).to.include({ active: true, role: 'reader' }).and.to.not.have.property('write_schemas');
  });
  it('tells what a user is good for, under the name as it was given', async () => {
    for (const username of ['Alice', 'alice', 'ALICE']) {
      const { body } = await lookUp({ username, password });
      expect(body).to.deep.equal({ active: true, kind: 'user', username: 'Alice', role: 'admin' });
    }
  });
  it('answers the operator as it answers the verifier', async () => {
    const asked = await client('POST', '/admin/v1/tenants/acme/authenticate', { body: pairOf(credential) });
    expect(asked.body).to.deep.equal((await lookUp(pairOf(credential))).body);
  });

  it('answers `{"active":false}`, and nothing more, for whatever does not work', async () => {
    const { username } = credential;
    const other = await mint(client, 'acme', account.bearer);
    const wrong: readonly (readonly [object, string?])[] = [
      [{ username: 'Alice', password: `${password}.` }],
      [{ username: 'Alice', password: '' }],
      [{ username: 'Alice', password: 'x'.repeat(1_024) }],
      [{ username: 'nobody', password }],
      [{ username: '', password }],
      [{ username: 'x'.repeat(128), password }],
      [{ username: 'a/b\u0000', password }],
      [{ username: 'Alice', password }, 'other'],
      [{ username: 'Alice', password }, 'nowhere'],
      [{ username, password: '' }],
      [{ username, password: credential.password.slice(0, -1) }],
      [{ username, password: credential.password.replace('tk_', 'TK_') }],
      [{ username, password: other.password }],
      [{ username: other.username, password: credential.password }],
      [{ username: username.toUpperCase(), password: credential.password }],
      [{ username: 'cred_none', password: credential.password }],
      [{ username: 'Alice', password: credential.password }],
      [{ username, password }],
      [{ username, password: account.bearer }],
      [pairOf(credential), 'other'],
      [pairOf(credential), 'nowhere'],
    ];
    for (const [pair, tenant] of wrong) inactive(await lookUp(pair, tenant));
  });
  it('takes nothing that was ended: user, credential, account, tenant', async () => {
    const users = '/admin/v1/tenants/ending/users';
    const first = await arrangeAccount(client, 'ending');
    const second = await arrangeAccount(client, 'ending');
    await client('POST', users, { body: { username: 'bob', password } });
    await client('POST', users, { body: { username: 'carol', password } });
    const [revoked, deleted, left] = [
      await mint(client, 'ending', first.bearer),
      await mint(client, 'ending', first.bearer),
      await mint(client, 'ending', second.bearer),
    ];
    const ends: readonly (readonly [string, object])[] = [
      [`${users}/bob`, { username: 'bob', password }],
      [`/admin/v1/tenants/ending/tokens/${revoked.username}`, pairOf(revoked)],
      [`/admin/v1/service-accounts/${first.id}`, pairOf(deleted)],
    ];
    for (const [path, pair] of ends) {
      expect((await lookUp(pair, 'ending')).body.active).to.equal(true);
      expect((await client('DELETE', path)).status).to.equal(204);
      inactive(await lookUp(pair, 'ending'));
    }
    expect((await client('DELETE', '/admin/v1/tenants/ending')).status).to.equal(204);
    for (const pair of [pairOf(left), { username: 'carol', password }])
      inactive(await lookUp(pair, 'ending'));
    await client('POST', '/admin/v1/tenants', { body: { id: 'ending' } });
    for (const pair of [pairOf(left), { username: 'carol', password }])
      inactive(await lookUp(pair, 'ending'));
  });
  it('takes a credential until the millisecond in which it expires', async () => {
    const dir = freshFolder();
    let nowMs = Date.UTC(2030, 0, 1);
    const service = await serveInProcess(dir, { clock: () => nowMs });
    try {
      const { bearer } = await arrangeAccount(service.client, 'acme');
      const minted = await mint(service.client, 'acme', bearer, { ttl_secs: 1 });
      const active = async () =>
        (await service.client('POST', '/admin/v1/tenants/acme/authenticate', { body: pairOf(minted) })).body;
      nowMs += 999;
      expect(await active()).to.include({ active: true });
      nowMs += 1;
      expect(await active()).to.deep.equal({ active: false });
    } finally {
      await service.stop();
      removeFolder(dir);
    }
  });

  it('refuses a body that is not a username and a password, and never says the password again', async () => {
    const secret = 'a-secret-that-must-not-be-told';
    const bodies: readonly (readonly [object, readonly string[]])[] = [
      [{}, ['/password', '/username']],
      [{ username: 'a' }, ['/password']],
      [{ username: 'a', password: 7 }, ['/password']],
      [{ username: 'a', password: secret, otp: secret }, ['/otp']],
    ];
    for (const [body, pointers] of bodies) {
      const answer = await lookUp(body);
      expect(expectInvalid(answer)).to.deep.equal(pointers);
      expect(answer.text).to.not.include(secret);
    }
  });
  it('answers that nothing is active, whatever an end user typed', async () => {
    for (const body of [
      { username: 'a', password: 'long'.repeat(10_000) },
      { username: 'x'.repeat(10_000), password: 'x' },
      { username: '', password: '' },
      { username: 'a\u0000b', password: '\u0000' },
    ]) {
      const answer = await lookUp(body);
      expect([answer.status, answer.body]).to.deep.equal([200, { active: false }]);
    }
    const elsewhere = await lookUp({ username: 'a', password: 'b' }, 'no.such~tenant');
    expect([elsewhere.status, elsewhere.body]).to.deep.equal([200, { active: false }]);
  });
  it('is not for service accounts', async () => {
    expectProblem(await lookUp(pairOf(credential), 'acme', account.bearer), 403, 'authorization.denied');
  });
});

/** A credential as the data plane sends it. */
const pairOf = ({ username, password: of }: Minted) => ({ username, password: of });
