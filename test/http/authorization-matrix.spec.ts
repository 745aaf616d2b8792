import { expect } from 'chai';
import { adminRoutes } from '../../src/http/routes/index.ts';
import type { Route } from '../../src/http/route.ts';
import type { RefusalCode } from '../../src/refusals.ts';
import {
  arrangeCallers,
  knownCallers,
  previousAdminToken,
  strangers,
  type Caller,
  type Cast,
} from '../support/callers.ts';
import { createClient, type Answer, type Ask, type Client } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { freshPem } from '../support/sealing.ts';

type Expected = number | readonly [status: number, code: RefusalCode];

/** One route: what is asked of it, and what each kind of caller is answered. */
type Row = {
  readonly path?: (cast: Cast) => string;
  readonly body?: (nth: number) => object;
  readonly admin: Expected;
  readonly verifier: Expected;
  readonly own: Expected;
  readonly sibling: Expected;
  readonly other: Expected;
};

const denied = [403, 'authorization.denied'] as const;

const onlyAdmin = (admin: Expected, ask: Pick<Row, 'path' | 'body'> = {}): Row => ({
  ...ask,
  admin,
  verifier: denied,
  own: denied,
  sibling: denied,
  other: denied,
});

const password = 'a password of the matrix';

/** By operation. Paths lead to the tenant `acme` unless a row says otherwise. */
const matrix: Readonly<Record<string, Row>> = {
  createTenant: onlyAdmin(201, { body: (nth) => ({ id: `tenant-${nth}` }) }),
  listTenants: onlyAdmin(200),
  getTenant: onlyAdmin(200),
  deleteTenant: onlyAdmin(204, { path: () => '/admin/v1/tenants/nowhere' }),
  createUser: onlyAdmin(201, { body: (nth) => ({ username: `user-${nth}`, password }) }),
  listUsers: onlyAdmin(200),
  getUser: onlyAdmin([404, 'user.unknown']),
  deleteUser: onlyAdmin([404, 'user.unknown']),
  createServiceAccount: onlyAdmin(201, {
    body: () => ({ name: 'new', tenant_id: 'acme', max_role: 'reader', max_ttl_secs: 60 }),
  }),
  listServiceAccounts: onlyAdmin(200),
  getServiceAccount: onlyAdmin(200),
  rotateServiceAccountBearer: onlyAdmin([404, 'service-account.unknown'], {
    path: () => '/admin/v1/service-accounts/sa_none/rotate',
  }),
  deleteServiceAccount: onlyAdmin(204, { path: () => '/admin/v1/service-accounts/sa_none' }),
  mintCredential: {
    body: () => ({ subject: 'matrix', role: 'reader', ttl_secs: 60 }),
    admin: denied,
    verifier: denied,
    own: 201,
    sibling: 201,
    other: denied,
  },
  listCredentials: { admin: 200, verifier: denied, own: 200, sibling: 200, other: denied },
  getCredential: {
    path: ({ credential }) => `/admin/v1/tenants/acme/tokens/${credential}`,
    admin: 200,
    verifier: denied,
    own: 200,
    sibling: [403, 'credential.not-yours'],
    other: denied,
  },
  revokeCredential: {
    path: ({ credential }) => `/admin/v1/tenants/acme/tokens/${credential}`,
    admin: 204,
    verifier: denied,
    own: 204,
    sibling: [403, 'credential.not-yours'],
    other: denied,
  },
  listTenantApiKeys: onlyAdmin(200),
  getTenantApiKey: onlyAdmin([404, 'api-key.not-found']),
  revokeTenantApiKey: onlyAdmin([404, 'api-key.not-found']),
  listActivity: onlyAdmin(200),
  listEvents: onlyAdmin(200),
  getEvent: onlyAdmin([404, 'event.unknown'], { path: () => `/admin/v1/events/${'9'.repeat(20)}` }),
  getEventChain: onlyAdmin([404, 'event.unknown'], {
    path: () => `/admin/v1/events/${'9'.repeat(20)}/chain`,
  }),
  getEventProof: onlyAdmin([404, 'event.unknown'], {
    path: () => `/admin/v1/events/${'9'.repeat(20)}/proof`,
  }),
  listCheckpoints: onlyAdmin(200),
  createCheckpoint: onlyAdmin(200),
  getVerifierKey: onlyAdmin(200),
  getConsistencyProof: onlyAdmin([404, 'checkpoint.unknown'], {
    path: () => '/admin/v1/checkpoints/consistency?first=99999999',
  }),
  listTenantAccess: onlyAdmin(200),
  listPrincipalAccess: onlyAdmin(200, { path: () => '/admin/v1/access?principal=user:acme/alice' }),
  diff: onlyAdmin(200, { path: () => '/admin/v1/diff?from=2026-01-01T00:00:00Z' }),
  authenticate: {
    body: () => ({ username: 'nobody', password }),
    admin: 200,
    verifier: 200,
    own: denied,
    sibling: denied,
    other: denied,
  },
  getCapabilities: { admin: 200, verifier: denied, own: 200, sibling: 200, other: 200 },
  listReadModels: onlyAdmin(200),
  rebuildReadModel: onlyAdmin([404, 'projection.unknown']),
};

/** The same wish, turned on a tenant that is not the caller's. */
const ofTenant = ['mintCredential', 'listCredentials', 'getCredential', 'revokeCredential'];

const columnOf = (
  caller: (typeof knownCallers)[number],
): 'admin' | 'verifier' | 'own' | 'sibling' | 'other' => {
  switch (caller) {
    case 'admin':
    case 'previous admin':
      return 'admin';
    case 'verifier':
      return 'verifier';
    case 'own bearer':
    case 'bearer in grace':
      return 'own';
    case 'sibling’s bearer':
      return 'sibling';
    case 'other tenant’s bearer':
      return 'other';
  }
};

const expectStranger = (answer: Answer, caller: Caller): void => {
  const isMissing = caller === 'no token';
  expectProblem(answer, 401, isMissing ? 'authentication.missing' : 'authentication.invalid');
  expect(answer.headers.get('www-authenticate')).to.equal(
    isMissing ? 'Bearer realm="admin"' : 'Bearer realm="admin", error="invalid_token"',
  );
};

describe('the authorization matrix', () => {
  let program: Program;
  let client: Client;
  let cast: Cast;
  let asked = 0;

  before(async () => {
    program = await startProgram({
      dir: freshFolder(),
      env: { SERVICE_CP_ADMIN_TOKEN_PREVIOUS: previousAdminToken, SERVICE_SIGNING_KEY: freshPem() },
    });
    client = createClient(program.url);
    cast = await arrangeCallers(client);
  });
  after(async () => {
    await program.stop();
    removeFolder(program.dir);
  });

  const as = (caller: Caller, more: Ask = {}): Ask => {
    const sent = cast.headers[caller];
    return {
      token: null,
      ...more,
      headers: { ...more.headers, ...(sent === null ? {} : { Authorization: sent }) },
    };
  };

  const pathOf = ({ path, id }: Route): string =>
    matrix[id]?.path?.(cast) ??
    path
      .replace('service-accounts/{id}', `service-accounts/${cast.account}`)
      .replace('{id}', 'acme')
      .replaceAll(/\{\w+\}/g, 'nobody');

  const ask = (route: Route, caller: Caller): Promise<Answer> => {
    const body = matrix[route.id]?.body?.((asked += 1));
    return client(route.method, pathOf(route), as(caller, body === undefined ? {} : { body }));
  };

  it('has a row for every route, and a route for every row', () => {
    expect(Object.keys(matrix)).to.have.members(adminRoutes.map(({ id }) => id));
  });

  for (const route of adminRoutes) {
    it(`${route.method} ${route.path} knows its callers`, async () => {
      for (const caller of knownCallers) {
        const expected = matrix[route.id]?.[columnOf(caller)];
        const answer = await ask(route, caller);
        if (typeof expected === 'object') expectProblem(answer, ...expected);
        else expect(answer.status, `${caller}: ${answer.text}`).to.equal(expected);
      }
    });

    it(`${route.method} ${route.path} answers strangers 401`, async () => {
      for (const caller of strangers) expectStranger(await ask(route, caller), caller);
    });
  }

  it('keeps a bearer in its tenant, whether another tenant exists or not', async () => {
    const routes = adminRoutes.filter(({ id }) => ofTenant.includes(id));
    expect(routes).to.have.length(ofTenant.length);
    const details = new Set<string>();
    for (const tenant of ['other', 'nowhere', 'gone', 'ACME']) {
      for (const { method, path, id } of routes) {
        const body = matrix[id]?.body?.(0);
        const at = path.replace('{id}', tenant).replace('{username}', cast.credential);
        const answer = await client(method, at, as('own bearer', body === undefined ? {} : { body }));
        expectProblem(answer, ...denied);
        details.add((answer.body as { detail: string }).detail);
      }
    }
    expect(details.size).to.equal(1);
  });

  it('shows a bearer its own credentials only', async () => {
    const { body } = await client('GET', '/admin/v1/tenants/acme/tokens', as('own bearer'));
    const minters = new Set((body as { service_account_id: string }[]).map((one) => one.service_account_id));
    expect([...minters]).to.deep.equal([cast.account]);
  });

  it('tells strangers nothing of what there is below /admin/v1, whatever they send', async () => {
    const paths = [
      '',
      '/',
      '/nowhere',
      '/tenants',
      '/tenants/',
      '/tenants/acme',
      '/tenants/nowhere',
      '/x?y',
      '//x',
    ];
    const wishes = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) =>
      paths.map((path) => ({ method, path: `/admin/v1${path}` })),
    );
    const sent: Ask[] = [
      {},
      { headers: { Accept: 'text/html' } },
      { body: '{"id":' },
      { body: 'x'.repeat(2_000_000) },
    ];
    for (const caller of ['no token', 'garbage token'] as const) {
      for (const { method, path } of wishes) expectStranger(await client(method, path, as(caller)), caller);
      for (const more of sent)
        expectStranger(await client('DELETE', '/admin/v1/tenants/acme', as(caller, more)), caller);
      const head = await client('HEAD', '/admin/v1/tenants/acme', as(caller));
      expect([head.status, head.text]).to.deep.equal([401, '']);
    }
  });

  it('refuses a caller that may not before it looks at the input', async () => {
    for (const more of [{ body: '{"id":' }, { body: { id: '!' } }, { headers: { Accept: 'text/html' } }])
      expectProblem(await client('POST', '/admin/v1/tenants', as('own bearer', more)), ...denied);
  });
});
