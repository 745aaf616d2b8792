import { expect } from 'chai';
import { arrangeAccount } from '../../support/client.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../../support/program.ts';
import { serving } from '../../support/serving.ts';
import {
  arrangePerson,
  createVisitor,
  operatorAt,
  person,
  signedIn,
  type Page,
  type Visitor,
} from '../../support/web.ts';

/** Wrong tokens from one address that are looked at before it has to wait. */
const freeTries = 5;

/** Rows on one page of a list. */
const pageRows = 50;

const otherToken = 'another-admin-token-0123456789abcdef';

const tokenFrom = (visitor: Visitor, token: string, from?: string): Promise<Page> =>
  visitor.post('/console/sign-in', { token }, from === undefined ? {} : { from });

/** What a form says is wrong with one of its fields. */
const faultOf = ({ text }: Page, field: string): string | undefined =>
  new RegExp(`id="${field}-error"><span class="sr">Error: </span>([^<]*)<`).exec(text)?.[1];

/** Every page of the console and every form, of a tenant with a user, an account, a credential and a key. */
const pagesOf = (tenant: string, account: string, event: string) => {
  const one = `/console/tenants/${tenant}`;
  const accounts = `/console/service-accounts`;
  return {
    shown: [
      '/console',
      accounts,
      `${accounts}/new`,
      `${accounts}/${account}`,
      `${accounts}/${account}/rotate`,
      `${accounts}/${account}/delete`,
      one,
      '/console/events',
      '/console/checkpoints',
      `/console/events/${event}`,
      ...[
        'users',
        'users/new',
        'service-accounts',
        'credentials',
        'api-keys',
        'access',
        'activity',
        'delete',
      ].map((page) => `${one}/${page}`),
      `${one}/users/alice/delete`,
    ],
    sent: [
      ['/console/tenants', { id: 'by-a-stranger' }],
      [accounts, { name: 'x', tenant_id: tenant, max_role: 'reader', max_ttl_secs: '60' }],
      [`${accounts}/${account}/rotate`, { grace_secs: '0' }],
      [`${accounts}/${account}/delete`, { credentials: 'revoke' }],
      [`${one}/users`, { username: 'mallory', password: 'correct horse', role: 'admin' }],
      [`${one}/users/alice/delete`, {}],
      [`${one}/delete`, { id: tenant }],
    ] as const,
  };
};

describe('the operator console', () => {
  const { client, program } = serving();
  const url = (): string => program().url;
  let operator: Visitor;
  let account: { readonly id: string; readonly bearer: string };
  let event: string;
  before(async () => {
    await arrangePerson(client, person('acme'));
    account = await arrangeAccount(client, 'acme');
    operator = await operatorAt(url);
    const { body } = await client('GET', '/admin/v1/events?limit=1');
    [{ position: event } = { position: '' }] = body as readonly { readonly position: string }[];
  });

  /** All that there is, as the API lists it. */
  const contents = async (): Promise<readonly string[]> =>
    Promise.all(
      ['tenants', 'service-accounts', 'tenants/acme/users', 'tenants/acme/activity'].map(
        async (list) => (await client('GET', `/admin/v1/${list}`)).text,
      ),
    );

  it('shows every page to the operator', async () => {
    for (const path of pagesOf('acme', account.id, event).shown) {
      const { status, text } = await operator.get(path);
      expect(status, `${path} ${text}`).to.equal(200);
    }
  });

  it('shows nothing and does nothing for anybody else, nor for a user of a workspace', async () => {
    const before = await contents();
    const user = await signedIn(url, person('acme'));
    const signInOfUser = await contents();
    for (const visitor of [createVisitor(url), user]) {
      const { shown, sent } = pagesOf('acme', account.id, event);
      for (const path of shown) {
        const { status, location } = await visitor.get(path);
        expect([status, location], path).to.deep.equal([
          303,
          `/console/sign-in?next=${encodeURIComponent(path)}`,
        ]);
      }
      for (const [path, form] of sent) {
        const { status, location } = await visitor.post(path, form);
        expect([status, location], path).to.deep.equal([303, '/console/sign-in']);
      }
    }
    expect(await contents()).to.deep.equal(signInOfUser);
    expect(before.slice(0, 3)).to.deep.equal(signInOfUser.slice(0, 3));
  });

  it('does nothing for a form that another site sent', async () => {
    const before = await contents();
    for (const [path, form] of pagesOf('acme', account.id, event).sent) {
      const { status } = await operator.post(path, form, { headers: { 'Sec-Fetch-Site': 'cross-site' } });
      expect(status, path).to.equal(403);
    }
    expect(await contents()).to.deep.equal(before);
  });

  it('says at the field what is wrong with it, and does nothing', async () => {
    const before = await contents();
    const users = '/console/tenants/acme/users';
    const accounts = '/console/service-accounts';
    const user = { username: 'bob', password: 'correct horse', role: 'reader' };
    const wish = { name: 'x', tenant_id: 'acme', max_role: 'reader', max_ttl_secs: '60' };
    const wrong = [
      [400, '/console/tenants', { id: 'a b' }, 'id'],
      [400, '/console/tenants', {}, 'id'],
      [409, '/console/tenants', { id: 'acme' }, 'id'],
      [400, users, { ...user, username: 'a b' }, 'username'],
      [409, users, { ...user, username: 'ALICE' }, 'username'],
      [400, users, { ...user, password: 'short' }, 'password'],
      [400, users, { ...user, role: 'king' }, 'role'],
      [400, accounts, { ...wish, name: ' ' }, 'name'],
      [404, accounts, { ...wish, tenant_id: 'nowhere' }, 'tenant_id'],
      [400, accounts, { ...wish, max_role: 'king' }, 'max_role'],
      [400, accounts, { ...wish, max_ttl_secs: '86401' }, 'max_ttl_secs'],
      [400, accounts, { ...wish, max_ttl_secs: 'an hour' }, 'max_ttl_secs'],
      [400, accounts, { ...wish, max_ttl_secs: '' }, 'max_ttl_secs'],
      [400, `${accounts}/${account.id}/rotate`, { grace_secs: '86401' }, 'grace_secs'],
      [400, `${accounts}/${account.id}/rotate`, {}, 'grace_secs'],
      [400, `${accounts}/${account.id}/delete`, { credentials: 'perhaps' }, 'credentials'],
      [400, `${accounts}/${account.id}/delete`, {}, 'credentials'],
      [400, '/console/tenants/acme/delete', { id: 'acm' }, 'id'],
      [400, '/console/tenants/acme/delete', {}, 'id'],
    ] as const;
    for (const [status, path, form, field] of wrong) {
      const page = await operator.post(path, form);
      const what = `${path} ${JSON.stringify(form)}`;
      expect(page.status, what).to.equal(status);
      expect(faultOf(page, field), what).to.be.a('string').and.not.equal('');
      expect(page.text, what).to.not.contain('correct horse');
    }
    expect(await contents()).to.deep.equal(before);
  });

  it('answers 404 for what there is not', async () => {
    const paths = [
      '/console/tenants/nowhere',
      '/console/tenants/nowhere/users',
      '/console/tenants/nowhere/users/new',
      '/console/tenants/nowhere/service-accounts',
      '/console/tenants/nowhere/credentials',
      '/console/tenants/nowhere/api-keys',
      '/console/tenants/nowhere/activity',
      '/console/tenants/acme/users/nobody/delete',
      '/console/tenants/acme/credentials/cred_none/revoke',
      '/console/tenants/acme/api-keys/key_none/revoke',
      '/console/service-accounts/sa_none',
    ];
    for (const path of paths) expect((await operator.get(path)).status, path).to.equal(404);
    for (const path of paths.slice(-4, -1)) expect((await operator.post(path)).status, path).to.equal(404);
  });

  it('shows the past of a tenant that is deleted', async () => {
    await client('POST', '/admin/v1/tenants', { body: { id: 'past' } });
    const { location = '' } = await operator.post('/console/tenants/past/delete', { id: 'past' });
    expect(location).to.equal('/console/tenants/past/activity?done=deleted');
    const { status, text } = await operator.get(location);
    expect(status).to.equal(200);
    expect(text).to.contain('This tenant is deleted').and.to.contain('Created the tenant');
    expect((await operator.get('/console/tenants/past')).status).to.equal(404);
  });

  it('keeps the credentials of a deleted service account where that is chosen', async () => {
    const { id, bearer } = await arrangeAccount(client, 'acme');
    const body = { subject: 'kept', role: 'reader', ttl_secs: 60 };
    await client('POST', '/admin/v1/tenants/acme/tokens', { token: bearer, body });
    await operator.post(`/console/service-accounts/${id}/delete`, { credentials: 'keep' });
    const { body: credentials } = await client('GET', '/admin/v1/tenants/acme/tokens');
    expect(credentials).to.have.length(1);
    expect(credentials[0]).to.include({ subject: 'kept', status: 'active' });
    const { text } = await operator.get('/console/tenants/acme/credentials');
    expect(text).to.contain(credentials[0].username).and.to.contain(id);
    const revoke = `/console/tenants/acme/credentials/${credentials[0].username}/revoke`;
    // The wish of somebody who was faster is no error.
    for (const _ of [1, 2]) expect((await operator.post(revoke)).status).to.equal(303);
  });

  it('shows long lists page by page, the newest first and each once', async () => {
    const ids = Array.from({ length: pageRows + 5 }, (_, at) => `many-${at}`);
    for (const id of ids) await client('POST', '/admin/v1/tenants', { body: { id } });
    const seen: string[] = [];
    for (let next: string | undefined = '/console'; next !== undefined;) {
      const { text }: Page = await operator.get(next);
      seen.push(...[...text.matchAll(/href="\/console\/tenants\/([^"/]+)"/g)].map(([, id = '']) => id));
      next = /href="([^"]+)" rel="next"/.exec(text)?.[1];
    }
    const { body } = await client('GET', '/admin/v1/tenants?order=desc');
    expect(seen).to.deep.equal(body.map(({ id }: { readonly id: string }) => id));
  });

  it('lists the service accounts of one tenant alone', async () => {
    const other = await arrangeAccount(client, 'other');
    const { text } = await operator.get('/console/tenants/acme/service-accounts');
    expect(text).to.contain(account.id).and.to.not.contain(other.id);
    expect((await operator.get('/console/service-accounts')).text).to.contain(other.id);
  });

  it('shows no text that an address brings along', async () => {
    for (const done of ['<b>free</b>', 'constructor', '__proto__', 'toString']) {
      const { status, text } = await operator.get(`/console/tenants/acme?done=${encodeURIComponent(done)}`);
      expect(status).to.equal(200);
      expect(text).to.not.contain('class="notice').and.to.not.contain('free');
    }
  });

  it('ends with the sign-out, for whoever has the cookie', async () => {
    const leaving = await operatorAt(url);
    const cookie = leaving.cookie('keyledger-console');
    expect((await leaving.post('/console/sign-out')).location).to.equal('/console/sign-in');
    const kept = await createVisitor(url).get('/console', {
      headers: { Cookie: `keyledger-console=${cookie}` },
    });
    expect(kept.status).to.equal(303);
    expect((await operator.get('/console')).status).to.equal(200);
  });

  it('refuses a wrong token, and after a few tries any from that address for a while', async () => {
    const guesser = createVisitor(url);
    const from = '127.0.0.66';
    for (let tries = 1; tries <= freeTries; tries += 1) {
      const { status, text } = await tokenFrom(guesser, `${adminToken}${tries}`, from);
      expect(status).to.equal(401);
      expect(text).to.contain('The token is not right.').and.to.not.contain(adminToken);
    }
    const late = await tokenFrom(guesser, adminToken, from);
    expect(late.status).to.equal(429);
    expect(Number(late.headers['retry-after'])).to.be.at.least(1);
    expect(late.text).to.contain('Try again in');
    expect(guesser.cookie('keyledger-console')).to.equal(undefined);
    expect((await tokenFrom(createVisitor(url), adminToken, '127.0.0.67')).status).to.equal(303);
  });
});

describe('the session of an operator', () => {
  it('ends when the admin token is changed, and lives on while the old one is accepted', async () => {
    const dir = freshFolder();
    let program: Program | undefined;
    const url = (): string => program?.url ?? '';
    const start = async (env: Readonly<Record<string, string>>): Promise<void> => {
      expect(await program?.stop()).to.be.oneOf([undefined, 0]);
      program = await startProgram({ dir, env });
    };
    try {
      await start({});
      const operator = await operatorAt(url);
      const isIn = async (): Promise<boolean> => (await operator.get('/console')).status === 200;
      expect(await isIn()).to.equal(true);
      await start({ SERVICE_CP_ADMIN_TOKEN: otherToken, SERVICE_CP_ADMIN_TOKEN_PREVIOUS: adminToken });
      expect(await isIn()).to.equal(true);
      await start({ SERVICE_CP_ADMIN_TOKEN: otherToken });
      expect(await isIn()).to.equal(false);
    } finally {
      await program?.kill();
      removeFolder(dir);
    }
  });

  it('can not begin where no admin token is set', async () => {
    const dir = freshFolder();
    const program = await startProgram({ dir, env: { SERVICE_CP_ADMIN_TOKEN: '' } });
    try {
      const visitor = createVisitor(() => program.url);
      expect((await visitor.get('/console')).location).to.match(/^\/console\/sign-in/);
      expect((await visitor.get('/console/sign-in')).text).to.contain('has set no admin token');
      expect((await tokenFrom(visitor, '')).status).to.equal(404);
    } finally {
      await program.kill();
      removeFolder(dir);
    }
  });
});
