import { expect } from 'chai';
import { codec } from '../../../src/events/index.ts';
import { roles } from '../../../src/http/schemas.ts';
import { createSecrets } from '../../../src/secrets/tokens.ts';
import type { Answer, Client } from '../../support/client.ts';
import { logOf } from '../../support/engines.ts';
import { createHandClock } from '../../support/hand-clock.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { freshFolder, removeFolder } from '../../support/program.ts';
import { serveInProcess, type InProcess } from '../../support/serving.ts';
import { until } from '../../support/waiting.ts';
import {
  arrangeWorkspaces,
  bodyOf,
  makeKeyOver,
  servingWorkspaces,
  withKey,
  type Workspace,
} from '../../support/workspace.ts';

type Shown = { readonly id: string; readonly [member: string]: unknown };

const members = [
  'created_at',
  'created_by',
  'expires_at',
  'id',
  'last_used_at',
  'name',
  'prefix',
  'role',
  'status',
  'workspace_id',
];

describe('API keys', () => {
  const { client, as, workspace, program } = servingWorkspaces(['acme', 'other', 'paged']);
  const path = '/api/acme/api-keys';
  const admin: Client = (...ask) => as('acme')(...ask);
  const shown = async (id: string): Promise<Shown> => bodyOf(await admin('GET', `${path}/${id}`));
  const make = (wish: object = {}) => makeKeyOver(admin, 'acme', wish);

  it('are answered once with the key, and with everything that is chosen', async () => {
    const before = Date.now();
    const body = {
      name: 'Monthly <b>reports</b> & "more"',
      role: 'writer',
      expires_at: '2999-01-02T03:04:05Z',
    };
    const answer = await admin('POST', path, { body });
    const { key, ...record } = bodyOf<Shown & { key: string }>(answer, 201);
    const { id, created_at } = record;
    expect(key).to.match(/^svc_[0-9A-Za-z]{49}$/);
    expect(createSecrets().isWellFormed('svc_', key)).to.equal(true);
    expect(record).to.deep.equal({
      id,
      workspace_id: 'acme',
      name: body.name,
      role: 'writer',
      created_by: `api_key:${workspace('acme').admin.id}`,
      created_at,
      expires_at: '2999-01-02T03:04:05.000Z',
      last_used_at: null,
      prefix: key.slice(0, 10),
      status: 'active',
    });
    expect(id).to.match(/^key_[0-9a-f]{32}$/);
    expect(Date.parse(created_at as string)).to.be.within(before, Date.now() + 1);
    expect(answer.headers.get('location')).to.equal(`${path}/${id}`);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(await shown(id)).to.deep.equal(record);
  });
  it('are a reader’s and never expire unless more is asked for', async () => {
    expect(await make()).to.include({ role: 'reader', expires_at: null, name: 'made' });
    expect(await make({ expires_at: null })).to.include({ expires_at: null });
  });
  it('are another one each time, in any role up to the maker’s own', async () => {
    const made = await Promise.all(roles.map((role) => make({ role })));
    expect(new Set(made.map(({ key }) => key)).size).to.equal(3);
    for (const { key } of made)
      expect((await withKey(client, { key })('GET', '/api/acme/agents')).status).to.equal(200);
  });
  it('expire at an instant, told in any offset, or at the end of a day, UTC', async () => {
    for (const [sent, kept] of [
      ['2999-01-02', '2999-01-02T23:59:59.999Z'],
      ['2996-02-29', '2996-02-29T23:59:59.999Z'],
      ['2999-01-02T00:00:00Z', '2999-01-02T00:00:00.000Z'],
      ['2999-01-02T00:30:00+02:00', '2999-01-01T22:30:00.000Z'],
      ['2999-12-31T23:30:00.5-01:00', '3000-01-01T00:30:00.500Z'],
      ['9999-12-31', '9999-12-31T23:59:59.999Z'],
    ]) {
      const made = await make({ expires_at: sent });
      expect(made['expires_at'], sent).to.equal(kept);
      expect((await shown(made.id))['expires_at'], sent).to.equal(kept);
    }
  });
  it('never expire beyond what an instant can be, and are not made then', async () => {
    for (const expires_at of ['9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59.999-23:59']) {
      const answer = await admin('POST', path, { body: { name: 'late', expires_at } });
      expect(expectInvalid(answer), expires_at).to.deep.equal(['/expires_at']);
    }
  });
  it('are not made where they would have expired', async () => {
    for (const expires_at of [
      '2020-01-01',
      '2020-01-01T00:00:00Z',
      '0001-01-01',
      '0000-01-01T00:00:00+01:00',
    ]) {
      const answer = await admin('POST', path, { body: { name: 'old', expires_at } });
      const errors = expectProblem(answer, 400, 'api-key.expiry-in-past');
      expect(errors.map(({ pointer }) => pointer)).to.deep.equal(['/expires_at']);
    }
  });

  const wrong: readonly (readonly [unknown, readonly string[]])[] = [
    [{}, ['/name']],
    [{ name: '' }, ['/name']],
    [{ name: 'x'.repeat(129) }, ['/name']],
    [{ name: 'a\nb' }, ['/name']],
    [{ name: 'a\uD800' }, ['/name']],
    [{ name: null }, ['/name']],
    [{ name: 'a', role: 'owner' }, ['/role']],
    [{ name: 'a', role: null }, ['/role']],
    [{ name: 'a', expires_at: '' }, ['/expires_at']],
    [{ name: 'a', expires_at: 'tomorrow' }, ['/expires_at']],
    [{ name: 'a', expires_at: '2999-02-29' }, ['/expires_at']],
    [{ name: 'a', expires_at: '2999-1-2' }, ['/expires_at']],
    [{ name: 'a', expires_at: '2999-01-02T00:00:00' }, ['/expires_at']],
    [{ name: 'a', expires_at: '2999-01-02T25:00:00Z' }, ['/expires_at']],
    [{ name: 'a', expires_at: '2999-01-02T00:00:00+24:00' }, ['/expires_at']],
    [{ name: 'a', expires_at: 32503680000000 }, ['/expires_at']],
    [{ name: 'a', expiresAt: '2999-01-02' }, ['/expiresAt']],
    [{ name: 'a', key: 'svc_mine', id: 'key_mine' }, ['/id', '/key']],
    [{ name: '', role: 'x', expires_at: 'x', more: 1 }, ['/expires_at', '/more', '/name', '/role']],
    [[], ['']],
  ];
  for (const [body, pointers] of wrong) {
    it(`are not made by ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const before = bodyOf<Shown[]>(await admin('GET', path)).length;
      expect(expectInvalid(await admin('POST', path, { body }))).to.deep.equal(pointers);
      expect(bodyOf<Shown[]>(await admin('GET', path))).to.have.length(before);
    });
  }

  it('are listed oldest first as a bare array, those too that work no more, and never with a secret', async () => {
    const made = [await make({ name: 'one' }), await make({ name: 'two' })];
    await admin('DELETE', `${path}/${made[0]?.id}`);
    const answer = await admin('GET', path);
    const listed = bodyOf<Shown[]>(answer);
    expect(listed.slice(-2).map(({ name, status }) => [name, status])).to.deep.equal([
      ['one', 'revoked'],
      ['two', 'active'],
    ]);
    for (const one of listed) expect(Object.keys(one).toSorted()).to.deep.equal(members);
    for (const { key } of [...made, workspace('acme').admin])
      expect(answer.text).to.not.contain(key.slice(10));
    const reversed = bodyOf<Shown[]>(await admin('GET', `${path}?order=desc`));
    expect(reversed.map(({ id }) => id)).to.deep.equal(listed.toReversed().map(({ id }) => id));
    const operators = bodyOf<Shown[]>(await client('GET', '/admin/v1/tenants/acme/api-keys'));
    expect(operators.map(({ id }) => id)).to.deep.equal(listed.map(({ id }) => id));
    for (const one of operators) expect(Object.keys(one).toSorted()).to.deep.equal(members);
    const last = operators.at(-1);
    const alone = await client('GET', `/admin/v1/tenants/acme/api-keys/${last?.id}`);
    expect(bodyOf<Shown>(alone)).to.deep.equal(last);
  });
  it('are listed in pages, each with the link to the next', async () => {
    const inPaged = '/api/paged/api-keys';
    for (let n = 0; n < 2; n += 1) await makeKeyOver(as('paged'), 'paged');
    for (const [who, first] of [
      [as('paged'), inPaged],
      [client, '/admin/v1/tenants/paged/api-keys'],
    ] as const) {
      const whole = bodyOf<Shown[]>(await who('GET', first)).map(({ id }) => id);
      const pages: string[] = [];
      let next: string | undefined = `${first}?limit=2`;
      for (let count = 0; count < 3; count += 1) {
        const page: Answer = await who('GET', next ?? '');
        pages.push(...bodyOf<Shown[]>(page).map(({ id }) => id));
        next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
      }
      expect([pages, next]).to.deep.equal([whole, undefined]);
      expect(whole).to.have.length(5);
    }
  });

  it('keep name, role and expiry when they are rolled, and have another secret and prefix', async () => {
    const first = await make({ name: 'rolled', role: 'writer', expires_at: '2999-01-01' });
    const answer = await admin('POST', `${path}/${first.id}/roll`, { body: { overlap_secs: 60 } });
    const second = bodyOf<Shown & { key: string }>(answer);
    const { key: _, prefix: __, ...kept } = first;
    const { key, prefix, ...now } = second;
    expect(now).to.deep.equal(kept);
    expect(key).to.not.equal(first.key);
    expect([prefix, (await shown(first.id))['prefix']]).to.deep.equal([key.slice(0, 10), key.slice(0, 10)]);
    for (const one of [first, second])
      expect((await withKey(client, one)('POST', '/workflows', { body: { name: 'a' } })).status).to.equal(
        201,
      );
  });
  it('may roll and revoke themselves, and have no say from then on', async () => {
    const first = await make({ role: 'admin' });
    const second = bodyOf<{ key: string }>(await withKey(client, first)('POST', `${path}/${first.id}/roll`));
    expectProblem(await withKey(client, first)('GET', path), 401, 'api-key.revoked');
    expect((await withKey(client, second)('DELETE', `${path}/${first.id}`)).status).to.equal(204);
    expectProblem(await withKey(client, second)('GET', path), 401, 'api-key.revoked');
    expect((await shown(first.id))['status']).to.equal('revoked');
  });
  it('are rolled with an overlap of up to a week, in whole seconds', async () => {
    const { id } = await make();
    for (const overlap_secs of [-1, 604_801, 1.5, '60', null])
      expect(
        expectInvalid(await admin('POST', `${path}/${id}/roll`, { body: { overlap_secs } })),
      ).to.deep.equal(['/overlap_secs']);
    const misspelt = await admin('POST', `${path}/${id}/roll`, { body: { overlap: 60 } });
    expect(expectInvalid(misspelt)).to.deep.equal(['/overlap']);
    for (const body of [{ overlap_secs: 604_800 }, {}, undefined])
      expect((await admin('POST', `${path}/${id}/roll`, { body })).status).to.equal(200);
  });
  it('have one working secret after rolls that raced without an overlap', async () => {
    const first = await make();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => admin('POST', `${path}/${first.id}/roll`)),
    );
    const rolled = answers.map((answer) => bodyOf<{ key: string }>(answer));
    const uses = await Promise.all(
      [first, ...rolled].map((key) => withKey(client, key)('GET', '/api/acme/agents')),
    );
    expect(uses.filter(({ status }) => status === 200)).to.have.length(1);
  });

  it('answer 204 without a body when they are revoked, as often as it is asked, and can’t be rolled then', async () => {
    for (const [who, at] of [
      [admin, path],
      [client, '/admin/v1/tenants/acme/api-keys'],
    ] as const) {
      const made = await make();
      for (let times = 0; times < 2; times += 1) {
        const { status, text } = await who('DELETE', `${at}/${made.id}`);
        expect([status, text]).to.deep.equal([204, '']);
        expectProblem(await withKey(client, made)('GET', '/workflows'), 401, 'api-key.revoked');
      }
      expectProblem(await admin('POST', `${path}/${made.id}/roll`), 409, 'api-key.ended');
      const events = (await logOf(program().dir)).filter(({ stream }) => stream === `api_key-${made.id}`);
      expect(events.map(({ type }) => type)).to.deep.equal(['ApiKeyCreated', 'ApiKeyRevoked']);
    }
  });
  it('are unknown where they were never made, in another workspace too', async () => {
    const { id } = await make();
    for (const [who, at, key] of [
      [admin, path, 'key_none'],
      [admin, path, 'constructor'],
      [as('other'), '/api/other/api-keys', id],
    ] as const) {
      expectProblem(await who('GET', `${at}/${key}`), 404, 'api-key.not-found');
      expectProblem(await who('POST', `${at}/${key}/roll`), 404, 'api-key.not-found');
      expectProblem(await who('DELETE', `${at}/${key}`), 404, 'api-key.not-found');
    }
    const operators = (tenant: string) => client('DELETE', `/admin/v1/tenants/${tenant}/api-keys/${id}`);
    const seen = (tenant: string) => client('GET', `/admin/v1/tenants/${tenant}/api-keys/${id}`);
    expectProblem(await seen('other'), 404, 'api-key.not-found');
    expectProblem(await seen('nowhere'), 404, 'tenant.unknown');
    expectProblem(await operators('other'), 404, 'api-key.not-found');
    expectProblem(await operators('nowhere'), 404, 'tenant.unknown');
    expectProblem(await client('GET', '/admin/v1/tenants/nowhere/api-keys'), 404, 'tenant.unknown');
    expect((await shown(id))['status']).to.equal('active');
  });
  it('are in the log by their digest alone', async () => {
    const made = await make();
    const log = await logOf(program().dir);
    expect(JSON.stringify(log)).to.not.contain(made.key.slice(10)).and.to.not.contain(made.key.slice(4, 30));
    const [event] = log
      .filter(({ stream }) => stream === `api_key-${made.id}`)
      .map((one) => codec.decode(one));
    expect(event?.data).to.include({
      key_digest: createSecrets().digest(made.key),
      created_by: `api_key:${workspace('acme').admin.id}`,
    });
  });
  it('are in no line of the program’s own log and no metric, nor is their digest or how they begin', async () => {
    const made = await make();
    await withKey(client, made)('GET', '/api/acme/agents');
    await withKey(client, { key: `${made.key}x` })('GET', '/api/acme/agents');
    await until('the request is logged', () => program().output().includes('/api/{workspace_id}/agents'));
    const { text } = await client('GET', '/metrics', { token: null });
    for (const secret of [made.key.slice(0, 10), made.key.slice(10), createSecrets().digest(made.key)]) {
      expect(program().output()).to.not.contain(secret);
      expect(text).to.not.contain(secret);
    }
  });
  it('have left the service as it was', () => {
    expect(program().output()).to.not.match(/"level":"(error|fatal)"/);
  });
});

describe('the last use of an API key', () => {
  const startMs = Date.parse('2027-05-06T12:00:00.000Z');
  const clock = createHandClock(startMs);
  const faults = { failing: false };
  let dir: string;
  let service: InProcess;
  let acme: Workspace;
  before(async () => {
    dir = freshFolder();
    [acme] = (await arrangeWorkspaces(dir, ['acme'], clock.wallMs)) as [Workspace];
    service = await serveInProcess(dir, {
      clock: clock.wallMs,
      faults: (point) => {
        if (faults.failing && point === 'before-append') throw new Error('The log takes nothing.');
      },
    });
  });
  after(async () => {
    await service.stop();
    removeFolder(dir);
  });

  const admin = (...ask: Parameters<InProcess['client']>) => withKey(service.client, acme.admin)(...ask);
  const make = () => makeKeyOver(admin, 'acme');
  const use = async (key: { key: string }): Promise<void> => {
    expect((await withKey(service.client, key)('GET', '/api/acme/agents')).status).to.equal(200);
  };
  const lastUse = async (id: string): Promise<unknown> =>
    bodyOf<Shown>(await admin('GET', `/api/acme/api-keys/${id}`))['last_used_at'];
  const usesOf = async (id: string): Promise<readonly unknown[]> =>
    (await logOf(dir))
      .filter(({ stream }) => stream.startsWith(`api_key_use-${id}/`))
      .map(({ data }) => (JSON.parse(data) as { used_at: string }).used_at);
  const now = (): string => new Date(clock.wallMs()).toISOString();
  const noted = (id: string, at: string) =>
    until(`the use at ${at} is noted`, async () => (await lastUse(id)) === at);

  it('is nothing where there was none, and is told once there was one', async () => {
    const key = await make();
    expect(await lastUse(key.id)).to.equal(null);
    await use(key);
    await noted(key.id, now());
  });
  it('is one event for many requests, and another one once four minutes are over', async () => {
    const key = await make();
    const first = now();
    await Promise.all(Array.from({ length: 30 }, () => use(key)));
    await noted(key.id, first);
    clock.pass(239_999);
    await use(key);
    expect(await usesOf(key.id)).to.deep.equal([first]);
    clock.pass(1);
    await Promise.all(Array.from({ length: 30 }, () => use(key)));
    await noted(key.id, now());
    expect(await usesOf(key.id)).to.deep.equal([first, now()]);
  });
  it('is told of the newest day', async () => {
    const key = await make();
    await use(key);
    await noted(key.id, now());
    clock.pass(86_400_000);
    await use(key);
    await noted(key.id, now());
    expect(await usesOf(key.id)).to.have.length(2);
  });
  it('is noted for a key that is refused no further', async () => {
    const key = await make();
    await admin('DELETE', `/api/acme/api-keys/${key.id}`);
    expectProblem(await withKey(service.client, key)('GET', '/api/acme/agents'), 401, 'api-key.revoked');
    expect(await usesOf(key.id)).to.deep.equal([]);
  });
  it('costs no request its answer where it can’t be noted, and is noted with a use soon after', async () => {
    const key = await make();
    faults.failing = true;
    try {
      for (let times = 0; times < 3; times += 1) await use(key);
      expect(await lastUse(key.id)).to.equal(null);
    } finally {
      faults.failing = false;
    }
    clock.pass(10_000);
    // The failure is noticed beside the requests: one of the next uses is noted.
    await until('a use is noted', async () => {
      await use(key);
      return (await lastUse(key.id)) === now();
    });
  });
});
