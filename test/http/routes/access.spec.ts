import { expect } from 'chai';
import { arrangeAccount, mint, type Client } from '../../support/client.ts';
import { createHandClock } from '../../support/hand-clock.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { freshFolder, removeFolder } from '../../support/program.ts';
import { pick as pickOf, seeded, testRounds, testSeed } from '../../support/random.ts';
import { serveInProcess, serving, type InProcess } from '../../support/serving.ts';
import { arrangeWorkspaces, bodyOf, withKey, type Key } from '../../support/workspace.ts';

/** Acts of one random history. */
const acts = 110;

/** Users that it makes at most: each password that is tried costs a slow hash. */
const usersMax = 6;

/** A list that never ends is a fault too. */
const pagesMax = 100;

type Access = {
  readonly principal: string;
  readonly kind: string;
  readonly tenant: string;
  readonly name: string;
  readonly role: string;
  readonly generation?: number;
  readonly from: string;
  readonly until: string | null;
  readonly granted_by: { readonly id: string; readonly actor: string; readonly type: string };
  readonly ended_by: { readonly kind: string; readonly actor?: string; readonly type?: string } | null;
};

const list = async (client: Client, path: string): Promise<readonly Access[]> =>
  bodyOf<readonly Access[]>(await client('GET', path));

describe('access over HTTP', () => {
  const { client } = serving();
  const password = 'a password of alice';
  let account: { readonly id: string; readonly bearer: string };
  let minted: string;

  before(async () => {
    account = await arrangeAccount(client, 'acme', { max_role: 'writer' });
    await client('POST', '/admin/v1/tenants/acme/users', { body: { username: 'alice', password } });
    minted = (await mint(client, 'acme', account.bearer, { role: 'writer', write_schemas: ['s'] })).username;
  });

  it('tells who can get in now, as what, since when, until when, and by which event', async () => {
    const answer = await client('GET', '/admin/v1/tenants/acme/access');
    const all = bodyOf<readonly Access[]>(answer);
    expect(
      all.map(({ principal, name, role, until }) => [principal, name, role, until === null]),
    ).to.deep.equal([
      [`service_account:${account.id}`, 'tester', 'writer', true],
      ['user:acme/alice', 'alice', 'reader', true],
      [`credential:${minted}`, 'tester', 'writer', false],
    ]);
    expect(all[0]).to.include({ generation: 1, ended_by: null, tenant: 'acme', kind: 'service_account' });
    expect(all[2]).to.deep.include({ write_schemas: ['s'], ended_by: { kind: 'expiry' } });
    expect(all.map(({ granted_by }) => [granted_by.type, granted_by.actor])).to.deep.equal([
      ['ServiceAccountCreated', 'admin'],
      ['UserCreated', 'admin'],
      ['CredentialMinted', `service_account:${account.id}`],
    ]);
    expect(answer.text).to.not.match(/digest|hash|argon2|tk_|sab_|svc_/);
  });
  it('names the very events that are in the activity', async () => {
    const activity = bodyOf<readonly Record<string, string>[]>(
      await client('GET', '/admin/v1/tenants/acme/activity'),
    );
    const known = new Map(activity.map((act) => [act['id'], act]));
    for (const { granted_by } of await list(client, '/admin/v1/tenants/acme/access')) {
      const { id, position, type, actor, time } = known.get(granted_by.id) ?? {};
      expect(granted_by).to.deep.equal({ id, position, type, actor, time });
    }
  });
  it('answers of a tenant that is deleted, and of none that never was', async () => {
    const { id, bearer } = await arrangeAccount(client, 'gone');
    await mint(client, 'gone', bearer);
    const before = new Date().toISOString();
    const [was] = await list(client, `/admin/v1/tenants/gone/access?at=${before}`);
    expect(was).to.include({ principal: `service_account:${id}`, until: null });
    await client('DELETE', '/admin/v1/tenants/gone');
    expect(await list(client, '/admin/v1/tenants/gone/access')).to.deep.equal([]);
    const all = await list(client, `/admin/v1/tenants/gone/access?to=${before}`);
    expect(all.map(({ kind, ended_by: end }) => [kind, end?.kind, end?.type])).to.deep.equal([
      ['service_account', 'cascade', 'TenantDeleted'],
      ['credential', 'cascade', 'TenantDeleted'],
    ]);
    expect((await list(client, `/admin/v1/access?principal=service_account:${id}`))[0]).to.deep.equal(all[0]);
    expectProblem(await client('GET', '/admin/v1/tenants/nowhere/access'), 404, 'tenant.unknown');
    expect(await list(client, '/admin/v1/access?principal=user:nowhere/alice')).to.deep.equal([]);
  });
  it('comes in pages that keep the moment, in either order', async () => {
    for (const order of ['asc', 'desc']) {
      const path = `/admin/v1/tenants/paged-${order}/access?order=${order}`;
      const { bearer } = await arrangeAccount(client, `paged-${order}`);
      for (let n = 0; n < 5; n += 1)
        await mint(client, `paged-${order}`, bearer, { subject: `subject ${n}` });
      const whole = await list(client, path);
      expect(whole.map(({ name }) => name).toSorted()[0]).to.equal('subject 0');
      expect(whole).to.have.length(6);
      const seen: Access[] = [];
      let next: string | undefined = `${path}&limit=2`;
      for (let pages = 0; next !== undefined && pages < pagesMax; pages += 1) {
        const answer = await client('GET', next);
        seen.push(...bodyOf<readonly Access[]>(answer));
        next = /^<([^>]*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
        // What is granted between the pages was not there when the first was asked for.
        await mint(client, `paged-${order}`, bearer);
      }
      expect(seen, order).to.deep.equal(whole);
    }
  });
  it('leaves out all kinds but the one that is asked for, from every page', async () => {
    const path = '/admin/v1/tenants/acme/access?kind=user&limit=1';
    const first = await client('GET', path);
    expect(bodyOf<readonly Access[]>(first).map(({ principal }) => principal)).to.deep.equal([
      'user:acme/alice',
    ]);
    const all = await list(client, '/admin/v1/tenants/acme/access');
    for (const kind of ['user', 'service_account', 'credential', 'api_key'])
      expect(await list(client, `/admin/v1/tenants/acme/access?kind=${kind}`)).to.deep.equal(
        all.filter((one) => one.kind === kind),
      );
    const wrong = await client('GET', '/admin/v1/tenants/acme/access?kind=king');
    expect(expectInvalid(wrong)).to.deep.equal(['/kind']);
  });

  it('refuses what is no time, no interval, or no principal', async () => {
    const time = '2026-01-01T00:00:00Z';
    const bad = {
      'at=yesterday': '/at',
      'from=2026-13-01T00:00:00Z': '/from',
      'to=': '/to',
      [`at=${time}&from=${time}`]: '/at',
      [`at=${time}&to=${time}`]: '/at',
      [`from=${time}&to=${time}`]: '/to',
      'limit=0': '/limit',
      since: '/since',
    };
    for (const [query, pointer] of Object.entries(bad)) {
      const answers = [
        `/admin/v1/tenants/acme/access?${query}`,
        `/admin/v1/access?principal=user:a/b&${query}`,
      ];
      for (const path of answers)
        expect(expectInvalid(await client('GET', path)), path).to.deep.equal([pointer]);
    }
    for (const principal of ['', 'alice', 'user:alice', 'user:a/b/c', 'admin', 'session:x', 'api_key:'])
      expect(expectInvalid(await client('GET', `/admin/v1/access?principal=${principal}`))).to.deep.equal([
        '/principal',
      ]);
    expect(expectInvalid(await client('GET', '/admin/v1/access'))).to.deep.equal(['/principal']);
  });
});

/** A secret that was given out: how access names it, and whether it works now. */
type Held = { readonly tenant: string; readonly name: string; readonly works: () => Promise<boolean> };

/** What worked at one moment, by tenant. */
type Moment = { readonly at: string; readonly working: readonly string[] };

const nameOf = ({ tenant, principal, kind, generation, from }: Access): string =>
  `${tenant} ${principal}${generation === undefined ? '' : `#${generation}`}${kind === 'user' ? ` ${from}` : ''}`;

describe('access over a random history', () => {
  const seed = testSeed();
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => pickOf(random, from) as T;
  const dir = freshFolder();
  const clock = createHandClock(Date.parse('2026-11-21T09:00:00.000Z'));
  const tenants = ['a', 'b', 'w'];
  const held: Held[] = [];
  const accounts: { readonly id: string; readonly tenant: string; bearer: string; generation: number }[] = [];
  const keys: { readonly id: string; generation: number }[] = [];
  const tokens: { readonly tenant: string; readonly username: string }[] = [];
  let users = 0;
  let service: InProcess;
  let admin: Client;
  let member: Client;

  const holdBearer = (tenant: string, id: string, generation: number, token: string): void => {
    const works = async () => (await admin('GET', '/admin/v1/capabilities', { token })).status === 200;
    held.push({ tenant, name: `service_account:${id}#${generation}`, works });
  };
  const holdKey = (tenant: string, { id, key }: Key, generation: number): void => {
    const caller = withKey(admin, { key });
    const works = async () => (await caller('GET', `/api/${tenant}/agents`)).status === 200;
    held.push({ tenant, name: `api_key:${id}#${generation}`, works });
  };
  const holdPair = (tenant: string, name: string, pair: { username: string; password: string }): void => {
    const body = { username: pair.username, password: pair.password };
    const works = async () =>
      bodyOf<{ active: boolean }>(await admin('POST', `/admin/v1/tenants/${tenant}/authenticate`, { body }))
        .active;
    held.push({ tenant, name, works });
  };

  before(async () => {
    const workspaces = await arrangeWorkspaces(dir, ['w', 'a'], clock.wallMs);
    service = await serveInProcess(dir, { clock: clock.wallMs });
    admin = service.client;
    for (const { id, admin: first, reader, writer } of workspaces) {
      for (const key of [first, reader, writer]) holdKey(id, key, 1);
      if (id !== 'w') continue;
      member = withKey(admin, first);
      keys.push({ id: reader.id, generation: 1 }, { id: writer.id, generation: 1 });
    }
  });
  after(async () => {
    await service.stop();
    removeFolder(dir);
  });

  const create = () => admin('POST', '/admin/v1/tenants', { body: { id: pick(['a', 'b']) } });
  const makeAccount = async () => {
    const tenant = pick(['a', 'b']);
    const body = { name: 'robot', tenant_id: tenant, max_role: 'writer', max_ttl_secs: 600 };
    const answer = await admin('POST', '/admin/v1/service-accounts', { body });
    if (answer.status !== 201) return;
    const { id, bearer } = answer.body;
    accounts.push({ id, tenant, bearer, generation: 1 });
    holdBearer(tenant, id, 1, bearer);
  };
  const mintOne = async () => {
    // The latest: earlier ones may be gone.
    const account = pick(accounts.slice(-3));
    if (account === undefined) return;
    const { tenant, bearer: token } = account;
    const body = { subject: 'ci', role: pick(['reader', 'writer']), ttl_secs: pick([1, 3, 60, 600]) };
    const answer = await admin('POST', `/admin/v1/tenants/${tenant}/tokens`, { token, body });
    if (answer.status !== 201) return;
    tokens.push({ tenant, username: answer.body.username });
    holdPair(tenant, `credential:${answer.body.username}`, answer.body);
  };
  const some: readonly (() => Promise<unknown>)[] = [
    create,
    create,
    () => admin('DELETE', `/admin/v1/tenants/${pick(['a', 'b'])}`),
    async () => {
      if (users >= usersMax) return;
      const tenant = pick(['a', 'b']);
      const body = { username: pick(['alice', 'Alice']), password: `password ${users}`, role: 'reader' };
      const { status, body: made } = await admin('POST', `/admin/v1/tenants/${tenant}/users`, { body });
      if (status !== 201) return;
      users += 1;
      holdPair(tenant, `user:${tenant}/${body.username} ${made.created_at}`, body);
    },
    () => admin('DELETE', `/admin/v1/tenants/${pick(['a', 'b'])}/users/alice`),
    makeAccount,
    makeAccount,
    async () => {
      const account = pick(accounts);
      const path = `/admin/v1/service-accounts/${account?.id}/rotate`;
      const { status, body } = await admin('POST', path, { body: { grace_secs: pick([0, 3, 60]) } });
      if (account === undefined || status !== 200) return;
      account.bearer = body.bearer;
      holdBearer(account.tenant, account.id, (account.generation += 1), body.bearer);
    },
    () =>
      admin(
        'DELETE',
        `/admin/v1/service-accounts/${pick(accounts.slice(-3))?.id}?credentials=${pick(['keep', 'revoke'])}`,
      ),
    mintOne,
    mintOne,
    mintOne,
    async () => {
      const token = pick(tokens);
      if (token !== undefined)
        await admin('DELETE', `/admin/v1/tenants/${token.tenant}/tokens/${token.username}`);
    },
    async () => {
      const expires_at = pick([null, new Date(clock.wallMs() + 5_000).toISOString()]);
      const answer = await member('POST', '/api/w/api-keys', {
        body: { name: 'key', role: pick(['reader', 'writer']), expires_at },
      });
      keys.push({ id: answer.body.id, generation: 1 });
      holdKey('w', answer.body, 1);
    },
    async () => {
      const key = pick(keys);
      const path = `/api/w/api-keys/${key.id}/roll`;
      const { status, body } = await member('POST', path, { body: { overlap_secs: pick([0, 3, 60]) } });
      if (status === 200) holdKey('w', body, (key.generation += 1));
    },
    () => member('DELETE', `/api/w/api-keys/${pick(keys).id}`),
  ];

  const working = async (): Promise<readonly string[]> => {
    const all: string[] = [];
    for (const { tenant, name, works } of held) if (await works()) all.push(`${tenant} ${name}`);
    return all.toSorted();
  };
  const accessAt = async (query: string): Promise<readonly Access[]> => {
    const all: Access[] = [];
    for (const tenant of tenants) {
      const answer = await admin('GET', `/admin/v1/tenants/${tenant}/access?${query}`);
      if (answer.status !== 404) all.push(...bodyOf<readonly Access[]>(answer));
    }
    return all;
  };

  it('names at every moment exactly those whose secrets worked then', async () => {
    for (let round = 0; round < testRounds(1); round += 1) {
      const moments: Moment[] = [];
      for (let n = 0; n < acts; n += 1) {
        clock.pass(pick([1, 700, 1_500]));
        await pick(some)();
        const at = new Date(clock.wallMs()).toISOString();
        moments.push({ at, working: await working() });
        expect((await accessAt('')).map(nameOf).toSorted(), `now, ${at}, seed ${seed}`).to.deep.equal(
          moments.at(-1)?.working,
        );
      }
      clock.pass(100_000);
      for (const { at, working: then } of moments)
        expect((await accessAt(`at=${at}`)).map(nameOf).toSorted(), `${at}, seed ${seed}`).to.deep.equal(
          then,
        );
      const names = new Set(moments.flatMap(({ working: then }) => then));
      expect(names.size, `seed ${seed}`).to.be.greaterThan(10);
    }
  }).timeout(240_000);

  it('names over an interval those who had it at some time of it, and to each principal what it had', async () => {
    const all = await accessAt('to=2030-01-01T00:00:00Z');
    expect(all).to.have.length(held.length);
    const start = Date.parse('2026-11-21T09:00:00.000Z');
    for (const [first, last] of [
      [0, 10_000],
      [9_000, 9_001],
      [20_000, 30_000],
    ] as const) {
      const [from, to] = [new Date(start + first), new Date(start + last)].map((at) => at.toISOString());
      const within = all.filter((one) => one.from < `${to}` && (one.until === null || one.until > `${from}`));
      expect(await accessAt(`from=${from}&to=${to}`), `${from} ${to}, seed ${seed}`).to.deep.equal(within);
    }
    for (const principal of new Set(all.map((one) => one.principal))) {
      const own = await list(admin, `/admin/v1/access?principal=${encodeURIComponent(principal)}`);
      const isSame = (one: Access): boolean => one.principal.toLowerCase() === principal.toLowerCase();
      expect(own, `${principal}, seed ${seed}`).to.deep.equal(all.filter(isSame));
    }
  }).timeout(60_000);

  it('finds what was granted long before and ends long after, and nothing that was granted since', async () => {
    const dayMs = 86_400_000;
    const body = { name: 'robot', tenant_id: 'w', max_role: 'writer', max_ttl_secs: 86_400 };
    const { bearer } = bodyOf<{ bearer: string }>(
      await admin('POST', '/admin/v1/service-accounts', { body }),
      201,
    );
    const startMs = clock.wallMs();
    const days = [0, 1, 2, 3, 4];
    for (const day of days) {
      await mint(admin, 'w', bearer, { subject: `day ${day}`, ttl_secs: 86_400 });
      clock.pass(dayMs + 1);
    }
    for (const order of ['asc', 'desc']) {
      for (const day of days) {
        for (const [ms, there] of [
          [0, true],
          [dayMs - 1, true],
          [dayMs, false],
        ] as const) {
          const at = new Date(startMs + day * (dayMs + 1) + ms).toISOString();
          const found = await list(admin, `/admin/v1/tenants/w/access?at=${at}&order=${order}`);
          const names = found.map(({ name }) => name).filter((name) => name.startsWith('day'));
          expect(names, `${at} ${order}`).to.deep.equal(there ? [`day ${day}`] : []);
        }
      }
    }
  });
});
