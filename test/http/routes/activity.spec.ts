import { expect } from 'chai';
import type { Answer, Client } from '../../support/client.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { bodyOf, makeKeyOver, servingWorkspaces, withKey } from '../../support/workspace.ts';

type Act = {
  readonly id: string;
  readonly position: string;
  readonly type: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly correlation_id: string;
  readonly data: Readonly<Record<string, unknown>>;
};

describe('the activity of a tenant', () => {
  const { client, as, workspace } = servingWorkspaces(['acme', 'again', 'paged']);
  const admin: Client = (...ask) => as('acme')(...ask);
  const acts = async (tenant: string, query = ''): Promise<readonly Act[]> =>
    bodyOf(await client('GET', `/admin/v1/tenants/${tenant}/activity${query}`));

  it('tells every change of every kind, who made it and why, in the order in which it happened', async () => {
    const from = (await acts('acme')).length;
    const actor = `api_key:${workspace('acme').admin.id}`;
    const headers = { 'X-Reason': 'spring cleaning', 'X-Request-Id': 'request-of-activity' };
    const key = await makeKeyOver(admin, 'acme');
    await admin('POST', `/api/acme/api-keys/${key.id}/roll`, { body: { overlap_secs: 60 } });
    await admin('DELETE', `/api/acme/api-keys/${key.id}`, { headers });
    await admin('DELETE', `/api/acme/api-keys/${key.id}`);
    const { id } = bodyOf<{ id: string }>(await admin('POST', '/workflows', { body: { name: 'w' } }), 201);
    await admin('PATCH', `/workflows/${id}`, { body: { name: 'v' } });
    await admin('PATCH', `/workflows/${id}`, { body: {} });
    await admin('DELETE', `/workflows/${id}`);
    const user = { username: 'alice', password: 'a password of alice' };
    await client('POST', '/admin/v1/tenants/acme/users', { body: user });
    const all = (await acts('acme')).slice(from);
    expect(all.map((act) => [act.type, act.actor])).to.deep.equal([
      ['ApiKeyCreated', actor],
      ['ApiKeyRolled', actor],
      ['ApiKeyRevoked', actor],
      ['WorkflowCreated', actor],
      ['WorkflowChanged', actor],
      ['WorkflowDeleted', actor],
      ['UserCreated', 'admin'],
    ]);
    expect(all[2]).to.include({ reason: 'spring cleaning', correlation_id: 'request-of-activity' });
    expect(Object.keys(all[2] ?? {}).toSorted()).to.deep.equal(
      ['actor', 'address', 'correlation_id', 'data', 'id', 'position', 'reason', 'time', 'type'].toSorted(),
    );
    expect(all[0]?.data).to.include({ api_key_id: key.id, name: 'made', role: 'reader' });
    const positions = all.map(({ position }) => position);
    expect(positions).to.deep.equal(positions.toSorted());
  });
  it('has no secret, no digest and no hash', async () => {
    const key = await makeKeyOver(admin, 'acme');
    const { text }: Answer = await client('GET', '/admin/v1/tenants/acme/activity');
    expect(text)
      .to.not.contain(key.key.slice(10))
      .and.to.not.match(/digest|argon2|password/);
  });
  it('does not tell that a key was in use', async () => {
    const from = (await acts('acme')).length;
    const key = await makeKeyOver(admin, 'acme');
    for (let times = 0; times < 3; times += 1) await withKey(client, key)('GET', '/workflows');
    expect((await acts('acme')).slice(from).map(({ type }) => type)).to.deep.equal(['ApiKeyCreated']);
  });
  it('outlives the tenant, and goes on with another one of its id', async () => {
    const before = await acts('again');
    await client('DELETE', '/admin/v1/tenants/again');
    await client('POST', '/admin/v1/tenants', { body: { id: 'again' } });
    const after = await acts('again');
    expect(after.slice(0, before.length)).to.deep.equal(before);
    expect(after.slice(before.length).map(({ type, data }) => [type, data['incarnation']])).to.deep.equal([
      ['TenantDeleted', 'again~1'],
      ['TenantCreated', 'again~2'],
    ]);
  });
  it('is nothing for an id that there never was, nor is another tenant’s', async () => {
    expect(await acts('nowhere')).to.deep.equal([]);
    expect(await acts('ACME')).to.deep.equal([]);
    expect(new Set((await acts('paged')).map(({ data }) => data['tenant_id']))).to.deep.equal(
      new Set(['paged']),
    );
  });
  it('is answered in pages, in either order', async () => {
    const whole = (await acts('paged')).map(({ id }) => id);
    expect(whole).to.have.length(4);
    expect((await acts('paged', '?order=desc')).map(({ id }) => id)).to.deep.equal(whole.toReversed());
    const first = await client('GET', '/admin/v1/tenants/paged/activity?limit=3');
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
    const second = await client('GET', next);
    const ids = [...bodyOf<Act[]>(first), ...bodyOf<Act[]>(second)].map(({ id }) => id);
    expect([ids, second.headers.get('link')]).to.deep.equal([whole, null]);
    expect(expectInvalid(await client('GET', '/admin/v1/tenants/paged/activity?type=x'))).to.deep.equal([
      '/type',
    ]);
  });
  it('is for the operator’s eyes', async () => {
    const { key } = workspace('acme').admin;
    const path = '/admin/v1/tenants/acme/activity';
    expectProblem(await client('GET', path, { token: key }), 401, 'authentication.invalid');
    expectProblem(await admin('GET', path), 401, 'authentication.missing');
  });
});
