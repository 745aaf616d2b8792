import { expect } from 'chai';
import { timeMs } from '../../support/examples.ts';
import { createHandClock, type HandClock } from '../../support/hand-clock.ts';
import { freshFolder, removeFolder } from '../../support/program.ts';
import { serveInProcess, serving, type InProcess } from '../../support/serving.ts';
import {
  arrangePerson,
  createVisitor,
  person,
  sessionName,
  signedIn,
  signIn,
  visit,
  type Page,
  type Person,
} from '../../support/web.ts';

/** Failed sign-ins that cost no wait. */
const freeFailures = 5;

const hostile = '<img src=x onerror=alert(1)>"\'&amp;</script>';

/** The value of the field `next` of a sign-in page. */
const nextOf = ({ text }: Page): string | undefined =>
  /<input type="hidden" name="next" value="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');

describe('a sign-in', () => {
  const { client, program } = serving();
  const url = (): string => program().url;
  const alice = person('acme');
  before(async () => {
    await arrangePerson(client, alice);
    await arrangePerson(client, person('other'));
  });

  it('leads to the workspace, and a session to it from the start of the service', async () => {
    expect((await createVisitor(url).get('/')).location).to.equal('/sign-in');
    const visitor = createVisitor(url);
    const { status, location } = await signIn(visitor, alice);
    expect([status, location]).to.deep.equal([303, '/w/acme']);
    expect((await visitor.get('/')).location).to.equal('/w/acme');
  });

  it('leads back to the page that was asked for, with its query', async () => {
    const visitor = createVisitor(url);
    const asked = '/w/acme/agents?cursor=abc';
    const { location = '' } = await visitor.get(asked);
    expect(location).to.equal(`/sign-in?next=${encodeURIComponent(asked)}`);
    const page = await visitor.get(location);
    expect(page.text).to.match(/name="workspace"[^>]*value="acme"|value="acme"[^>]*name="workspace"/);
    const next = nextOf(page) ?? '';
    expect(next).to.equal(asked);
    expect((await signIn(visitor, alice, { next })).location).to.equal(asked);
  });

  it('leads to its own workspace where a page of another was asked for', async () => {
    for (const next of ['/w/other', '/w/other/api-keys', '/w/acmeother', '/w/'])
      expect((await signIn(createVisitor(url), alice, { next })).location, next).to.equal('/w/acme');
  });

  it('leads to no other site, whatever the address says', async () => {
    const lures = [
      '//evil.example',
      '///evil.example',
      'https://evil.example',
      'https:evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      '\\\\evil.example',
      '/\\evil.example',
      '/w/\\\\evil.example',
      '/w/acme\\..\\..\\\\evil.example',
      '/w/..//evil.example',
      '/w/acme/..//..//evil.example',
      '/w/acme/../..//evil.example',
      '/w/%2e%2e//evil.example',
      '/w/acme/%2e%2e/%2e%2e//evil.example',
      '%2f%2fevil.example',
      '/%2fevil.example',
      '/w/acme@evil.example',
      '/w/acme\r\nLocation: https://evil.example',
      '/w/acme\thttps://evil.example',
      '/w/acme#https://evil.example',
      '/w/acme/é',
      ' /w/acme',
      `/w/acme/${'x'.repeat(600)}`,
      '/console',
      '',
    ];
    for (const next of lures) {
      const page = await visit(url(), 'GET', `/sign-in?next=${encodeURIComponent(next)}`);
      expect(page.status, next).to.equal(200);
      const offered = nextOf(page) ?? '/';
      const { status, location = '' } = await signIn(createVisitor(url), alice, { next });
      expect(status, next).to.equal(303);
      for (const leads of [offered, location]) {
        expect(leads, next).to.match(/^\//);
        expect(new URL(leads, url()).origin, next).to.equal(url());
      }
      expect(location, next).to.match(/^\/w\/acme(\/|$)/);
    }
    for (const query of ['next=/w/acme&next=/w/other', 'next[]=/w/acme', 'next', '%ff=1'])
      expect((await visit(url(), 'GET', `/sign-in?${query}`)).status, query).to.equal(200);
  });

  it('says no more than that it failed, alike for a wrong workspace, username or password', async () => {
    const wrong: readonly Person[] = [
      { ...alice, password: 'a wrong password' },
      { ...alice, username: 'nobody' },
      { ...alice, workspace: 'nowhere' },
      { ...alice, password: '' },
    ];
    const texts = new Set<string>();
    for (const [n, who] of wrong.entries()) {
      const visitor = createVisitor(url);
      const page = await signIn(visitor, who, { from: `127.0.4.${n + 1}` });
      expect([page.status, page.set]).to.deep.equal([401, []]);
      if (who.password !== '') expect(page.text).to.not.contain(who.password);
      expect(page.text).to.match(/role="alert"/);
      texts.add(page.text.replaceAll(/value="[^"]*"/g, ''));
      expect(visitor.cookie(sessionName)).to.equal(undefined);
    }
    expect([...texts]).to.have.length(1);
  });

  it('shows what was typed as text, and the password never', async () => {
    const who = { ...alice, workspace: hostile, username: hostile, password: hostile };
    const { status, text } = await signIn(createVisitor(url), who, { from: '127.0.4.9', next: hostile });
    expect(status).to.equal(401);
    expect(text).to.not.contain('<img src=x');
    expect(text.split('&lt;img src=x')).to.have.length(3);
  });

  it('takes a username of any case, and a password of its own alone', async () => {
    const { status } = await signIn(createVisitor(url), { ...alice, username: 'ALICE' });
    expect(status).to.equal(303);
    const loud = { ...alice, password: alice.password.toUpperCase() };
    expect((await signIn(createVisitor(url), loud, { from: '127.0.4.10' })).status).to.equal(401);
  });

  it('with a minted credential is none', async () => {
    const from = '127.0.4.11';
    const { body } = await client('POST', '/admin/v1/service-accounts', {
      body: { name: 'minter', tenant_id: 'acme', max_role: 'admin', max_ttl_secs: 60 },
    });
    const minted = await client('POST', '/admin/v1/tenants/acme/tokens', {
      token: body.bearer,
      body: { subject: 'someone', role: 'admin', ttl_secs: 60 },
    });
    const { username, password } = minted.body as { username: string; password: string };
    const who = person('acme', { username, password });
    expect((await signIn(createVisitor(url), who, { from })).status).to.equal(401);
  });
});

describe('sign-ins that fail too often', () => {
  const dir = freshFolder();
  let clock: HandClock;
  let service: InProcess;
  let address = 0;
  let from: string;
  const alice = person('acme');
  const bob = person('acme', { username: 'bob' });
  const wrong = { ...alice, password: 'a wrong password' };
  const attempt = (who: Person, at = from): Promise<Page> =>
    signIn(
      createVisitor(() => service.url),
      who,
      { from: at },
    );

  before(async () => {
    clock = createHandClock(timeMs);
    service = await serveInProcess(dir, { clock: clock.wallMs });
    await arrangePerson(service.client, alice);
    await arrangePerson(service.client, bob);
  });
  beforeEach(() => {
    address += 1;
    from = `127.0.5.${address}`;
  });
  after(async () => {
    await service?.stop();
    removeFolder(dir);
  });

  const failTillWait = async (): Promise<void> => {
    for (let n = 0; n < freeFailures; n += 1) expect((await attempt(wrong)).status).to.equal(401);
  };

  it('have to wait, even with the right password, and the page says how long', async () => {
    await failTillWait();
    for (const who of [wrong, alice]) {
      const { status, headers, text, set } = await attempt(who);
      expect([status, headers['retry-after'], set]).to.deep.equal([429, '2', []]);
      expect(text).to.contain('Too many attempts.').and.contain('Try again in 2 seconds.');
      expect(text).to.not.contain(who.password);
    }
    clock.pass(1_999);
    expect((await attempt(alice)).headers['retry-after']).to.equal('1');
    clock.pass(1);
    expect((await attempt(alice)).status).to.equal(303);
  });

  it('wait twice as long with every further one', async () => {
    await failTillWait();
    for (const secs of [2, 4, 8, 16]) {
      expect((await attempt(wrong)).headers['retry-after']).to.equal(String(secs));
      clock.pass(secs * 1_000);
      expect((await attempt(wrong)).status).to.equal(401);
    }
  });

  it('do not lock out the same account from another address', async () => {
    await failTillWait();
    expect((await attempt(alice)).status).to.equal(429);
    expect((await attempt(alice, '127.0.0.2')).status).to.equal(303);
    expect((await attempt(alice)).status).to.equal(429);
  });

  it('of one account leave another one its own count, at the same address', async () => {
    await failTillWait();
    // All of an address wait for a second at first, an account there for two.
    clock.pass(1_000);
    expect((await attempt(bob)).status).to.equal(303);
    expect((await attempt(alice)).status).to.equal(429);
  });

  it('are one account in whatever case it is typed', async () => {
    for (let n = 0; n < freeFailures; n += 1) {
      const username = n % 2 === 0 ? 'alice' : 'ALICE';
      expect((await attempt({ ...wrong, username })).status).to.equal(401);
    }
    clock.pass(1_000);
    expect((await attempt({ ...alice, username: 'Alice' })).status).to.equal(429);
  });

  it('are forgotten with one that succeeds', async () => {
    for (let n = 1; n < freeFailures; n += 1) expect((await attempt(wrong)).status).to.equal(401);
    expect((await attempt(alice)).status).to.equal(303);
    clock.pass(900_000);
    for (let n = 1; n < freeFailures; n += 1) expect((await attempt(wrong)).status).to.equal(401);
    expect((await attempt(alice)).status).to.equal(303);
    expect((await attempt(wrong)).status).to.equal(401);
    clock.pass(1_000);
    expect((await attempt(alice)).status).to.equal(303);
  });

  it('take nothing from who is signed in', async () => {
    const visitor = await signedIn(() => service.url, alice);
    await failTillWait();
    expect((await attempt(wrong)).status).to.equal(429);
    expect((await visitor.get('/w/acme', { from })).status).to.equal(200);
  });

  it('are at most five that are looked at, of forty at once, and the service answers meanwhile', async () => {
    const flood = Array.from({ length: 40 }, () => attempt(wrong));
    const healthy = await Promise.all(
      Array.from({ length: 10 }, () => service.client('GET', '/healthz', { token: null })),
    );
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(healthy.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 200));
    expect(statuses.filter((status) => status === 401)).to.have.length(freeFailures);
    expect(statuses.filter((status) => status === 429)).to.have.length(40 - freeFailures);
  });

  it('from forty addresses at once are each answered, and the service answers meanwhile', async () => {
    const flood = Array.from({ length: 40 }, (_, n) => attempt(wrong, `127.0.6.${n + 1}`));
    const health = await service.client('GET', '/healthz', { token: null });
    const right = await attempt(alice);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect([health.status, right.status]).to.deep.equal([200, 303]);
    expect(new Set(statuses)).to.deep.equal(new Set([401]));
  });
});
