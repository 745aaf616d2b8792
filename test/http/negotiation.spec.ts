import { expect } from 'chai';
import { adminRoutes } from '../../src/http/routes/index.ts';
import { statusOfCode } from '../../src/http/problem.ts';
import { refusals, type RefusalCode } from '../../src/refusals.ts';
import { arrangeAccount, createClient, type Client } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';

const open = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/apidoc',
  '/apidoc/admin.json',
  '/apidoc/admin.yaml',
  '/problems',
];

const concrete = (path: string): string => path.replaceAll(/[{}]/g, '');

describe('methods, representations and request ids', () => {
  let program: Program;
  let client: Client;

  before(async () => {
    program = await startProgram({ dir: freshFolder() });
    client = createClient(program.url);
    await arrangeAccount(client, 'acme');
  });
  after(async () => {
    await program.stop();
    removeFolder(program.dir);
  });

  it('answers a method that a path does not have with 405 and those that it has', async () => {
    for (const path of new Set(adminRoutes.map((route) => route.path))) {
      const methods = adminRoutes.filter((route) => route.path === path).map(({ method }): string => method);
      const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].toSorted();
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        if (allowed.includes(method)) continue;
        const answer = await client(method, concrete(path));
        expectProblem(answer, 405, 'route.method-not-allowed');
        expect(answer.headers.get('allow'), path).to.equal(allowed.join(', '));
      }
    }
    for (const path of open) {
      for (const method of ['POST', 'OPTIONS', 'DELETE']) {
        const answer = await client(method, path, { token: null });
        expectProblem(answer, 405, 'route.method-not-allowed');
        expect(answer.headers.get('allow')).to.equal('GET, HEAD');
      }
    }
  });

  it('answers HEAD like GET, without a body', async () => {
    const paths = [
      '/admin/v1/tenants',
      '/admin/v1/tenants/acme',
      '/admin/v1/tenants/nowhere',
      '/nowhere',
      ...open,
    ];
    for (const path of paths) {
      const [head, get] = [await client('HEAD', path), await client('GET', path)];
      expect([head.status, head.text], path).to.deep.equal([get.status, '']);
      expect(head.headers.get('content-type'), path).to.equal(get.headers.get('content-type'));
    }
  });

  it('answers 406 where JSON is not wanted, and does nothing', async () => {
    const accepts = [
      'text/html',
      'application/xml',
      'application/json;q=0',
      'application/problem+json',
      'json',
      '/',
    ];
    for (const Accept of accepts) {
      for (const { method, path, id, responses } of adminRoutes) {
        // Where the answer has no body there is nothing to be wanted.
        const hasBody = Object.values(responses).some(({ body }) => body !== undefined);
        if (id === 'mintCredential' || !hasBody) continue;
        const answer = await client(method, concrete(path).replace('/id', '/acme'), { headers: { Accept } });
        expectProblem(answer, 406, 'request.not-acceptable');
      }
    }
    expect((await client('GET', '/admin/v1/tenants/acme')).status).to.equal(200);
  });

  it('takes every way to say that JSON is welcome', async () => {
    for (const Accept of [
      'application/json',
      '*/*',
      'application/*',
      'text/html, application/json;q=0.1',
      'text/*, */*;q=0.1',
    ])
      expect((await client('GET', '/admin/v1/tenants', { headers: { Accept } })).status, Accept).to.equal(
        200,
      );
  });

  it('keeps a well-formed request id, and gives a fresh one for any other', async () => {
    for (const id of ['a', 'a'.repeat(128), '019aa5b0-c1d2-7c3e-8f4a-5b6c7d8e9f00', 'A.b_c:d-e']) {
      for (const path of ['/healthz', '/nowhere', '/admin/v1/tenants', '/metrics', '/apidoc']) {
        const answer = await client('GET', path, { headers: { 'X-Request-Id': id } });
        expect(answer.headers.get('x-request-id'), path).to.equal(id);
      }
    }
    const fresh = new Set<string | null>();
    const refused = ['', ' ', 'a'.repeat(129), 'a b', 'a,b', '<script>', 'a/b', 'é', '"', 'a\tb', '${x}'];
    for (const id of refused) {
      const answer = await client('GET', '/nowhere', { headers: { 'X-Request-Id': id } });
      expectProblem(answer, 404, 'route.unknown');
      fresh.add(answer.headers.get('x-request-id'));
      expect(answer.headers.get('x-request-id'), id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
    expect(fresh.size).to.equal(refused.length);
  });

  it('gives every problem a page of its own', async () => {
    const codes = Object.keys(refusals) as RefusalCode[];
    for (const code of codes) {
      const { status, headers, text } = await client('GET', `/problems/${code.replaceAll('.', '-')}`, {
        token: null,
      });
      expect(status, code).to.equal(200);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(headers.get('content-security-policy')).to.contain("default-src 'none'");
      expect(text)
        .to.contain(`<code>${code}</code>`)
        .and.to.contain(String(statusOfCode(code)));
    }
    const index = await client('GET', '/problems', { token: null });
    for (const code of codes) expect(index.text).to.contain(`"/problems/${code.replaceAll('.', '-')}"`);
  });

  it('never lets an answer of the Admin API be stored or sniffed', async () => {
    for (const path of [
      '/admin/v1/tenants',
      '/admin/v1/tenants/nowhere',
      '/admin/v1/nowhere',
      '/admin/v1/tenants?a=1',
    ]) {
      for (const token of [undefined, null]) {
        const { headers } = await client('GET', path, token === undefined ? {} : { token });
        expect(headers.get('cache-control'), path).to.equal('no-store');
        expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
        expect(headers.get('server'), path).to.equal(null);
        expect(headers.get('x-powered-by'), path).to.equal(null);
      }
    }
  });
});
