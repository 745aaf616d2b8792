import { expect } from 'chai';
import type { AuditEvent } from '../../../src/http/audit.ts';
import type { Chain } from '../../../src/http/event-look-up.ts';
import { arrangeAccount, mint } from '../../support/client.ts';
import { openEventTail } from '../../support/event-tail.ts';
import { expectInvalid } from '../../support/problems.ts';
import { adminToken } from '../../support/program.ts';
import { serving } from '../../support/serving.ts';
import { until } from '../../support/waiting.ts';
import {
  arrangePerson,
  makeKeyByForm,
  operatorAt,
  person,
  signedIn,
  signIn,
  type Visitor,
} from '../../support/web.ts';
import { bodyOf, makeKeyOver, withKey, type MadeKey } from '../../support/workspace.ts';

const path = '/admin/v1/events';

/** How many causes are shown above an event. */
const causesMax = 16;

describe('the cause of an event', () => {
  const { client, program } = serving();
  let alice: Visitor;
  let key: MadeKey;
  before(async () => {
    await arrangePerson(client, person('acme'));
    alice = await signedIn(() => program().url, person('acme'));
    key = await makeKeyByForm(alice, 'acme', { role: 'admin' });
  });

  const all = async (query: string): Promise<readonly AuditEvent[]> =>
    bodyOf(await client('GET', `${path}?limit=1000&${query}`));
  /** The last event of a type, of a tenant where one is told. */
  const last = async (type: string, tenant?: string): Promise<AuditEvent> => {
    const ofTenant = tenant === undefined ? '' : `&tenant=${tenant}`;
    const [event] = await all(`order=desc&type=${type}${ofTenant}`);
    if (event === undefined) throw new Error(`There is no ${type}.`);
    return event;
  };
  const causeOf = async (type: string, tenant?: string): Promise<string | null> =>
    (await last(type, tenant)).causation_id;
  const idOf = async (type: string, tenant?: string): Promise<string> => (await last(type, tenant)).id;
  const chainOf = async (id: string): Promise<Chain> => bodyOf(await client('GET', `${path}/${id}/chain`));
  const shape = ({ type, effects }: Chain['events'][number]): unknown => [type, ...effects.map(shape)];

  const addAgent = async (made: { readonly key: string }, name: string): Promise<void> => {
    bodyOf(await withKey(client, made)('POST', '/api/acme/agents', { body: { name } }), 201);
  };

  it('is what gave out the very bearer that was used, whichever works', async () => {
    const robot = await arrangeAccount(client, 'robots');
    const created = await idOf('ServiceAccountCreated', 'robots');
    await mint(client, 'robots', robot.bearer);
    expect(await causeOf('CredentialMinted')).to.equal(created);
    const rotate = `/admin/v1/service-accounts/${robot.id}/rotate`;
    const rotated = bodyOf<{ bearer: string }>(await client('POST', rotate, { body: { grace_secs: 3_600 } }));
    expect(await causeOf('ServiceAccountBearerRotated')).to.equal(null);
    const minted = await mint(client, 'robots', rotated.bearer);
    expect(await causeOf('CredentialMinted')).to.equal(await idOf('ServiceAccountBearerRotated'));
    await client('DELETE', `/admin/v1/tenants/robots/tokens/${minted.username}`, { token: robot.bearer });
    expect(await causeOf('CredentialRevoked')).to.equal(created);
  });

  it('is the sign-in of a user, and the key that they made, one below the other', async () => {
    await addAgent(key, 'first');
    const signedInBy = await idOf('UserSignedIn');
    const made = await idOf('ApiKeyCreated');
    expect(await causeOf('UserSignedIn')).to.equal(null);
    expect(await causeOf('ApiKeyCreated')).to.equal(signedInBy);
    expect(await causeOf('AgentCreated')).to.equal(made);
    await until('the use of the key is stated', async () => (await all('type=ApiKeyUsed')).length === 1);
    expect(await causeOf('ApiKeyUsed')).to.equal(made);
    const chain = await chainOf(await idOf('AgentCreated'));
    const { correlation_id } = await last('AgentCreated');
    expect(chain).to.include({ correlation_id, is_complete: true });
    // The use of the key is of the same request.
    const [root] = chain.events;
    expect(root?.effects[0]?.effects.map(({ type }) => type)).to.have.members(['AgentCreated', 'ApiKeyUsed']);
    await addAgent(key, 'second');
    expect((await chainOf(await idOf('AgentCreated'))).events.map(shape)).to.deep.equal([
      ['UserSignedIn', ['ApiKeyCreated', ['AgentCreated']]],
    ]);
    expect((await chainOf(signedInBy)).events.map(shape)).to.deep.equal([['UserSignedIn']]);
  });

  it('is the roll that gave out a key’s secret, or for the earlier one what gave out that', async () => {
    const made = await makeKeyOver(withKey(client, key), 'acme', { role: 'writer' });
    const created = await idOf('ApiKeyCreated');
    const roll = `/w/acme/api-keys/${made.id}/roll`;
    expect((await alice.post(roll, { overlap_secs: '3600' })).status).to.equal(303);
    const rolled = await last('ApiKeyRolled');
    expect(rolled.causation_id).to.equal(await idOf('UserSignedIn'));
    await addAgent(made, 'by the earlier secret');
    expect(await causeOf('AgentCreated')).to.equal(created);
    const again = bodyOf<{ key: string }>(
      await withKey(client, key)('POST', `/api/acme/api-keys/${made.id}/roll`),
    );
    await addAgent(again, 'by the later one');
    expect(await causeOf('AgentCreated')).to.equal(await idOf('ApiKeyRolled'));
  });

  it('is the operator’s sign-in in the console, and none with the token', async () => {
    const operator = await operatorAt(() => program().url);
    const first = await idOf('OperatorSignedIn');
    expect(await causeOf('OperatorSignedIn')).to.equal(null);
    expect((await operator.post('/console/tenants', { id: 'made-in-console' })).status).to.equal(303);
    expect(await causeOf('TenantCreated', 'made-in-console')).to.equal(first);
    bodyOf(await client('POST', '/admin/v1/tenants', { body: { id: 'made-by-token' } }), 201);
    expect(await causeOf('TenantCreated', 'made-by-token')).to.equal(null);
    // A sign-in ends the session that the browser had: that one led to its end, and not to the new one.
    await operator.post('/console/sign-in', { token: adminToken });
    expect([await causeOf('SignedOut'), await causeOf('OperatorSignedIn')]).to.deep.equal([first, null]);
    expect(await idOf('OperatorSignedIn')).to.not.equal(first);
    const other = await signedIn(() => program().url, person('acme'));
    const begun = await idOf('UserSignedIn');
    await signIn(other, person('acme'));
    expect([await causeOf('SignedOut'), await causeOf('UserSignedIn')]).to.deep.equal([begun, null]);
  });

  it('is shown in the console as a tree, with a link to all that it led to', async () => {
    const operator = await operatorAt(() => program().url);
    const agent = await idOf('AgentCreated');
    const cause = (await last('AgentCreated')).causation_id ?? '';
    const { text } = await operator.get(`/console/events/${agent}`);
    const chain = text.slice(text.indexOf('<ol class="chain">'));
    expect(chain).to.match(
      new RegExp(`signed in.*<ol class="chain">.*${cause}.*<ol class="chain">.*${agent}[^>]*aria-current`),
    );
    expect(text).to.not.contain('What it led to</a>');
    const given = await operator.get(`/console/events/${cause}`);
    const [, href = ''] = /href="([^"]+)">What it led to</.exec(given.text) ?? [];
    const effects = await operator.get(href.replaceAll('&amp;', '&'));
    expect(effects.status).to.equal(200);
    const ids = [...effects.text.matchAll(/\/console\/events\/([0-9a-f-]{36})\?at=/g)].map(([, id]) => id);
    expect(ids).to.include(agent);
    expect(new Set(ids)).to.deep.equal(new Set((await all(`causation_id=${cause}`)).map(({ id }) => id)));
  });

  it('is what events can be asked for by, in each form, and nothing but an id', async () => {
    const cause = await idOf('UserSignedIn', 'acme');
    const begun = await signedIn(() => program().url, person('acme'));
    const asked = await idOf('UserSignedIn', 'acme');
    expect(asked).to.not.equal(cause);
    const tail = await openEventTail(program().url, `?causation_id=${asked}`);
    await until('the tail has begun', () => tail.lastId() !== '');
    const made = await makeKeyByForm(begun, 'acme', { role: 'admin' });
    await addAgent(made, 'of a key');
    await makeKeyByForm(begun, 'acme');
    await begun.post('/sign-out');
    const effects = (await all('')).filter(({ causation_id }) => causation_id === asked);
    expect(effects.map(({ type }) => type)).to.deep.equal(['ApiKeyCreated', 'ApiKeyCreated', 'SignedOut']);
    for (const id of [asked, asked.toUpperCase()])
      expect(await all(`causation_id=${id}`)).to.deep.equal(effects);
    expect(await all(`causation_id=${asked}&type=SignedOut`)).to.deep.equal(effects.slice(2));
    const lines = await client('GET', `${path}?causation_id=${asked}`, {
      headers: { Accept: 'application/x-ndjson' },
    });
    expect(lines.text).to.equal(effects.map((event) => `${JSON.stringify(event)}\n`).join(''));
    await tail.have(effects.length);
    tail.leave();
    expect(tail.events.map(({ data }) => JSON.parse(data) as unknown)).to.deep.equal(effects);
    for (const bad of ['', 'x', 'request-1', '0'.repeat(20), `${asked}0`])
      expect(expectInvalid(await client('GET', `${path}?causation_id=${bad}`)), bad).to.deep.equal([
        '/causation_id',
      ]);
    const operator = await operatorAt(() => program().url);
    const { status, text } = await operator.get('/console/events?causation_id=x');
    expect([status, text.includes('id="causation_id-error"')]).to.deep.equal([400, true]);
  });

  it('is followed up to a bound', async () => {
    let deepest = key;
    for (let depth = 0; depth < causesMax + 2; depth += 1)
      deepest = await makeKeyOver(withKey(client, deepest), 'acme', { role: 'admin' });
    let depth = 0;
    for (let [at] = (await chainOf(await idOf('ApiKeyCreated'))).events; at !== undefined; [at] = at.effects)
      depth += 1;
    expect(depth).to.equal(causesMax + 1);
  });

  it('is in no answer but those about events', async () => {
    const diff = `/admin/v1/diff?from=${encodeURIComponent(new Date(Date.now() - 600_000).toISOString())}`;
    for (const asked of [
      '/admin/v1/service-accounts',
      '/admin/v1/tenants/acme/api-keys',
      '/admin/v1/tenants/acme/activity',
      '/admin/v1/tenants/robots/access',
      '/admin/v1/tenants/acme/access',
      diff,
      path,
    ]) {
      const answer = await client('GET', asked);
      expect(answer.status, `${asked} ${answer.text}`).to.equal(200);
      expect(answer.text, asked).to.not.match(/given_?by/i);
      if (asked !== path) expect(answer.text, asked).to.not.contain('causation_id');
    }
    for (const asked of ['/api/acme/api-keys', `/api/acme/api-keys/${key.id}`]) {
      const answer = await withKey(client, key)('GET', asked);
      expect([answer.status, /given_?by/i.test(answer.text)], asked).to.deep.equal([200, false]);
    }
    expect((await alice.get('/w/acme/api-keys')).text).to.not.match(/given_?by/i);
  });
});
