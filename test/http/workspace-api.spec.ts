import { expect } from 'chai';
import { workspaceRoutes } from '../../src/http/routes/index.ts';
import type { Route } from '../../src/http/route.ts';
import { expectInvalid, expectProblem } from '../support/problems.ts';
import { servingWorkspaces } from '../support/workspace.ts';

const pathOf = (path: string): string =>
  path.replace('{workspace_id}', 'acme').replaceAll(/\{\w+\}/g, 'nothing');

const answersJson = ({ responses }: Route): boolean =>
  Object.values(responses).some(({ body }) => body !== undefined);

const takesBody = ({ body }: Route): boolean => body !== undefined;

describe('methods, representations and bodies of the workspace API', () => {
  const { as, program } = servingWorkspaces(['acme']);

  it('answer a method that a path does not have with 405 and those that it has', async () => {
    for (const path of new Set(workspaceRoutes.map((route) => route.path))) {
      const methods = workspaceRoutes
        .filter((route) => route.path === path)
        .map(({ method }): string => method);
      const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].toSorted();
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        if (allowed.includes(method)) continue;
        const answer = await as('acme')(method, pathOf(path));
        expectProblem(answer, 405, 'route.method-not-allowed');
        expect(answer.headers.get('allow'), path).to.equal(allowed.join(', '));
      }
    }
  });
  it('answer 404 to a caller with a key where there is nothing', async () => {
    for (const path of [
      '/api',
      '/api/',
      '/api/acme',
      '/api/acme/agents/',
      '/api/acme/nothing',
      '/workflows/',
    ])
      expectProblem(await as('acme', 'reader')('GET', path), 404, 'route.unknown');
  });
  it('answer HEAD like GET, without a body', async () => {
    for (const { method, path } of workspaceRoutes) {
      if (method !== 'GET') continue;
      const [head, get] = [await as('acme')('HEAD', pathOf(path)), await as('acme')('GET', pathOf(path))];
      expect([head.status, head.text], path).to.deep.equal([get.status, '']);
      expect(head.headers.get('content-type'), path).to.equal(get.headers.get('content-type'));
    }
  });
  it('answer 406 where JSON is not wanted, and do nothing', async () => {
    for (const Accept of ['text/html', 'application/json;q=0', 'application/problem+json']) {
      for (const route of workspaceRoutes.filter(answersJson)) {
        const answer = await as('acme')(route.method, pathOf(route.path), { headers: { Accept } });
        expectProblem(answer, 406, 'request.not-acceptable');
      }
    }
  });
  it('refuse a body that is no JSON, is not said to be JSON, or is too large', async () => {
    for (const { method, path } of workspaceRoutes.filter(takesBody)) {
      const send = (body: string, headers: Record<string, string> = {}) =>
        as('acme')(method, pathOf(path), { body, headers });
      for (const body of ['{"name":', '{"name":"a"}\0', '\uFEFF{}', ' ', '['.repeat(33) + ']'.repeat(33)])
        expectProblem(await send(body), 400, 'request.malformed');
      for (const headers of [{ 'Content-Type': 'text/plain' }, { 'Content-Encoding': 'gzip' }])
        expectProblem(await send('{}', headers), 415, 'request.unsupported-type');
      expectProblem(await send('x'.repeat(1_048_577)), 413, 'request.too-large');
    }
  });
  it('name every fault at once, of the path, the query, the headers and the body', async () => {
    const answer = await as('acme')('PATCH', `/api/acme/agents/${'x'.repeat(129)}?limit=1`, {
      body: { name: '', colour: 'red' },
      headers: { 'X-Min-Position': 'soon' },
    });
    expect(expectInvalid(answer)).to.deep.equal(['/X-Min-Position', '/colour', '/id', '/limit', '/name']);
  });
  it('are never stored nor sniffed', async () => {
    for (const path of ['/api/acme/agents', '/api/acme/agents/nothing', '/workflows', '/api/nowhere']) {
      const { headers } = await as('acme')('GET', path);
      expect(headers.get('cache-control'), path).to.equal('no-store');
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
    }
  });
  it('leave the service as it was', () => {
    expect(program().output()).to.not.match(/"level":"(error|fatal)"/);
  });
});
