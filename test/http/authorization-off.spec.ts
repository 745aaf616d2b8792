import { expect } from 'chai';
import { adminRoutes } from '../../src/http/routes/index.ts';
import { createClient, type Client } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import {
  adminToken,
  freshFolder,
  removeFolder,
  startProgram,
  verifierToken,
  type Program,
} from '../support/program.ts';
import { visit } from '../support/web.ts';

describe('a service without an admin token', () => {
  let program: Program;
  let client: Client;

  before(async () => {
    // The token before the admin token opens nothing on its own.
    const env = { SERVICE_CP_ADMIN_TOKEN: '', SERVICE_CP_ADMIN_TOKEN_PREVIOUS: adminToken };
    program = await startProgram({ dir: freshFolder(), env });
    client = createClient(program.url);
  });
  after(async () => {
    await program.stop();
    removeFolder(program.dir);
  });

  it('answers every operation of the Admin API that it is off, whoever asks', async () => {
    for (const { method, path } of adminRoutes) {
      for (const token of [null, adminToken, verifierToken, '', 'undefined', 'null']) {
        const answer = await client(method, path.replaceAll(/[{}]/g, ''), { token });
        expectProblem(answer, 404, 'control-plane.not-configured');
      }
    }
  });

  it('answers unknown paths of the Admin API alike', async () => {
    for (const path of ['/admin/v1', '/admin/v1/', '/admin/v1/nowhere']) {
      for (const method of ['GET', 'PUT', 'OPTIONS'])
        expectProblem(await client(method, path), 404, 'control-plane.not-configured');
    }
  });

  it('has its console closed, and says why', async () => {
    const page = await visit(program.url, 'GET', '/console/sign-in');
    expect([page.status, page.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 200 && text.includes('has set no admin token'),
    );
    for (const token of [adminToken, '', 'undefined']) {
      const answer = await visit(program.url, 'POST', '/console/sign-in', { form: { token } });
      expect([answer.status, answer.set]).to.deep.equal([404, []]);
    }
    expect((await visit(program.url, 'GET', '/console')).location).to.equal(
      '/console/sign-in?next=%2Fconsole',
    );
  });

  it('serves health, metrics and the reference as ever', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/apidoc', '/apidoc/admin.json', '/problems']) {
      const { status, text } = await client('GET', path, { token: null });
      expect(status, path).to.equal(200);
      expect(text, path).to.not.be.empty;
    }
  });

  it('warns at the start', () => {
    expect(program.output()).to.match(/"level":"warn".*admin token/i);
  });
});
