import { expect } from 'chai';
import type { Client } from '../../support/client.ts';
import { asOfEnd } from '../../support/engines.ts';
import { createHandClock } from '../../support/hand-clock.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { freshFolder, removeFolder } from '../../support/program.ts';
import { between, pick as pickOf, seeded, testRounds, testSeed } from '../../support/random.ts';
import { serveInProcess, type InProcess } from '../../support/serving.ts';
import { arrangePerson, makeKeyByForm, person, signedIn } from '../../support/web.ts';
import { arrangeWorkspaces, bodyOf, withKey } from '../../support/workspace.ts';

/** Acts of one random history, and pairs of its moments that are compared. */
const acts = 90;
const pairs = 60;

type Change = {
  readonly kind: string;
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly before: object | null;
  readonly after: object | null;
  readonly events: readonly { readonly type: string; readonly position: string; readonly actor: string }[];
};

/** What the lists showed, by kind and id, each with the tenant that it is of. */
type State = Map<string, { readonly tenant: string; readonly shown: object }>;

type Moment = { readonly at: string; readonly position: string; readonly state: State };

const changesOf = async (client: Client, query: string): Promise<readonly Change[]> =>
  bodyOf<{ changes: readonly Change[] }>(await client('GET', `/admin/v1/diff?${query}`)).changes;

/** What the changes make of what the lists showed: what went goes first, for a tenant's id can come again. */
const applied = (state: State, changes: readonly Change[], tenant: string): State => {
  const next = new Map(state);
  const keyOf = ({ kind, id }: Change): string => `${kind} ${id}`;
  for (const change of changes) {
    if (change.before === null) continue;
    expect(state.get(keyOf(change))?.shown, keyOf(change)).to.deep.equal(change.before);
    next.delete(keyOf(change));
  }
  for (const change of changes)
    if (change.after !== null) next.set(keyOf(change), { tenant, shown: change.after });
  return next;
};

const shownIn = (state: State, tenant?: string): Record<string, object> =>
  Object.fromEntries(
    [...state]
      .filter(([, one]) => tenant === undefined || one.tenant === tenant)
      .map(([key, { shown }]) => [key, shown] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

describe('differences between two moments', () => {
  const seed = testSeed();
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => pickOf(random, from) as T;
  const dir = freshFolder();
  const clock = createHandClock(Date.parse('2026-11-21T09:00:00.000Z'));
  const members = new Map<string, Client>();
  const tenants = ['a', 'b', 'w'];
  let service: InProcess;
  let admin: Client;

  before(async () => {
    const workspaces = await arrangeWorkspaces(dir, ['w', 'a'], clock.wallMs);
    service = await serveInProcess(dir, { clock: clock.wallMs });
    admin = service.client;
    for (const workspace of workspaces) members.set(workspace.id, withKey(admin, workspace.admin));
  });
  after(async () => {
    await service.stop();
    removeFolder(dir);
  });

  /** What every list shows now. */
  const look = async (): Promise<Moment> => {
    const state: State = new Map();
    const take = async (client: Client, path: string, tenant: string, kind: string, key = 'id') => {
      const { status, body } = await client('GET', path);
      if (status !== 200) return;
      for (const { last_used_at: _, ...shown } of body as readonly Record<string, string>[])
        state.set(`${kind} ${shown[key]}`, { tenant, shown });
    };
    const answer = await admin('GET', '/admin/v1/tenants', { headers: await asOfEnd(dir) });
    for (const shown of answer.body as readonly { id: string }[])
      state.set(`tenant ${shown.id}`, { tenant: shown.id, shown });
    for (const tenant of tenants) {
      await take(admin, `/admin/v1/tenants/${tenant}/users`, tenant, 'user');
      await take(admin, `/admin/v1/service-accounts?tenant_id=${tenant}`, tenant, 'service_account');
      await take(admin, `/admin/v1/tenants/${tenant}/tokens`, tenant, 'credential', 'username');
      await take(admin, `/admin/v1/tenants/${tenant}/api-keys`, tenant, 'api_key');
      const member = members.get(tenant);
      if (member === undefined) continue;
      for (const kind of ['agent', 'thread', 'workflow'])
        await take(member, `/api/${tenant}/${kind}s`, tenant, kind);
    }
    const position = answer.headers.get('x-position') ?? '';
    return { at: new Date(clock.wallMs()).toISOString(), position, state };
  };

  const accounts: { readonly id: string; readonly tenant: string; readonly bearer: string }[] = [];
  const tokens: { readonly tenant: string; readonly username: string }[] = [];
  const keys: string[] = [];
  const resources: string[] = [];
  const member = (tenant: string): Client => members.get(tenant) as Client;
  const some: readonly (() => Promise<unknown>)[] = [
    () => admin('POST', '/admin/v1/tenants', { body: { id: pick(['a', 'b']) } }),
    () => admin('POST', '/admin/v1/tenants', { body: { id: pick(['a', 'b']) } }),
    () => admin('DELETE', `/admin/v1/tenants/${pick(['a', 'b', 'b'])}`),
    () =>
      admin('POST', `/admin/v1/tenants/${pick(tenants)}/users`, {
        body: {
          username: pick(['alice', 'Alice', 'bob']),
          password: 'password',
          role: pick(['reader', 'admin']),
        },
      }),
    () => admin('DELETE', `/admin/v1/tenants/${pick(tenants)}/users/alice`),
    async () => {
      const tenant = pick(tenants);
      const body = { name: 'robot', tenant_id: tenant, max_role: 'writer', max_ttl_secs: 600 };
      const answer = await admin('POST', '/admin/v1/service-accounts', { body });
      if (answer.status === 201) accounts.push({ tenant, ...answer.body });
    },
    () =>
      admin('POST', `/admin/v1/service-accounts/${pick(accounts)?.id}/rotate`, { body: { grace_secs: 9 } }),
    () =>
      admin(
        'DELETE',
        `/admin/v1/service-accounts/${pick(accounts)?.id}?credentials=${pick(['keep', 'revoke'])}`,
      ),
    ...Array.from({ length: 3 }, () => async () => {
      const { tenant, bearer: token } = pick(accounts.slice(-3)) ?? { tenant: 'a', bearer: 'none' };
      const body = { subject: 'ci', role: 'reader', ttl_secs: pick([1, 20, 600]) };
      const answer = await admin('POST', `/admin/v1/tenants/${tenant}/tokens`, { token, body });
      if (answer.status === 201) tokens.push({ tenant, username: answer.body.username });
    }),
    () => {
      const { tenant, username } = pick(tokens) ?? { tenant: 'a', username: 'cred_none' };
      return admin('DELETE', `/admin/v1/tenants/${tenant}/tokens/${username}`);
    },
    async () => {
      const expires_at = pick([null, new Date(clock.wallMs() + 5_000).toISOString()]);
      const { body } = await member('w')('POST', '/api/w/api-keys', { body: { name: 'key', expires_at } });
      keys.push(body.id);
    },
    () => member('w')('POST', `/api/w/api-keys/${pick(keys)}/roll`, { body: { overlap_secs: 3 } }),
    () => member('w')('DELETE', `/api/w/api-keys/${pick(keys)}`),
    ...Array.from({ length: 2 }, () => async () => {
      const kind = pick(['agent', 'thread', 'workflow']);
      const path = `/api/${pick(['a', 'w'])}/${kind}s`;
      const body = { [kind === 'thread' ? 'title' : 'name']: 'made' };
      const answer = await member(path.slice(5, 6))('POST', path, { body });
      if (answer.status === 201) resources.push(`${path}/${answer.body.id}`);
    }),
    () => {
      const path = pick(resources) ?? '/api/w/agents/none';
      return member(path.slice(5, 6))('PATCH', path, { body: { metadata: { n: between(random, 0, 99) } } });
    },
    () => {
      const path = pick(resources) ?? '/api/w/agents/none';
      return member(path.slice(5, 6))('DELETE', path);
    },
  ];

  it('turn what the lists showed at one moment of a random history into what they showed at another', async () => {
    for (let round = 0; round < testRounds(1); round += 1) {
      const moments: Moment[] = [];
      for (let n = 0; n < acts; n += 1) {
        clock.pass(pick([1, 700, 1_500]));
        await pick(some)();
        moments.push(await look());
      }
      clock.pass(100_000);
      const seen = new Set<string>();
      for (let n = 0; n < pairs; n += 1) {
        const [i, j] = [between(random, 0, acts - 1), between(random, 0, acts - 1)].toSorted((a, b) => a - b);
        const [first, last] = [moments[i ?? 0], moments[j ?? 0]];
        if (first === undefined || last === undefined) throw new Error('There are no moments.');
        const label = `${first.at} to ${last.at}, seed ${seed}`;
        const tenant = pick([undefined, 'a', 'b', 'w']);
        const only = tenant === undefined ? '' : `&tenant=${tenant}`;
        const changes = await changesOf(admin, `from=${first.at}&to=${last.at}${only}`);
        const next = applied(first.state, changes, tenant ?? '');
        expect(shownIn(next, tenant), label).to.deep.equal(shownIn(last.state, tenant));
        for (const { kind, change, events } of changes) {
          seen.add(`${kind} ${change}`);
          for (const { position } of events)
            expect(position > first.position && position <= last.position, label).to.equal(true);
        }
      }
      expect(seen.size, `seed ${seed}`).to.be.greaterThan(5);
    }
  }).timeout(120_000);

  it('name the events that did it, in order, and none for what the clock did alone', async () => {
    const id = 'events';
    await admin('POST', '/admin/v1/tenants', { body: { id } });
    const wish = { name: 'robot', tenant_id: id, max_role: 'writer', max_ttl_secs: 600 };
    const account = (await admin('POST', '/admin/v1/service-accounts', { body: wish })).body;
    const mintFor = async (ttl_secs: number): Promise<string> => {
      const body = { subject: 'ci', role: 'reader', ttl_secs };
      return (await admin('POST', `/admin/v1/tenants/${id}/tokens`, { token: account.bearer, body })).body
        .username;
    };
    const short = await mintFor(1);
    const long = await mintFor(600);
    const from = new Date(clock.wallMs()).toISOString();
    clock.pass(1_000);
    await admin('DELETE', `/admin/v1/service-accounts/${account.id}`);
    const changes = await changesOf(admin, `from=${from}&tenant=${id}`);
    const told = changes.map(({ kind, id: which, change, events }) => [
      kind,
      which,
      change,
      events.map(({ type, actor }) => `${type} ${actor}`),
    ]);
    expect(told).to.deep.equal([
      ['service_account', account.id, 'removed', ['ServiceAccountDeleted admin']],
      ['credential', long, 'changed', ['ServiceAccountDeleted admin']],
      ['credential', short, 'changed', []],
    ]);
    expect(changes.map(({ after: now }) => now && 'status' in now && now.status)).to.deep.equal([
      null,
      'revoked',
      'expired',
    ]);
    expect(JSON.stringify(changes)).to.not.match(/digest|hash|argon2|tk_|sab_|svc_[A-Za-z0-9]{20}/);
  });

  it('tell a user and a tenant that were made again from those that were there before', async () => {
    const id = 'again';
    const told = async (from: string) =>
      (await changesOf(admin, `from=${from}&tenant=${id}`)).map(({ kind, change, events }) => [
        kind,
        change,
        events.map(({ type }) => type),
      ]);
    const makeUser = (username: string) =>
      admin('POST', `/admin/v1/tenants/${id}/users`, { body: { username, password: 'password' } });
    await admin('POST', '/admin/v1/tenants', { body: { id } });
    await makeUser('alice');
    const { at: first } = await look();
    clock.pass(1_000);
    await admin('DELETE', `/admin/v1/tenants/${id}/users/alice`);
    await makeUser('Alice');
    expect(await told(first)).to.deep.equal([
      ['user', 'removed', ['UserDeleted']],
      ['user', 'added', ['UserCreated']],
    ]);
    const { at: second } = await look();
    clock.pass(1_000);
    await admin('DELETE', `/admin/v1/tenants/${id}`);
    await admin('POST', '/admin/v1/tenants', { body: { id } });
    expect(await told(second)).to.deep.equal([
      ['tenant', 'removed', ['TenantDeleted']],
      ['user', 'removed', ['TenantDeleted']],
      ['tenant', 'added', ['TenantCreated']],
    ]);
  });

  it('judge the expiry of an API key by the clock of each moment', async () => {
    const expires_at = new Date(clock.wallMs() + 5_000).toISOString();
    const { body: key } = await member('w')('POST', '/api/w/api-keys', { body: { name: 'key', expires_at } });
    const { at } = await look();
    const statuses = async () =>
      (await changesOf(admin, `from=${at}&tenant=w`)).map(({ id, before: was, after: now, events }) => [
        id,
        was && 'status' in was && was.status,
        now && 'status' in now && now.status,
        events,
      ]);
    clock.pass(4_999);
    expect(await statuses()).to.deep.equal([]);
    clock.pass(1);
    expect(await statuses()).to.deep.equal([[key.id, 'active', 'expired', []]]);
  });

  it('show an API key that a user made as its list does', async () => {
    const alice = person('w', { username: 'key-maker' });
    await arrangePerson(admin, alice);
    const { position } = await look();
    const visitor = await signedIn(() => service.url, alice);
    const { id } = await makeKeyByForm(visitor, 'w');
    const list = bodyOf<readonly { id: string }[]>(await member('w')('GET', '/api/w/api-keys'));
    const listed = list.find((key) => key.id === id);
    const { position: to } = await look();
    const changes = await changesOf(admin, `from_position=${position}&to_position=${to}`);
    const shown = changes.find((change) => change.id === id)?.after ?? {};
    expect(listed).to.include.all.keys(Object.keys(shown));
  });

  it('are asked between positions as between times', async () => {
    // The clock of a position is that of its event.
    await admin('POST', '/admin/v1/tenants', { body: { id: 'earlier' } });
    const { position: from, at } = await look();
    clock.pass(1_000);
    await admin('POST', '/admin/v1/tenants', { body: { id: 'positions' } });
    const { position: to } = await look();
    const byPosition = await changesOf(admin, `from_position=${from}&to_position=${to}`);
    expect(byPosition.map(({ kind, id, change }) => [kind, id, change])).to.deep.equal([
      ['tenant', 'positions', 'added'],
    ]);
    expect((await changesOf(admin, `from=${at}`)).at(-1)).to.deep.equal(byPosition[0]);
    expect(await changesOf(admin, `from_position=${to}&to_position=${to}`)).to.deep.equal([]);
    const all = await changesOf(admin, `from_position=${'0'.repeat(20)}&to_position=${to}`);
    expect(all.map(({ id }) => id)).to.include.members(['earlier', 'positions']);
  });

  it('are refused between moments that are none, lie ahead or backwards, and of a tenant that never was', async () => {
    const ahead = new Date(clock.wallMs() + 1_000).toISOString();
    const bad = {
      '': ['/from'],
      'from=yesterday': ['/from'],
      [`from=${ahead}`]: ['/from'],
      'from_position=7': ['/from_position'],
      [`from_position=${'9'.repeat(20)}`]: ['/from_position'],
      [`from=2026-01-01T00:00:00Z&from_position=${'0'.repeat(20)}`]: ['/from'],
      [`from=2026-01-01T00:00:00Z&to=${ahead}`]: ['/to'],
      'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z': ['/to'],
      [`from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&to_position=${'0'.repeat(20)}`]: ['/to_position'],
      'from=2026-01-01T00:00:00Z&as_of=2026-01-01T00:00:00Z': ['/as_of'],
    };
    for (const [query, pointers] of Object.entries(bad))
      expect(expectInvalid(await admin('GET', `/admin/v1/diff?${query}`)), query).to.deep.equal(pointers);
    const nowhere = await admin('GET', '/admin/v1/diff?from=2026-01-01T00:00:00Z&tenant=nowhere');
    expectProblem(nowhere, 404, 'tenant.unknown');
  });
});
