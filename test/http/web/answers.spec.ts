import { expect } from 'chai';
import { expectProblem } from '../../support/problems.ts';
import { serving } from '../../support/serving.ts';
import {
  arrangePerson,
  createVisitor,
  makeKeyByForm,
  person,
  sessionName,
  signedIn,
  type Page,
  type Visitor,
} from '../../support/web.ts';
import { withKey } from '../../support/workspace.ts';

const hostile = '<img src=x onerror=alert(1)>"\'&amp;</script>';

/** What a person is shown instead of a problem document, with the same request id. */
const expectErrorPage = (page: Page, status: number): void => {
  expect(page.status, page.text).to.equal(status);
  expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
  expect(page.text)
    .to.match(/^<!doctype html>/)
    .and.contain(String(page.headers['x-request-id']));
};

describe('an answer of the web interface', () => {
  const { client, program } = serving();
  const url = (): string => program().url;
  let visitor: Visitor;
  before(async () => {
    await arrangePerson(client, person('acme'));
    visitor = await signedIn(url, person('acme'));
  });

  const faulty = {
    '/w/other': [403, 'authorization.denied'],
    '/w/acme/api-keys/key_none': [404, 'api-key.not-found'],
    '/w/acme/agents/agent_none': [404, 'agent.unknown'],
    '/w/acme/nothing': [404, 'route.unknown'],
    '/w/acme/agents?cursor=none': [400, 'request.invalid'],
  } as const;

  for (const [path, [status, code]] of Object.entries(faulty)) {
    it(`is a page for a browser and a problem document for a program: ${status} at ${path}`, async () => {
      expectErrorPage(await visitor.get(path), status);
      const Cookie = `${sessionName}=${visitor.cookie(sessionName)}`;
      for (const Accept of ['*/*', 'application/json', 'application/problem+json, */*']) {
        const answer = await client('GET', path, { token: null, headers: { Cookie, Accept } });
        expectProblem(answer, status, code);
      }
    });
  }

  it('is a page or a problem document for a form that is refused, and for a method that is not there', async () => {
    const elsewhere = { 'Sec-Fetch-Site': 'cross-site' };
    expectErrorPage(await visitor.post('/sign-out', {}, { headers: elsewhere }), 403);
    expectErrorPage(await visitor.post('/sign-out', {}, { headers: { 'Content-Type': 'a/b' } }), 415);
    expectErrorPage(await visitor.post('/w/acme', {}), 405);
    expectProblem(
      await client('DELETE', '/w/acme', { token: null, headers: { Accept: '*/*' } }),
      405,
      'route.method-not-allowed',
    );
    expect((await visitor.get('/w/acme')).status).to.equal(200);
  });

  it('is kept by nobody, runs nothing but the service’s own, and is framed by nobody', async () => {
    const paths = ['/w/acme', '/w/acme/api-keys', '/w/acme/api-keys/new', '/w/acme/threads', '/sign-in'];
    for (const path of [...paths, '/w/other', '/w/acme/nothing']) {
      const { headers } = await visitor.get(path);
      expect(headers['cache-control'], path).to.equal('no-store');
      expect(headers['content-security-policy'], path)
        .to.contain("default-src 'none'")
        .and.contain("frame-ancestors 'none'")
        .and.not.contain('unsafe');
      expect(headers['x-content-type-options'], path).to.equal('nosniff');
    }
    const stranger = await createVisitor(url).get('/w/acme');
    expect([stranger.status, stranger.headers['cache-control']]).to.deep.equal([303, 'no-store']);
  });

  it('to HEAD is that to GET without its body', async () => {
    const Cookie = `${sessionName}=${visitor.cookie(sessionName)}`;
    for (const path of ['/sign-in', '/w/acme', '/w/acme/api-keys', '/']) {
      const Accept = 'text/html';
      const head = await client('HEAD', path, { token: null, headers: { Cookie, Accept } });
      const got = await client('GET', path, { token: null, headers: { Cookie, Accept } });
      expect([head.status, head.text], path).to.deep.equal([got.status, '']);
      for (const name of ['content-type', 'location', 'content-security-policy', 'cache-control'])
        expect(head.headers.get(name), `${name} of ${path}`).to.equal(got.headers.get(name));
    }
  });

  it('shows every name from elsewhere as text', async () => {
    const key = await makeKeyByForm(visitor, 'acme', { name: hostile, role: 'admin' });
    const api = withKey(client, key);
    const made: string[] = [];
    const bodies = {
      agents: { name: hostile, description: hostile, metadata: { [hostile]: hostile } },
      threads: { title: hostile, metadata: { a: hostile } },
      workflows: { name: hostile, description: hostile },
    };
    for (const [kind, body] of Object.entries(bodies)) {
      const answer = await api('POST', `/api/acme/${kind}`, { body });
      expect(answer.status, answer.text).to.equal(201);
      made.push(`/w/acme/${kind}`, `/w/acme/${kind}/${answer.body.id}`);
    }
    const keys = ['', `/${key.id}`, `/${key.id}/roll`, `/${key.id}/revoke`];
    for (const path of ['/w/acme', ...made, ...keys.map((rest) => `/w/acme/api-keys${rest}`)]) {
      const { status, text } = await visitor.get(path);
      expect(status, path).to.equal(200);
      expect(text, path).to.not.contain('<img src=x').and.not.contain('</script>"');
      expect(text, path).to.contain('&lt;img src=x onerror=alert(1)>');
    }
    const refused = { name: `${hostile}${'x'.repeat(200)}`, role: 'reader', expires: 'never' };
    const again = await visitor.post('/w/acme/api-keys', refused);
    expect(again.status).to.equal(400);
    expect(again.text).to.contain('&lt;img src=x').and.not.contain('<img src=x');
  });

  it('says nothing that only its address says', async () => {
    for (const done of [hostile, 'revoked&done=x', '__proto__', 'constructor', 'toString']) {
      const { status, text } = await visitor.get(`/w/acme/api-keys?done=${encodeURIComponent(done)}`);
      expect(status, done).to.equal(200);
      expect(text, done).to.not.contain('role="status"');
    }
  });

  it('shows who may not see all keys only their own, and lets them end no other', async () => {
    const reader = person('acme', { username: 'rita', role: 'reader' });
    await arrangePerson(client, reader);
    const rita = await signedIn(url, reader);
    const theirs = await makeKeyByForm(visitor, 'acme', { name: 'of the admin' });
    await makeKeyByForm(rita, 'acme', { name: 'of the reader' });
    const own = (await rita.get('/w/acme/api-keys')).text;
    expect(own).to.contain('of the reader').and.not.contain('of the admin');
    const all = (await visitor.get('/w/acme/api-keys')).text;
    expect(all).to.contain('of the reader').and.contain('of the admin');
    for (const act of ['revoke', 'roll']) {
      const path = `/w/acme/api-keys/${theirs.id}/${act}`;
      expect((await rita.get(path)).status).to.be.oneOf([403, 404]);
      expect((await rita.post(path, { overlap_secs: '0' })).status).to.be.oneOf([403, 404]);
    }
    expect((await withKey(client, theirs)('GET', '/api/acme/agents')).status).to.equal(200);
  });
});
