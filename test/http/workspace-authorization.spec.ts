import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { adminRoutes, workspaceRoutes } from '../../src/http/routes/index.ts';
import type { Route } from '../../src/http/route.ts';
import { roles, type Role } from '../../src/http/schemas.ts';
import type { RefusalCode } from '../../src/refusals.ts';
import { createSecrets } from '../../src/secrets/tokens.ts';
import { arrangeAccount, type Answer, type Ask } from '../support/client.ts';
import { logOf } from '../support/engines.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { expectProblem } from '../support/problems.ts';
import { adminToken, freshFolder, removeFolder, verifierToken } from '../support/program.ts';
import { exchange } from '../support/raw-socket.ts';
import { serveInProcess, type InProcess } from '../support/serving.ts';
import {
  arrangeWorkspaces,
  bodyOf,
  makeKeyOver,
  servingWorkspaces,
  withKey,
  type Workspace,
} from '../support/workspace.ts';

const startMs = Date.parse('2027-05-06T07:08:09.123Z');

const challenge = 'ApiKey realm="workspace"';

const iso = (ms: number): string => new Date(ms).toISOString();

const expectRefused = (answer: Answer, code: RefusalCode): void => {
  expectProblem(answer, 401, code);
  expect(answer.headers.get('www-authenticate')).to.equal(challenge);
};

/** Another character of the same alphabet in the place of one. */
const flipped = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);

/** Everything that is no key, made from one that is. */
const malformedOf = (key: string): Readonly<Record<string, string>> => ({
  'no key at all': 'garbage',
  'the prefix alone': 'svc_',
  'another prefix': `sab_${key.slice(4)}`,
  'the prefix in capitals': `SVC_${key.slice(4)}`,
  'no prefix': key.slice(4),
  'one character less': key.slice(0, -1),
  'one character more': `${key}0`,
  'the checksum cut off': key.slice(0, -6),
  'white space within': `${key.slice(0, 20)} ${key.slice(20)}`,
  'white space in the place of a character': `${key.slice(0, 20)} ${key.slice(21)}`,
  'a scheme before it': `Bearer ${key}`,
  'two of them': `${key}, ${key}`,
  'a quoted one': `"${key}"`,
  'a service account’s bearer': createSecrets().fresh('sab_').value,
  'the admin token': adminToken,
});

const sent = (key: string | null, more: Ask = {}): Ask => ({
  token: null,
  ...more,
  headers: { ...(key === null ? {} : { 'X-API-Key': key }), ...more.headers },
});

/** A path of a route in a workspace, whose ids nobody has. */
const pathOf = ({ path }: Route, id: string): string =>
  path.replace('{workspace_id}', id).replaceAll(/\{\w+\}/g, 'nothing');

/** What each route of the API demands at least, written down once more than in the routes themselves. */
const least = ({ method, path }: Route): Role => {
  if (path.includes('api-keys')) return 'admin';
  return method === 'GET' ? 'reader' : 'writer';
};

describe('the authorization of the workspace API', () => {
  const { client, as, workspace, program } = servingWorkspaces(['acme', 'other', 'gone', 'workflows']);

  it('refuses whoever sends no key, or an empty one, as sending none', async () => {
    for (const key of [null, '', ' ', '\t'])
      expectRefused(await client('GET', '/api/acme/agents', sent(key)), 'api-key.missing');
  });

  it('refuses what is no key as malformed, whichever character of it is another', async () => {
    const { key } = workspace('acme').reader;
    for (const [what, wrong] of Object.entries(malformedOf(key))) {
      const answer = await client('GET', '/api/acme/agents', sent(wrong));
      expect([what, answer.status]).to.deep.equal([what, 401]);
      expectRefused(answer, 'api-key.malformed');
    }
    for (let at = 0; at < key.length; at += 1)
      expectRefused(await client('GET', '/api/acme/agents', sent(flipped(key, at))), 'api-key.malformed');
  });

  it('refuses a well-formed key that was never given out as unknown', async () => {
    const { value } = createSecrets().fresh('svc_');
    expectRefused(await client('GET', '/api/acme/agents', sent(value)), 'api-key.unknown');
  });

  it('takes no key but from its own header', async () => {
    const { key } = workspace('acme').admin;
    for (const ask of [
      { token: key },
      { token: null, headers: { Cookie: `X-API-Key=${key}` } },
      { token: null, headers: { 'X-API-Key-2': key } },
    ])
      expectRefused(await client('GET', '/api/acme/agents', ask), 'api-key.missing');
    expectRefused(
      await client('GET', `/api/acme/agents?X-API-Key=${key}`, { token: null }),
      'api-key.missing',
    );
  });

  it('does not choose between two keys', async () => {
    const { key } = workspace('acme').admin;
    const twice = `GET /api/acme/agents HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nx-api-key: ${key}\r\n\r\n`;
    const [answer, ...others] = await exchange(program().port, twice);
    expect(others).to.deep.equal([]);
    if (answer === undefined) throw new Error('Nothing was answered.');
    expectProblem(answer, 400, 'request.malformed');
    expect(answer.body).to.not.contain(key);
  });

  it('refuses a revoked key under each of its secrets', async () => {
    const made = await makeKeyOver(as('acme'), 'acme');
    const path = `/api/acme/api-keys/${made.id}`;
    const rolled = bodyOf<{ key: string }>(
      await as('acme')('POST', `${path}/roll`, { body: { overlap_secs: 60 } }),
    );
    for (const { key } of [made, rolled])
      expect((await client('GET', '/api/acme/agents', sent(key))).status).to.equal(200);
    expect((await as('acme')('DELETE', path)).status).to.equal(204);
    for (const { key } of [made, rolled])
      expectRefused(await client('GET', '/api/acme/agents', sent(key)), 'api-key.revoked');
  });

  it('refuses the keys of a deleted workspace, also once there is another of its id', async () => {
    const keys = roles.map((role) => workspace('gone')[role].key);
    expect((await client('DELETE', '/admin/v1/tenants/gone')).status).to.equal(204);
    const expectAll = async (): Promise<void> => {
      for (const key of keys)
        expectRefused(await client('GET', '/api/gone/agents', sent(key)), 'api-key.revoked');
    };
    await expectAll();
    expect((await client('POST', '/admin/v1/tenants', { body: { id: 'gone' } })).status).to.equal(201);
    await expectAll();
    expect((await client('GET', '/admin/v1/tenants/gone/api-keys')).body).to.deep.equal([]);
  });

  it('asks strangers for a key before anything else, on every path below /api and /workflows', async () => {
    const paths = [
      ...new Set(workspaceRoutes.map((route) => pathOf(route, 'acme'))),
      '/api',
      '/api/',
      '/api/acme',
      '/api/nowhere/agents',
      '/api/acme/nothing',
      '/api//acme',
      '/api/a%20b',
      '/api/%41',
      '/api/acme/agents?limit=x',
      '/api/acme/agents?',
      '/workflows/',
      '/workflows/a/b',
    ];
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    for (const path of paths)
      for (const method of methods)
        expectRefused(await client(method, path, { token: null }), 'api-key.missing');
  });

  it('asks strangers for a key before it looks at what they send', async () => {
    const wrong: readonly Ask[] = [
      { body: '{"name":' },
      { body: { nobody: 1 } },
      { body: 'x'.repeat(2_000_000) },
      { body: '<a/>', headers: { 'Content-Type': 'text/xml' } },
      { headers: { Accept: 'text/html' } },
      { headers: { 'X-Min-Position': 'soon' } },
      { headers: { 'If-Match': '"9"' } },
    ];
    for (const ask of wrong) {
      for (const path of ['/api/acme/agents', '/workflows'])
        expectRefused(await client('POST', path, sent(null, ask)), 'api-key.missing');
      const garbage = await client('PATCH', '/api/acme/agents/a', sent('garbage', ask));
      expectRefused(garbage, 'api-key.malformed');
    }
    const head = await client('HEAD', '/api/acme/agents', { token: null });
    expect([head.status, head.text]).to.deep.equal([401, '']);
  });

  it('takes neither the operator’s tokens nor a service account’s bearer', async () => {
    const { bearer } = await arrangeAccount(client, 'acme');
    for (const token of [adminToken, verifierToken, bearer]) {
      for (const path of ['/api/acme/agents', '/api/acme/api-keys', '/workflows', '/api/nowhere/agents']) {
        expectRefused(await client('GET', path, { token }), 'api-key.missing');
        expectRefused(await client('GET', path, sent(token)), 'api-key.malformed');
      }
    }
  });

  it('is no authorization of the Admin API', async () => {
    const { key } = workspace('acme').admin;
    for (const route of adminRoutes) {
      const path = route.path.replace('{id}', 'acme').replaceAll(/\{\w+\}/g, 'nothing');
      expectProblem(await client(route.method, path, sent(key)), 401, 'authentication.missing');
      expectProblem(await client(route.method, path, { token: key }), 401, 'authentication.invalid');
    }
  });

  it('is by the key alone where a token is sent beside it', async () => {
    const answer = await as('acme', 'reader')('POST', '/api/acme/agents', {
      token: adminToken,
      body: { name: 'a' },
    });
    expectProblem(answer, 403, 'authorization.denied');
  });

  it('keeps a key in its workspace, alike whether another exists or not, before it looks at the input', async () => {
    const details = new Set<string>();
    const scoped = workspaceRoutes.filter(({ tenantParam }) => tenantParam === 'workspace_id');
    for (const role of roles) {
      for (const route of scoped) {
        for (const id of [
          'other',
          'nowhere',
          'ACME',
          'acm',
          'acme~1',
          'a%20b',
          '__proto__',
          'x'.repeat(64),
        ]) {
          const answer = await as('acme', role)(route.method, pathOf(route, id), {
            ...(route.method === 'GET' ? {} : { body: '{"name":' }),
            headers: { Accept: 'text/html' },
          });
          expectProblem(answer, 403, 'authorization.denied');
          details.add((answer.body as { detail: string }).detail);
        }
      }
    }
    expect(details.size).to.equal(1);
  });

  for (const route of workspaceRoutes) {
    const needed = least(route);
    it(`${route.method} ${route.path} takes a key of the role ${needed} at least`, async () => {
      for (const [rank, role] of roles.entries()) {
        const body = route.method === 'GET' || route.method === 'DELETE' ? undefined : '{"name":';
        const ask = body === undefined ? {} : { body };
        const answer = await as('acme', role)(route.method, pathOf(route, 'acme'), ask);
        if (rank < roles.indexOf(needed)) expectProblem(answer, 403, 'authorization.denied');
        else expect(answer.status, `${role}: ${answer.text}`).to.be.oneOf([200, 400, 404]);
      }
    });
  }

  it('leads the paths without a workspace to the key’s own, whatever the workspace is called', async () => {
    for (const id of ['acme', 'workflows']) {
      const made = await as(id)('POST', `/api/${id}/workflows`, { body: { name: `of ${id}` } });
      const { id: workflow } = bodyOf<{ id: string }>(made, 201);
      for (const base of ['/workflows', '/api/workflows', `/api/${id}/workflows`]) {
        const listed = bodyOf<{ workspace_id: string; name: string }[]>(await as(id)('GET', base));
        expect(listed.map((one) => [one.workspace_id, one.name])).to.deep.equal([[id, `of ${id}`]]);
        expect((await as(id)('GET', `${base}/${workflow}`)).body).to.deep.equal(made.body);
      }
    }
    const own = bodyOf<unknown[]>(await as('workflows')('GET', '/api/workflows/api-keys'));
    expect(own).to.have.length(3);
    expect((await as('workflows')('GET', '/api/workflows/agents')).body).to.deep.equal([]);
    const agent = await as('workflows')('POST', '/api/workflows/agents', { body: { name: 'a' } });
    expect(agent.headers.get('location')).to.equal(`/api/workflows/agents/${agent.body.id}`);
    expect((await as('workflows')('GET', `/api/workflows/agents/${agent.body.id}`)).status).to.equal(200);
  });

  it('tells nothing of what it refuses, in the log of events neither', async () => {
    const before = (await logOf(program().dir)).length;
    await client('POST', '/api/acme/agents', { token: null, body: { name: 'a' } });
    await as('other', 'reader')('POST', '/api/acme/agents', { body: { name: 'a' } });
    const types = (await logOf(program().dir)).slice(before).map(({ type }) => type);
    expect(types.filter((type) => type !== 'ApiKeyUsed')).to.deep.equal([]);
  });
});

describe('API keys of workspaces that are called like paths', () => {
  const { client, as } = servingWorkspaces(['api', 'api-keys', 'agents']);

  for (const id of ['api', 'api-keys', 'agents']) {
    it(`work in the workspace ${id}`, async () => {
      for (const kind of ['agents', 'threads', 'workflows', 'api-keys'])
        expect((await as(id)('GET', `/api/${id}/${kind}`)).status, kind).to.equal(200);
      const { id: key } = await makeKeyOver(as(id), id, { name: 'new' });
      expect((await as(id)('GET', `/api/${id}/api-keys/${key}`)).body.name).to.equal('new');
      expect((await as(id)('DELETE', `/api/${id}/api-keys/${key}`)).status).to.equal(204);
      expect((await client('GET', `/admin/v1/tenants/${id}/api-keys`)).body).to.have.length(4);
    });
  }
});

describe('API keys without a control plane', () => {
  const { client, as } = servingWorkspaces(['acme'], { SERVICE_CP_ADMIN_TOKEN: '' });

  it('work, though the Admin API is off', async () => {
    expectProblem(await client('GET', '/admin/v1/tenants'), 404, 'control-plane.not-configured');
    const made = await as('acme')('POST', '/workflows', { body: { name: 'a' } });
    expect(made.status, made.text).to.equal(201);
    const key = await makeKeyOver(as('acme'), 'acme');
    expect((await withKey(client, key)('GET', '/workflows')).body).to.have.length(1);
    expectRefused(await client('GET', '/workflows', { token: null }), 'api-key.missing');
  });
});

describe('the time of an API key', () => {
  let dir: string;
  let service: InProcess;
  let acme: Workspace;
  const clock = createHandClock(startMs);
  before(async () => {
    dir = freshFolder();
    [acme] = (await arrangeWorkspaces(dir, ['acme'], clock.wallMs)) as [Workspace];
    service = await serveInProcess(dir, { clock: clock.wallMs });
  });
  after(async () => {
    await service.stop();
    removeFolder(dir);
  });

  const admin = (...ask: Parameters<InProcess['client']>) => withKey(service.client, acme.admin)(...ask);
  const use = (key: { key: string }) => withKey(service.client, key)('GET', '/api/acme/agents');
  const passUntil = (ms: number): void => clock.pass(ms - clock.wallMs());

  it('is over in the millisecond in which it expires, as the list then says', async () => {
    const expiresMs = clock.wallMs() + 60_000;
    const key = await makeKeyOver(admin, 'acme', { expires_at: iso(expiresMs) });
    passUntil(expiresMs - 1);
    expect((await use(key)).status).to.equal(200);
    expect((await admin('GET', `/api/acme/api-keys/${key.id}`)).body.status).to.equal('active');
    passUntil(expiresMs);
    expectRefused(await use(key), 'api-key.expired');
    expect((await admin('GET', `/api/acme/api-keys/${key.id}`)).body.status).to.equal('expired');
    expectProblem(await admin('POST', `/api/acme/api-keys/${key.id}/roll`), 409, 'api-key.ended');
    expect((await admin('DELETE', `/api/acme/api-keys/${key.id}`)).status).to.equal(204);
    // It was over already: that is the truer answer.
    expectRefused(await use(key), 'api-key.expired');
  });
  it('lasts to the end of its day, UTC, where a date alone was named', async () => {
    const day = iso(clock.wallMs()).slice(0, 10);
    const key = await makeKeyOver(admin, 'acme', { expires_at: day });
    expect(key['expires_at']).to.equal(`${day}T23:59:59.999Z`);
    passUntil(Date.parse(`${day}T23:59:59.998Z`));
    expect((await use(key)).status).to.equal(200);
    passUntil(Date.parse(`${day}T23:59:59.999Z`));
    expectRefused(await use(key), 'api-key.expired');
    clock.pass(1);
    const late = await admin('POST', '/api/acme/api-keys', { body: { name: 'late', expires_at: day } });
    expect(expectProblem(late, 400, 'api-key.expiry-in-past').map(({ pointer }) => pointer)).to.deep.equal([
      '/expires_at',
    ]);
  });
  it('is over for a secret that was rolled away: at once, or in the millisecond that its overlap ends', async () => {
    const first = await makeKeyOver(admin, 'acme');
    const path = `/api/acme/api-keys/${first.id}/roll`;
    const rolledAtMs = clock.wallMs();
    const second = bodyOf<{ key: string }>(await admin('POST', path, { body: { overlap_secs: 60 } }));
    passUntil(rolledAtMs + 59_999);
    expect([(await use(first)).status, (await use(second)).status]).to.deep.equal([200, 200]);
    passUntil(rolledAtMs + 60_000);
    expectRefused(await use(first), 'api-key.revoked');
    const third = bodyOf<{ key: string }>(await admin('POST', path));
    expectRefused(await use(second), 'api-key.revoked');
    expect((await use(third)).status).to.equal(200);
  });
  it('ends an overlap with a roll that has none', async () => {
    const first = await makeKeyOver(admin, 'acme');
    const path = `/api/acme/api-keys/${first.id}/roll`;
    const second = bodyOf<{ key: string }>(await admin('POST', path, { body: { overlap_secs: 604_800 } }));
    const third = bodyOf<{ key: string }>(await admin('POST', path, { body: {} }));
    for (const key of [first, second]) expectRefused(await use(key), 'api-key.revoked');
    expect((await use(third)).status).to.equal(200);
  });
});

describe('an API key that ends while the body of its request is still on its way', () => {
  const { client, as, program } = servingWorkspaces(['acme', 'slow']);
  /** A creation whose body has begun and waits for its end. */
  const begin = async (path: string, { key }: { key: string }) => {
    const wish = JSON.stringify(path.endsWith('/threads') ? { title: 'slow' } : { name: 'slow' });
    const asked = request(program().url + path, {
      method: 'POST',
      headers: {
        'X-API-Key': key,
        'Content-Type': 'application/json',
        'Content-Length': wish.length,
        Expect: '100-continue',
      },
    });
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    asked.flushHeaders();
    await once(asked, 'continue');
    asked.write(wish.slice(0, 5));
    return async (): Promise<readonly [number, string | undefined]> => {
      asked.end(wish.slice(5));
      const [answer] = await answered;
      answer.resume();
      return [answer.statusCode ?? 0, answer.headers['www-authenticate']];
    };
  };

  const kinds = ['agents', 'threads', 'workflows', 'api-keys'];
  const listed = async (id: string) =>
    Promise.all(kinds.map(async (kind) => (await as(id)('GET', `/api/${id}/${kind}`)).body as unknown[]));

  it('does nothing any more where it is revoked or rolled away', async () => {
    for (const [method, how] of [
      ['DELETE', ''],
      ['POST', '/roll'],
    ] as const) {
      for (const kind of kinds) {
        const key = await makeKeyOver(as('acme'), 'acme', { role: 'admin' });
        const before = await listed('acme');
        const finish = await begin(`/api/acme/${kind}`, key);
        expect((await as('acme')(method, `/api/acme/api-keys/${key.id}${how}`)).status).to.be.below(300);
        expect(await finish(), `${kind} ${method}`).to.deep.equal([401, challenge]);
        expect((await listed('acme')).map(({ length }) => length)).to.deep.equal(
          before.map(({ length }) => length),
        );
      }
    }
  });
  it('does nothing any more where its workspace is deleted', async () => {
    const key = await makeKeyOver(as('slow'), 'slow', { role: 'writer' });
    const finish = await begin('/workflows', key);
    expect((await client('DELETE', '/admin/v1/tenants/slow')).status).to.equal(204);
    expect(await finish()).to.deep.equal([401, challenge]);
  });
  it('makes what it was asked to where nothing ended it', async () => {
    const key = await makeKeyOver(as('acme'), 'acme', { role: 'writer' });
    const finish = await begin('/workflows', key);
    expect(await finish()).to.deep.equal([201, undefined]);
  });
});
