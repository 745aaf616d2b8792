import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createClient } from '../support/client.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import {
  arrangePerson,
  createVisitor,
  makeKeyByForm,
  person,
  sessionName,
  signedIn,
  signIn,
  visit,
  type Page,
  type Visitor,
} from '../support/web.ts';
import { withKey } from '../support/workspace.ts';

const alice = person('acme', { password: 'canary-password-Uj4nV9bH6gQ3zE0o' });
const wrongPassword = 'canary-wrong-password-Wp5kD8xS2fA7lI1m';

/** What may be kept of a secret, and must never be shown. */
const digestsOf = (secret: string): readonly string[] =>
  (['hex', 'base64', 'base64url'] as const).map((form) => createHash('sha256').update(secret).digest(form));

describe('sessions of the web interface over kills and restarts', function () {
  this.timeout(60_000);
  const dir = freshFolder();
  let program: Program;
  const url = (): string => program.url;
  const secrets = [alice.password, wrongPassword];
  const outputs: string[] = [];
  const answers: string[] = [];

  const start = async (): Promise<void> => {
    program = await startProgram({ dir, env: { SERVICE_LOG_LEVEL: 'trace' } });
  };
  const killAndStart = async (): Promise<void> => {
    await program.kill();
    outputs.push(program.output());
    await start();
  };
  before(async () => {
    await start();
    await arrangePerson(createClient(url()), alice);
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  const keep = (page: Page): Page => {
    answers.push(page.text);
    return page;
  };
  const enter = async (who = alice): Promise<{ visitor: Visitor; headers: { Cookie: string } }> => {
    const visitor = await signedIn(url, who);
    const secret = visitor.cookie(sessionName) ?? '';
    secrets.push(secret);
    return { visitor, headers: { Cookie: `${sessionName}=${secret}` } };
  };
  const homeOf = async (headers: { Cookie: string }): Promise<Page> =>
    keep(await visit(url(), 'GET', '/w/acme', { headers }));

  it('last over a kill and a stop', async () => {
    const { headers } = await enter();
    await killAndStart();
    expect((await homeOf(headers)).status).to.equal(200);
    expect(await program.stop()).to.equal(0);
    outputs.push(program.output());
    await start();
    expect((await homeOf(headers)).status).to.equal(200);
  });

  it('that were signed out stay ended after a kill, and others last', async () => {
    const ended = await enter();
    const other = await enter();
    expect((await ended.visitor.post('/sign-out')).status).to.equal(303);
    await killAndStart();
    expect((await homeOf(ended.headers)).status).to.equal(303);
    expect((await homeOf(other.headers)).status).to.equal(200);
  });

  it('that were replaced by a new sign-in stay ended after a kill', async () => {
    const { visitor, headers } = await enter();
    expect((await signIn(visitor, alice)).status).to.equal(303);
    secrets.push(visitor.cookie(sessionName) ?? '');
    await killAndStart();
    expect((await homeOf(headers)).status).to.equal(303);
    expect((await visitor.get('/w/acme')).status).to.equal(200);
  });

  it('of a user who was deleted stay ended after a kill', async () => {
    const bob = { ...alice, username: 'bob' };
    await arrangePerson(createClient(url()), bob);
    const { headers } = await enter(bob);
    const gone = await createClient(url())('DELETE', '/admin/v1/tenants/acme/users/bob');
    expect(gone.status).to.equal(204);
    await killAndStart();
    expect((await homeOf(headers)).status).to.equal(303);
  });

  it('leave what they did: a key that was revoked stays so, and one that was made works', async () => {
    const { visitor } = await enter();
    const revoked = await makeKeyByForm(visitor, 'acme', { name: 'revoked' });
    const made = await makeKeyByForm(visitor, 'acme', { name: 'made' });
    secrets.push(revoked.key, made.key);
    expect((await visitor.post(`/w/acme/api-keys/${revoked.id}/revoke`)).status).to.equal(303);
    await killAndStart();
    const client = createClient(url());
    const refused = await withKey(client, revoked)('GET', '/api/acme/agents');
    expect([refused.status, refused.body.code]).to.deep.equal([401, 'api-key.revoked']);
    expect((await withKey(client, made)('GET', '/api/acme/agents')).status).to.equal(200);
    keep(await visitor.get('/w/acme/api-keys'));
    keep(await visitor.get(`/w/acme/api-keys/${made.id}`));
  });

  it('leave no secret, password, cookie or digest in the log, a metric or a later page', async () => {
    const { visitor: owner } = await enter();
    secrets.push((await makeKeyByForm(owner, 'acme', { name: 'of the owner' })).key);
    const visitor = createVisitor(url);
    const forms = [
      { workspace: 'acme', username: wrongPassword, password: alice.password },
      { workspace: wrongPassword, username: 'alice', password: wrongPassword },
    ];
    for (const form of forms) expect((await visitor.post('/sign-in', form)).status).to.equal(401);
    const json = { 'Content-Type': 'application/json' };
    for (const secret of secrets) {
      // In the form, the address, the cookie and the type of what is refused.
      const form = `password=${encodeURIComponent(secret)}&password=${encodeURIComponent(secret)}`;
      keep(await visit(url(), 'POST', '/sign-in', { form }));
      keep(await visit(url(), 'POST', '/sign-in', { form: `{"password":"${secret}"`, headers: json }));
      keep(await visit(url(), 'POST', '/sign-in', { form: `${secret}${'x'.repeat(9_000)}` }));
      const headers = { Cookie: `${sessionName}=${secret}x; keyledger-shown-once=${secret}` };
      keep(await visit(url(), 'GET', '/w/acme', { headers }));
      keep(await visit(url(), 'GET', '/', { headers }));
      // Who asked knows what stood in the address; the log must not.
      await visit(url(), 'GET', `/sign-in?next=/w/${encodeURIComponent(secret)}`);
      await visit(url(), 'GET', `/w/acme/api-keys?cursor=${encodeURIComponent(secret)}`);
      await visit(url(), 'GET', `/w/${encodeURIComponent(secret)}`);
    }
    answers.push((await createClient(url())('GET', '/metrics')).text);
    expect(await program.stop()).to.equal(0);
    const log = [...outputs, program.output()].join('\n');
    expect(log.split('\n').length).to.be.above(40);
    expect(secrets.length).to.be.at.least(4);
    for (const secret of secrets) {
      for (const text of [secret, encodeURIComponent(secret), ...digestsOf(secret)]) {
        expect(log.includes(text), `${text} in the log`).to.equal(false);
        for (const answer of answers)
          expect(answer.includes(text), `${text} in ${answer.slice(0, 200)}`).to.equal(false);
      }
    }
    expect(log).to.not.match(/\$argon2/);
  });
});
