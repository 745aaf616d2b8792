import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { time, timeMs } from '../../support/examples.ts';
import { createHandClock } from '../../support/hand-clock.ts';
import { freshFolder, removeFolder } from '../../support/program.ts';
import { serveInProcess, serving, type InProcess } from '../../support/serving.ts';
import {
  arrangePerson,
  createVisitor,
  makeKeyByForm,
  pageOf,
  person,
  sessionName,
  signedIn,
  signIn,
  visit,
  type Page,
  type Person,
  type Visitor,
} from '../../support/web.ts';

/** Half a day in milliseconds: as long as a session lasts. */
const sessionMs = 43_200_000;

const https = { 'X-Forwarded-Proto': 'https' };

/** The attributes of the one cookie that an answer sets, in lower case, with its name. */
const attributesOf = ({ set }: Page): { readonly name: string; readonly attributes: readonly string[] } => {
  expect(set).to.have.length(1);
  const [pair = '', ...attributes] = (set[0] ?? '').split('; ');
  return { name: pair.split('=', 1)[0] ?? '', attributes: attributes.map((one) => one.toLowerCase()) };
};

/** Pages of a workspace, of every kind. */
const pathsOf = (workspace: string): readonly string[] =>
  ['', '/agents', '/agents/agent_1', '/api-keys', '/api-keys/new', '/api-keys/key_1/revoke'].map(
    (rest) => `/w/${workspace}${rest}`,
  );

/** What an answer tells but for the workspace's name and the request's id. */
const masked = ({ status, text }: Page, workspace: string): readonly unknown[] => [
  status,
  text.replaceAll(workspace, 'WORKSPACE').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID'),
];

const users = (workspace: string): string => `/admin/v1/tenants/${workspace}/users`;

const expectSignedOut = (page: Page, path = '/w/acme'): void => {
  expect([page.status, page.location]).to.deep.equal([303, `/sign-in?next=${encodeURIComponent(path)}`]);
};

describe('the cookie of a session', () => {
  const { client, program } = serving();
  const other = serving();
  const url = (): string => program().url;
  const alice = person('acme');
  before(async () => {
    await arrangePerson(client, alice);
    await arrangePerson(other.client, alice);
  });

  it('is for no script and no other site, on every path, and plain over plain HTTP', async () => {
    const { name, attributes } = attributesOf(await signIn(createVisitor(url), alice));
    expect(name).to.equal(sessionName);
    expect(attributes).to.include.members(['path=/', 'samesite=lax', 'httponly']);
    expect(attributes).to.not.include('secure');
    expect(attributes.some((one) => one.startsWith('domain='))).to.equal(false);
  });

  it('is Secure and of this host alone where a proxy ends TLS', async () => {
    const visitor = createVisitor(url);
    const { name, attributes } = attributesOf(await signIn(visitor, alice, { headers: https }));
    expect(name).to.equal(`__Host-${sessionName}`);
    expect(attributes).to.include.members(['path=/', 'samesite=lax', 'httponly', 'secure']);
    expect(attributes.some((one) => one.startsWith('domain='))).to.equal(false);
    expect((await visitor.get('/w/acme', { headers: https })).status).to.equal(200);
    const { text } = await visitor.get('/w/acme', { headers: https });
    expect(text).to.contain(`https://${new URL(url()).host}/api/acme/agents`);
    const plain = { ...https, Cookie: `${sessionName}=${visitor.cookie(name)}` };
    expectSignedOut(await visit(url(), 'GET', '/w/acme', { headers: plain }));
  });

  it('that carries a new key is for the one page that shows it, for no script, and is taken from there', async () => {
    const visitor = await signedIn(url, alice);
    const form = { name: 'carried', role: 'reader', expires: 'never' };
    const made = await visitor.post('/w/acme/api-keys', form);
    const { attributes } = attributesOf(made);
    expect(attributes).to.include.members([`path=${made.location}`, 'samesite=strict', 'httponly']);
    expect(made.text).to.not.contain('svc_');
    const shown = await visitor.get(made.location ?? '');
    expect(shown.text).to.match(/svc_\w{49}/);
    expect(visitor.cookie('keyledger-shown-once')).to.equal(undefined);
    expect((await visitor.get(made.location ?? '')).text).to.not.match(/svc_\w{49}/);
  });

  it('that carries a key shows it on no other key’s page', async () => {
    const visitor = await signedIn(url, alice);
    const first = await makeKeyByForm(visitor, 'acme');
    const second = await makeKeyByForm(visitor, 'acme');
    const Cookie = `${sessionName}=${visitor.cookie(sessionName)}; keyledger-shown-once=${second.key}`;
    const { text } = await visitor.get(`/w/acme/api-keys/${first.id}`, { headers: { Cookie } });
    expect(text).to.not.contain(second.key);
  });

  it('is a new one with every sign-in, which ends the one before it', async () => {
    const visitor = await signedIn(url, alice);
    const before = visitor.cookie(sessionName);
    await signIn(visitor, alice);
    expect(visitor.cookie(sessionName)).to.not.equal(before);
    const headers = { Cookie: `${sessionName}=${before}` };
    expectSignedOut(await visit(url(), 'GET', '/w/acme', { headers }));
    expect((await visitor.get('/w/acme')).status).to.equal(200);
  });

  it('is no session where it is forged, cut, of another secret or of another instance', async () => {
    const visitor = await signedIn(url, alice);
    const mine = visitor.cookie(sessionName) ?? '';
    const stranger = await signedIn(() => other.program().url, alice);
    const { key } = await makeKeyByForm(visitor, 'acme');
    const forged = [
      stranger.cookie(sessionName) ?? '',
      mine.slice(0, -1),
      `${mine}0`,
      mine.slice(0, 20) + (mine[20] === 'x' ? 'y' : 'x') + mine.slice(21),
      mine.toLowerCase(),
      mine.slice('ses_'.length),
      mine.replace('ses_', 'svc_'),
      key,
      'ses_',
      '',
      '%00',
      '__proto__',
      `"${mine.slice(0, -1)}"`,
      'x'.repeat(4_000),
    ];
    for (const value of forged) {
      const headers = { Cookie: `${sessionName}=${value}` };
      expectSignedOut(await visit(url(), 'GET', '/w/acme', { headers }));
      const posted = await visit(url(), 'POST', '/w/acme/api-keys', { headers, form: { name: 'forged' } });
      expect([posted.status, posted.location], value).to.deep.equal([303, '/sign-in']);
      const out = await visit(url(), 'POST', '/sign-out', { headers, form: {} });
      expect([out.status, out.location], value).to.deep.equal([303, '/sign-in']);
    }
    expect((await visitor.get('/w/acme')).status).to.equal(200);
    expect((await visitor.get('/w/acme/api-keys')).text).to.not.contain('forged');
  });

  it('is no key of the API, and a key is no session', async () => {
    const visitor = await signedIn(url, alice);
    const headers = { 'X-API-Key': visitor.cookie(sessionName) ?? '' };
    expect((await client('GET', '/api/acme/agents', { token: null, headers })).status).to.equal(401);
    const Cookie = `${sessionName}=${visitor.cookie(sessionName)}`;
    const cookie = await client('GET', '/api/acme/agents', { token: null, headers: { Cookie } });
    expect(cookie.body).to.include({ code: 'api-key.missing' });
  });
});

describe('a session', () => {
  const { client, program } = serving();
  const url = (): string => program().url;

  const arranged = async (workspace: string): Promise<{ who: Person; visitor: Visitor }> => {
    const who = person(workspace);
    await arrangePerson(client, who);
    return { who, visitor: await signedIn(url, who) };
  };

  const endings: Readonly<Record<string, (who: Person, visitor: Visitor) => Promise<unknown>>> = {
    'signs out': (_, visitor) => visitor.post('/sign-out'),
    'is deleted': ({ workspace, username }) => client('DELETE', `${users(workspace)}/${username}`),
    'is deleted and made again': async (who) => {
      await client('DELETE', `${users(who.workspace)}/${who.username}`);
      await arrangePerson(client, who);
    },
    'loses the tenant': ({ workspace }) => client('DELETE', `/admin/v1/tenants/${workspace}`),
    'loses the tenant, and gets it again': async (who) => {
      await client('DELETE', `/admin/v1/tenants/${who.workspace}`);
      await arrangePerson(client, who);
    },
  };

  for (const [n, [how, end]] of Object.entries(endings).entries()) {
    it(`ends at once where its user ${how}`, async () => {
      const { who, visitor } = await arranged(`ending-${n}`);
      const path = `/w/${who.workspace}/api-keys`;
      const headers = { Cookie: `${sessionName}=${visitor.cookie(sessionName)}` };
      expect((await visit(url(), 'GET', path, { headers })).status).to.equal(200);
      await end(who, visitor);
      expectSignedOut(await visit(url(), 'GET', path, { headers }), path);
      const { status, location } = await visit(url(), 'POST', path, { headers, form: { name: 'late' } });
      expect([status, location]).to.deep.equal([303, '/sign-in']);
      expect((await visit(url(), 'GET', '/', { headers })).location).to.equal('/sign-in');
    });

    it(`does nothing any more where its user ${how} while the form is on its way`, async () => {
      const { who, visitor } = await arranged(`slow-${n}`);
      const form = new URLSearchParams({ name: 'slow', role: 'reader', expires: 'never' }).toString();
      const sent = request(`${url()}/w/${who.workspace}/api-keys`, {
        method: 'POST',
        headers: {
          Cookie: `${sessionName}=${visitor.cookie(sessionName)}`,
          'Content-Type': 'application/x-www-form-urlencoded',
          'Content-Length': form.length,
          Expect: '100-continue',
        },
      });
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      answered.catch(() => {});
      sent.flushHeaders();
      await once(sent, 'continue');
      sent.write(form.slice(0, 5));
      await end(who, visitor);
      sent.end(form.slice(5));
      const [answer] = await answered;
      const page = await pageOf(answer);
      expect([page.status, page.location]).to.deep.equal([303, '/sign-in']);
      if (how === 'is deleted' || how === 'loses the tenant') await arrangePerson(client, who);
      const again = await signedIn(url, who);
      expect((await again.get(`/w/${who.workspace}/api-keys`)).text).to.contain('No API keys yet');
    });
  }

  it('of another user lasts where one of them is deleted', async () => {
    const { who, visitor } = await arranged('neighbours');
    const bob = person('neighbours', { username: 'bob' });
    await arrangePerson(client, bob);
    const neighbour = await signedIn(url, bob);
    await client('DELETE', `${users(who.workspace)}/${who.username}`);
    expect((await neighbour.get('/w/neighbours')).status).to.equal(200);
    expect((await visitor.get('/w/neighbours')).status).to.equal(303);
  });

  it('is for its own workspace alone: any other is 403, whether there is one or not', async () => {
    const { visitor } = await arranged('mine');
    await arrangePerson(client, person('theirs'));
    const answers: (readonly unknown[])[] = [];
    for (const workspace of ['theirs', 'nobodys']) {
      for (const path of pathsOf(workspace)) {
        const page = await visitor.get(path);
        expect(page.status, path).to.equal(403);
        expect(page.text, path).to.contain('You are signed in to the workspace mine.');
        answers.push(masked(page, workspace));
      }
      const made = await visitor.post(`/w/${workspace}/api-keys`, { name: 'theirs', role: 'reader' });
      expect(made.status).to.equal(403);
    }
    const half = answers.length / 2;
    expect(answers.slice(0, half)).to.deep.equal(answers.slice(half));
    const owner = await signedIn(url, person('theirs'));
    expect((await owner.get('/w/theirs/api-keys')).text).to.contain('No API keys yet');
  });
});

describe('a session on the service’s clock', () => {
  const dir = freshFolder();
  const clock = createHandClock(timeMs);
  let service: InProcess;
  before(async () => {
    service = await serveInProcess(dir, { clock: clock.wallMs });
    await arrangePerson(service.client, person('acme'));
  });
  after(async () => {
    await service?.stop();
    removeFolder(dir);
  });

  it('lasts 12 hours to the millisecond, used or not', async () => {
    expect(new Date(clock.wallMs()).toISOString()).to.equal(time);
    const visitor = await signedIn(() => service.url, person('acme'));
    clock.pass(sessionMs / 2);
    expect((await visitor.get('/w/acme')).status).to.equal(200);
    clock.pass(sessionMs / 2 - 1);
    expect((await visitor.get('/w/acme')).status).to.equal(200);
    clock.pass(1);
    expectSignedOut(await visitor.get('/w/acme'));
  });
});
