import { expect } from 'chai';
import type { Position } from '../../src/core/event.ts';
import { type Client } from '../support/client.ts';
import { asOfEnd } from '../support/engines.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { expectInvalid } from '../support/problems.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { pick as pickOf, seeded, testRounds, testSeed } from '../support/random.ts';
import { serveInProcess, type InProcess } from '../support/serving.ts';
import { until } from '../support/waiting.ts';
import { arrangeWorkspaces, withKey } from '../support/workspace.ts';

/** Acts of one random history. */
const acts = 70;

/** What every read answered at one moment, and when and where that was. */
type Moment = {
  readonly at: string;
  readonly position: Position;
  readonly answers: ReadonlyMap<string, readonly [number, string]>;
};

describe('reads as of another moment', () => {
  const seed = testSeed();
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => pickOf(random, from) as T;
  const dir = freshFolder();
  const clock = createHandClock(Date.parse('2026-11-21T09:00:00.000Z'));
  let service: InProcess;
  let admin: Client;
  let member: Client;

  before(async () => {
    const [workspace] = await arrangeWorkspaces(dir, ['w'], clock.wallMs);
    if (workspace === undefined) throw new Error('There is no workspace.');
    service = await serveInProcess(dir, { clock: clock.wallMs });
    admin = service.client;
    member = withKey(service.client, workspace.admin);
    await member('GET', '/api/w/agents');
    // Its use is stated beside the request, and once for as long as this clock stands within a few minutes.
    await until('the use of the key is stated', async () => {
      const { text } = await admin('GET', '/admin/v1/tenants/w/api-keys');
      return /"last_used_at":"/.test(text);
    });
  });
  after(async () => {
    await service.stop();
    removeFolder(dir);
  });

  const ids = {
    accounts: [] as string[],
    tokens: [] as string[],
    keys: [] as string[],
    agents: [] as string[],
  };
  let bearer = '';

  const admins = (): readonly string[] => [
    '/admin/v1/tenants',
    '/admin/v1/tenants?order=desc&limit=2',
    ...['a', 'b'].flatMap((id) => [
      `/admin/v1/tenants/${id}`,
      `/admin/v1/tenants/${id}/users`,
      `/admin/v1/tenants/${id}/users/alice`,
      `/admin/v1/tenants/${id}/tokens`,
      `/admin/v1/tenants/${id}/activity`,
      `/admin/v1/service-accounts?tenant_id=${id}`,
    ]),
    '/admin/v1/service-accounts',
    ...ids.accounts.slice(-3).map((id) => `/admin/v1/service-accounts/${id}`),
    ...ids.tokens.slice(-3).map((name) => `/admin/v1/tenants/a/tokens/${name}`),
  ];
  const members = (): readonly string[] => [
    '/api/w/agents',
    '/api/w/agents?limit=2',
    '/api/w/api-keys',
    ...ids.agents.slice(-3).map((id) => `/api/w/agents/${id}`),
    ...ids.keys.slice(-3).map((id) => `/api/w/api-keys/${id}`),
  ];

  /** Asks everything there is to ask; `more` is put behind each query. */
  const askAll = async (more = '', only?: Iterable<string>) => {
    const answers = new Map<string, readonly [number, string]>();
    let position = '';
    const paths = only === undefined ? [...admins(), ...members()] : [...only];
    for (const path of paths) {
      const client = path.startsWith('/api') ? member : admin;
      const to = more === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${more}`;
      const { status, text, headers } = await client('GET', to);
      // What a refusal says of its own request differs.
      answers.set(path, [status, status < 300 ? text : '']);
      position = headers.get('x-position') ?? position;
    }
    return { answers, position };
  };

  /** Waits for what has been appended: read models beside the log come to its end a little later. */
  const caughtUp = async (): Promise<void> => {
    const { status } = await admin('GET', '/admin/v1/tenants', { headers: await asOfEnd(dir) });
    expect(status).to.equal(200);
  };

  const some: readonly (() => Promise<unknown>)[] = [
    () => admin('POST', '/admin/v1/tenants', { body: { id: pick(['a', 'b']) } }),
    () => admin('POST', '/admin/v1/tenants', { body: { id: pick(['a', 'b']) } }),
    () => admin('DELETE', `/admin/v1/tenants/${pick(['a', 'b', 'b'])}`),
    () =>
      admin('POST', `/admin/v1/tenants/${pick(['a', 'b'])}/users`, {
        body: {
          username: pick(['alice', 'Alice', 'bob']),
          password: 'password',
          role: pick(['reader', 'admin']),
        },
      }),
    () => admin('DELETE', `/admin/v1/tenants/${pick(['a', 'b'])}/users/alice`),
    async () => {
      const { status, body } = await admin('POST', '/admin/v1/service-accounts', {
        body: { name: 'robot', tenant_id: pick(['a', 'a', 'b']), max_role: 'writer', max_ttl_secs: 600 },
      });
      if (status !== 201) return;
      ids.accounts.push(body.id);
      if (body.tenant_id === 'a') ({ bearer } = body);
    },
    () => admin('DELETE', `/admin/v1/service-accounts/${pick(ids.accounts) ?? 'sa_none'}`),
    async () => {
      const { status, body } = await admin('POST', '/admin/v1/tenants/a/tokens', {
        token: bearer,
        body: { subject: 'ci', role: 'reader', ttl_secs: pick([1, 60, 600]) },
      });
      if (status === 201) ids.tokens.push(body.username);
    },
    () => admin('DELETE', `/admin/v1/tenants/a/tokens/${pick(ids.tokens) ?? 'cred_none'}`),
    async () => {
      const { status, body } = await member('POST', '/api/w/agents', {
        body: { name: `agent ${ids.agents.length}` },
      });
      if (status === 201) ids.agents.push(body.id);
    },
    () =>
      member('PATCH', `/api/w/agents/${pick(ids.agents) ?? 'agent_none'}`, {
        body: { metadata: { n: Math.floor(random() * 100) } },
      }),
    () => member('DELETE', `/api/w/agents/${pick(ids.agents) ?? 'agent_none'}`),
    async () => {
      const expires_at = pick([null, new Date(clock.wallMs() + 5_000).toISOString()]);
      const { status, body } = await member('POST', '/api/w/api-keys', { body: { name: 'key', expires_at } });
      if (status === 201) ids.keys.push(body.id);
    },
    () =>
      member('POST', `/api/w/api-keys/${pick(ids.keys) ?? 'key_none'}/roll`, { body: { overlap_secs: 3 } }),
    () => member('DELETE', `/api/w/api-keys/${pick(ids.keys) ?? 'key_none'}`),
  ];

  it('answer at every moment of a random history what was answered then', async () => {
    for (let round = 0; round < testRounds(1); round += 1) {
      const moments: Moment[] = [];
      for (let n = 0; n < acts; n += 1) {
        clock.pass(pick([1, 700, 1_500]));
        await pick(some)();
        await caughtUp();
        moments.push({ at: new Date(clock.wallMs()).toISOString(), ...(await askAll()) });
      }
      clock.pass(100_000);
      for (const { at, position, answers } of moments) {
        const then = await askAll(`as_of=${at}`, answers.keys());
        expect([...then.answers], `as of ${at}, seed ${seed}`).to.deep.equal([...answers]);
        expect(then.position).to.equal(position);
      }
      const [last] = moments.slice(-1);
      expect(last?.answers.size).to.be.greaterThan(15);
    }
  }).timeout(120_000);

  it('answer as of a position, by the clock of the event that stands there', async () => {
    const { body: made, headers } = await member('POST', '/api/w/agents', { body: { name: 'first name' } });
    const position = headers.get('x-position') ?? '';
    clock.pass(1_000);
    await member('PATCH', `/api/w/agents/${made.id}`, { body: { name: 'second name' } });
    const then = await member('GET', `/api/w/agents/${made.id}?at_position=${position}`);
    expect(then.body).to.deep.equal(made);
    expect(then.headers.get('etag')).to.equal('"0"');
    expect(then.headers.get('x-position')).to.equal(position);
    await member('DELETE', `/api/w/agents/${made.id}`);
    expect((await member('GET', `/api/w/agents/${made.id}?at_position=${position}`)).status).to.equal(200);
    expect((await member('GET', `/api/w/agents/${made.id}`)).status).to.equal(404);
  });

  it('are paged by links that keep the moment', async () => {
    const at = new Date(clock.wallMs()).toISOString();
    const whole = (await member('GET', `/api/w/agents?as_of=${at}`)).body as readonly { id: string }[];
    clock.pass(1_000);
    for (let n = 0; n < 3; n += 1) await member('POST', '/api/w/agents', { body: { name: 'later' } });
    const seen: string[] = [];
    for (let path: string | undefined = `/api/w/agents?as_of=${at}&limit=2`; path !== undefined;) {
      const page = await member('GET', path);
      seen.push(...(page.body as readonly { id: string }[]).map(({ id }) => id));
      path = /^<([^>]*)>/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(seen).to.deep.equal(whole.map(({ id }) => id));
  });

  it('refuse a moment that is none, lies ahead, or is named twice, and on what has no past', async () => {
    const ahead = new Date(clock.wallMs() + 1_000).toISOString();
    for (const query of ['as_of=yesterday', `as_of=${ahead}`, 'as_of=2026-13-01T00:00:00Z', 'as_of='])
      expect(expectInvalid(await admin('GET', `/admin/v1/tenants?${query}`))).to.deep.equal(['/as_of']);
    for (const query of ['at_position=7', `at_position=${'9'.repeat(20)}`])
      expect(expectInvalid(await admin('GET', `/admin/v1/tenants?${query}`))).to.deep.equal(['/at_position']);
    const both = `as_of=2026-01-01T00:00:00Z&at_position=${'0'.repeat(19)}1`;
    expect(expectInvalid(await admin('GET', `/admin/v1/tenants?${both}`))).to.deep.equal(['/at_position']);
    for (const path of ['/admin/v1/capabilities', '/admin/v1/projections'])
      expect(expectInvalid(await admin('GET', `${path}?as_of=2026-01-01T00:00:00Z`))).to.deep.equal([
        '/as_of',
      ]);
    const tenant = await admin('POST', '/admin/v1/tenants?as_of=2026-01-01T00:00:00Z', {
      body: { id: 'late' },
    });
    expect(expectInvalid(tenant)).to.deep.equal(['/as_of']);
  });

  it('answer nothing as of a time before everything', async () => {
    const early = await admin('GET', '/admin/v1/tenants?as_of=1999-12-31T23:59:59%2B01:00');
    expect([early.status, early.body]).to.deep.equal([200, []]);
    // What it answers as its position can be asked for again.
    const position = early.headers.get('x-position') ?? '';
    const { status, body } = await admin('GET', `/admin/v1/tenants?at_position=${position}`);
    expect([position, status, body]).to.deep.equal(['0'.repeat(20), 200, []]);
  });
});
