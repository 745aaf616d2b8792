import { expect } from 'chai';
import { createApiKey, revokeApiKey, rollApiKey } from '../../src/commands/api-key.ts';
import { mintCredential, revokeCredential } from '../../src/commands/credential.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  rotateBearer,
} from '../../src/commands/service-account.ts';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { createUser, deleteUser } from '../../src/commands/user.ts';
import { startOfLog } from '../../src/core/event.ts';
import { accessOf, grantedIn, grantedTo, type Access, type Principal } from '../../src/projections/access.ts';
import { referenceTo } from '../../src/projections/event-reference.ts';
import { grants, grantsOf, grantsOfUser } from '../../src/projections/grants.ts';
import {
  accountCreated,
  accountDeleted,
  acme,
  acmeAgain,
  apiKeyCreated,
  apiKeyRevoked,
  apiKeyRolled,
  bearerRotated,
  but,
  digestOf,
  time,
  timeMs,
  timePlus,
  userCreated,
  userDeleted,
} from '../support/examples.ts';
import { happened, project } from '../support/given.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const { user_id, username, role } = userCreated.data;
const { expires_at } = apiKeyCreated.data;
const byFirst = (fact: Parameters<typeof happened>[0]) => referenceTo(happened(fact));
const bySecond = (fact: Parameters<typeof happened>[0]) => referenceTo(happened(fact, { revision: 1 }));

describe('grants', () => {
  it('has each life of a user', () =>
    project(grants)
      .given(userCreated, userDeleted)
      .hasOnly({
        [`user:${user_id}`]: {
          kind: 'user',
          id: user_id,
          ...acme,
          name: username,
          role,
          from: time,
          granted_by: byFirst(userCreated),
        },
      }));
  it('has each generation of a bearer, also when the account is gone', () =>
    project(grants)
      .given(accountCreated, bearerRotated, accountDeleted)
      .hasOnly({
        'service_account:sa_1#1': {
          kind: 'service_account',
          id: 'sa_1',
          generation: 1,
          ...acme,
          name: 'robot',
          role: 'writer',
          from: time,
          granted_by: byFirst(accountCreated),
        },
        'service_account:sa_1#2': {
          kind: 'service_account',
          id: 'sa_1',
          generation: 2,
          ...acme,
          from: time,
          granted_by: bySecond(bearerRotated),
        },
      }));
  it('has each generation of an API key, with the role and expiry that it was given', () => {
    const rolled = but(apiKeyRolled, { role: 'reader', expires_at: null });
    project(grants)
      .given(apiKeyCreated, rolled, apiKeyRevoked)
      .hasOnly({
        'api_key:key_1#1': {
          kind: 'api_key',
          id: 'key_1',
          generation: 1,
          ...acme,
          name: 'reports',
          role: 'writer',
          expires_at,
          from: time,
          granted_by: byFirst(apiKeyCreated),
        },
        'api_key:key_1#2': {
          kind: 'api_key',
          id: 'key_1',
          generation: 2,
          ...acme,
          role: 'reader',
          expires_at: null,
          from: time,
          granted_by: bySecond(rolled),
        },
      });
  });
  it('has nothing of a secret', () => {
    for (const fact of [userCreated, accountCreated, bearerRotated, apiKeyCreated, apiKeyRolled])
      for (const { to } of grants.on[fact.type]?.(happened(fact)) ?? [])
        expect(JSON.stringify(to(undefined)), fact.type).to.not.match(
          /digest|hash|argon2|svc_|([A-Z])\1{42}/,
        );
  });
  it('lists them by the life of the tenant, and by to whom they were given', () => {
    const second = '019a0000-0000-7000-8000-000000000002';
    const all = project(grants).given(
      happened(userCreated),
      happened(but(userCreated, { ...acmeAgain, user_id: second, username: 'aLICE' })),
      happened(accountCreated),
      happened(bearerRotated, { revision: 1 }),
      happened(apiKeyCreated),
    );
    all.lists('acme~2', [`user:${second}`]);
    all.sublists(grantsOfUser('acme', 'ALICE'), [`user:${user_id}`, `user:${second}`]);
    all.sublists(grantsOf('service_account', 'sa_1'), ['service_account:sa_1#1', 'service_account:sa_1#2']);
    all.sublists(grantsOf('api_key', 'key_1'), ['api_key:key_1#1']);
  });
});

/** What of an end a test states. */
const endOf = ({ until, ended_by: ended }: Access) => {
  if (ended === null) return [until, null];
  return ended.kind === 'expiry' ? [until, 'expiry'] : [until, ended.kind, ended.type];
};

const lifeOf = ({ principal, role: as, from, until }: Access) => [principal, as, from, until];

describe('access', () => {
  const always = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
  const whole = { all: { behind: startOfLog }, recent: { behind: startOfLog } };
  const by = { actor: 'admin', role: 'admin' } as const;
  const asked = { role: 'reader', subject: 'ci', password_digest: digestOf('C'), ttl_secs: 60 } as const;
  const account = { service_account_id: 'sa_1' };
  const minter = { ...accountCreated.data };
  let joined: Joined;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = timeMs;
    joined = await openJoined({ clock: () => nowMs });
    await joined.grant(createTenant, acme);
  });
  afterEach(() => joined.close());

  const mint = (name: string, more: object = {}) =>
    joined.grant(mintCredential, { ...asked, username: name, minter, atMs: nowMs, ...more });
  const rotate = (letter: string, grace_secs: number) =>
    joined.grant(rotateBearer, { ...account, bearer_digest: digestOf(letter), grace_secs, atMs: nowMs });
  const makeKey = (more: object = {}) =>
    joined.grant(createApiKey, { ...apiKeyCreated.data, expires_at: null, by, atMs: nowMs, ...more });
  const roll = (letter: string, overlap_secs: number) => {
    const wish = { ...acme, api_key_id: 'key_1', key_digest: digestOf(letter), prefix: 'svc_ghijkl' };
    return joined.grant(rollApiKey, { ...wish, overlap_secs, by, atMs: nowMs });
  };
  const inTenant = async (interval = always, tenant = 'acme'): Promise<readonly Access[]> => {
    const pages = await grantedIn(joined.reads, tenant, interval, whole);
    const items = (await pages?.page({ limit: 1_000 })) ?? [];
    const all = await accessOf(
      joined.reads,
      items.map(({ document }) => document),
      interval,
    );
    return all.filter((one) => one !== undefined);
  };
  const to = async (principal: Principal): Promise<readonly Access[]> => {
    const items = await (await grantedTo(joined.reads, principal)).page({ limit: 1_000 });
    const all = await accessOf(
      joined.reads,
      items.map(({ document }) => document),
      always,
    );
    return all.filter((one) => one !== undefined);
  };
  const keyEnds = async () => (await to({ kind: 'api_key', id: 'key_1' })).map(endOf);
  const only = async (): Promise<Access> => {
    const [first, ...more] = await inTenant();
    expect(more).to.deep.equal([]);
    return first as Access;
  };

  it('of a user lasts until the user is deleted, by the event that did it', async () => {
    await joined.grant(createUser, userCreated.data);
    expect(endOf(await only())).to.deep.equal([null, null]);
    nowMs += 1_000;
    await joined.grant(deleteUser, { ...acme, username: 'aLiCe' });
    const { granted_by, ended_by, ...rest } = await only();
    expect(rest).to.deep.equal({
      principal: 'user:acme/Alice',
      kind: 'user',
      tenant: 'acme',
      name: 'Alice',
      role: 'writer',
      from: time,
      until: timePlus(1_000),
    });
    expect(granted_by).to.include({ type: 'UserCreated', actor: 'admin', time });
    expect(ended_by).to.include({
      kind: 'event',
      type: 'UserDeleted',
      actor: 'admin',
      time: timePlus(1_000),
    });
    expect(
      [ended_by, granted_by].map((one) => one !== null && 'position' in one && one.position),
    ).to.not.include(false);
  });
  it('of a user made again is another, and the name has both', async () => {
    await joined.grant(createUser, userCreated.data);
    nowMs += 1_000;
    await joined.grant(deleteUser, { ...acme, username: 'alice' });
    nowMs += 1_000;
    const user = {
      ...userCreated.data,
      user_id: '019a0000-0000-7000-8000-000000000002',
      role: 'reader' as const,
    };
    await joined.grant(createUser, { ...user, username: 'alice' });
    const both = [
      ['user:acme/Alice', 'writer', time, timePlus(1_000)],
      ['user:acme/alice', 'reader', timePlus(2_000), null],
    ];
    expect((await inTenant()).map(lifeOf)).to.deep.equal(both);
    expect((await to({ kind: 'user', tenant: 'acme', username: 'ALICE' })).map(lifeOf)).to.deep.equal(both);
    expect(await to({ kind: 'user', tenant: 'acme2', username: 'alice' })).to.deep.equal([]);
  });
  it('of a bearer ends with its grace, and a later rotation without grace ends it at once', async () => {
    await joined.grant(createServiceAccount, accountCreated.data);
    nowMs += 1_000;
    await rotate('B', 60);
    const first = async () => (await to({ kind: 'service_account', id: 'sa_1' }))[0] as Access;
    expect(endOf(await first())).to.deep.equal([timePlus(61_000), 'event', 'ServiceAccountBearerRotated']);
    nowMs += 1_000;
    await rotate('D', 0);
    const all = await to({ kind: 'service_account', id: 'sa_1' });
    expect(all.map(({ name, generation, from, until }) => [name, generation, from, until])).to.deep.equal([
      ['robot', 1, time, timePlus(2_000)],
      ['robot', 2, timePlus(1_000), timePlus(2_000)],
      ['robot', 3, timePlus(2_000), null],
    ]);
    expect(all[0]?.ended_by).to.include({ time: timePlus(2_000) });
    nowMs += 1_000;
    await joined.grant(deleteServiceAccount, { ...account, credentials: 'keep' });
    expect((await to({ kind: 'service_account', id: 'sa_1' })).map(endOf)).to.deep.equal([
      [timePlus(2_000), 'event', 'ServiceAccountBearerRotated'],
      [timePlus(2_000), 'event', 'ServiceAccountBearerRotated'],
      [timePlus(3_000), 'event', 'ServiceAccountDeleted'],
    ]);
  });
  it('of a credential ends with its expiry, its revocation, or the account that minted it', async () => {
    await joined.grant(createServiceAccount, accountCreated.data);
    await mint('cred_expires');
    await mint('cred_revoked', { role: 'writer', write_schemas: ['public'] });
    await mint('cred_cascades', { ttl_secs: 600 });
    nowMs += 1_000;
    await joined.grant(revokeCredential, { ...acme, username: 'cred_revoked' });
    nowMs += 60_000;
    await joined.grant(revokeCredential, { ...acme, username: 'cred_expires' });
    await joined.grant(deleteServiceAccount, { ...account, credentials: 'revoke' });
    const ended = async (id: string) => (await to({ kind: 'credential', id })).map(endOf);
    expect(await ended('cred_expires')).to.deep.equal([[timePlus(60_000), 'expiry']]);
    expect(await ended('cred_revoked')).to.deep.equal([[timePlus(1_000), 'event', 'CredentialRevoked']]);
    expect(await ended('cred_cascades')).to.deep.equal([
      [timePlus(61_000), 'cascade', 'ServiceAccountDeleted'],
    ]);
    expect(await ended('cred_none')).to.deep.equal([]);
    const [scoped] = await to({ kind: 'credential', id: 'cred_revoked' });
    expect(scoped).to.deep.include({ name: 'ci', role: 'writer', write_schemas: ['public'], tenant: 'acme' });
    expect(scoped?.granted_by).to.include({ type: 'CredentialMinted', actor: 'admin', time });
  });
  it('of a credential that was kept lasts until it expires', async () => {
    await joined.grant(createServiceAccount, accountCreated.data);
    await mint('cred_1');
    await joined.grant(deleteServiceAccount, { ...account, credentials: 'keep' });
    expect((await to({ kind: 'credential', id: 'cred_1' })).map(endOf)).to.deep.equal([
      [timePlus(60_000), 'expiry'],
    ]);
  });
  it('of an API key ends with its overlap, its expiry or its revocation, each secret by itself', async () => {
    await makeKey({ expires_at: timePlus(100_000) });
    nowMs += 1_000;
    await roll('L', 60);
    nowMs += 1_000;
    await roll('M', 3_600);
    expect(await keyEnds()).to.deep.equal([
      [timePlus(61_000), 'event', 'ApiKeyRolled'],
      [timePlus(100_000), 'expiry'],
      [timePlus(100_000), 'expiry'],
    ]);
    nowMs += 70_000;
    await joined.grant(revokeApiKey, { ...acme, api_key_id: 'key_1', by });
    expect(await keyEnds()).to.deep.equal([
      [timePlus(61_000), 'event', 'ApiKeyRolled'],
      [timePlus(72_000), 'event', 'ApiKeyRevoked'],
      [timePlus(72_000), 'event', 'ApiKeyRevoked'],
    ]);
  });
  it('of a later secret is of its own role and expiry, under the name of the first', async () => {
    await makeKey();
    const own = { kind: 'api_key', id: 'key_1', generation: 2, ...acme, from: time } as const;
    const later = { ...own, role: 'reader' as const, expires_at: timePlus(60_000) };
    const [found] = await accessOf(joined.reads, [{ ...later, granted_by: byFirst(apiKeyRolled) }], always);
    expect(found).to.deep.include({
      name: 'reports',
      role: 'reader',
      generation: 2,
      until: timePlus(60_000),
    });
  });
  it('of everything ends with the tenant, and none of it is in the next life', async () => {
    await joined.grant(createUser, userCreated.data);
    await joined.grant(createServiceAccount, accountCreated.data);
    await mint('cred_1');
    await makeKey();
    nowMs += 1_000;
    await joined.grant(deleteTenant, acme);
    await joined.grant(createTenant, acmeAgain);
    await makeKey({ ...acmeAgain, api_key_id: 'key_2', key_digest: digestOf('N') });
    const all = await inTenant();
    expect(all.map(({ kind }) => kind)).to.deep.equal([
      'user',
      'service_account',
      'credential',
      'api_key',
      'api_key',
    ]);
    expect(all.slice(0, 4).map(endOf)).to.deep.equal(
      all.slice(0, 4).map(() => [timePlus(1_000), 'cascade', 'TenantDeleted']),
    );
    expect(all.slice(4).map(endOf)).to.deep.equal([[null, null]]);
    const at = async (ms: number) => (await inTenant({ fromMs: timeMs + ms, toMs: timeMs + ms + 1 })).length;
    expect([await at(-1), await at(0), await at(999), await at(1_000)]).to.deep.equal([0, 4, 4, 1]);
  });
  it('that was given when its tenant had ended already never lasted', async () => {
    await joined.grant(deleteTenant, acme);
    nowMs += 1_000;
    await makeKey();
    expect(
      (await to({ kind: 'api_key', id: 'key_1' })).map(({ from, until }) => [from, until]),
    ).to.deep.equal([[timePlus(1_000), timePlus(1_000)]]);
    expect(await inTenant({ fromMs: nowMs, toMs: nowMs + 1 })).to.deep.equal([]);
  });
  it('is listed from several lists as from one, in either order and for any limit', async () => {
    await joined.grant(createServiceAccount, accountCreated.data);
    for (let n = 0; n < 4; n += 1) {
      await mint(`cred_${n}`);
      await makeKey({ api_key_id: `key_${n}`, key_digest: digestOf(String(n)) });
    }
    const pages = await grantedIn(joined.reads, 'acme', always, whole);
    if (pages === undefined) throw new Error('There is no tenant.');
    for (const order of ['asc', 'desc'] as const) {
      const all = await pages.page({ order, limit: 1_000 });
      const places = all.map(({ created }) => created);
      const sorted = places.toSorted();
      expect(places).to.deep.equal(order === 'asc' ? sorted : sorted.toReversed());
      expect(new Set(places).size).to.equal(9);
      for (const limit of [1, 2, 4, 9]) {
        const seen: string[] = [];
        for (let after: string | undefined; seen.length <= 9;) {
          const page = await pages.page({ order, limit, ...(after === undefined ? {} : { after }) });
          seen.push(...page.map(({ created }) => created));
          after = page.at(-1)?.created;
          if (page.length < limit) break;
        }
        expect(seen, `${order} ${limit}`).to.deep.equal(places);
      }
    }
  });
  it('is none of an id that never was a tenant', async () => {
    expect(await grantedIn(joined.reads, 'nowhere', always, whole)).to.equal(undefined);
  });
});
