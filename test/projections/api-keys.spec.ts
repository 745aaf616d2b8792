import { expect } from 'chai';
import { createApiKey, noteApiKeyUse, revokeApiKey, rollApiKey } from '../../src/commands/api-key.ts';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import {
  apiKeys,
  apiKeySecrets,
  apiKeyStanding,
  apiKeyUses,
  findApiKey,
  findByKey,
  findLastUse,
} from '../../src/projections/api-keys.ts';
import {
  acme,
  acmeAgain,
  apiKeyCreated as created,
  apiKeyRevoked as revoked,
  apiKeyRolled as rolled,
  apiKeyUsed as used,
  but,
  digestOf,
  time,
  timeMs,
  timePlus,
} from '../support/examples.ts';
import { happened, project } from '../support/given.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const { name, role, created_by, created_by_user_id, expires_at, prefix } = created.data;

/** Another user, perhaps of the same name. */
const other = '019a0000-0000-7000-8000-0000000000b0';
const key = {
  id: 'key_1',
  workspace_id: 'acme',
  incarnation: 'acme~1',
  name,
  role,
  created_by,
  user_id: created_by_user_id,
  created_at: time,
  expires_at,
  prefix,
};
const secret = {
  api_key_id: 'key_1',
  generation: 1,
  workspace_id: 'acme',
  incarnation: 'acme~1',
  role,
  expires_at,
  given_by: 'event-0',
};
const second = { ...secret, generation: 2, given_by: 'event-1' };
const dayMs = 86_400_000;

describe('API keys', () => {
  it('has a key, with nothing of its secret but how it begins', () =>
    project(apiKeys).given(created).hasOnly({ key_1: key }));
  it('has it as it was after a roll, but for how it begins now', () =>
    project(apiKeys)
      .given(created, rolled)
      .hasOnly({ key_1: { ...key, prefix: rolled.data.prefix } }));
  it('keeps one that is revoked', () => project(apiKeys).given(created, revoked).hasOnly({ key_1: key }));
  it('is not changed when an event comes late or again', () =>
    project(apiKeys)
      .given(happened(created), happened(rolled, { revision: 1 }), happened(created))
      .hasOnly({ key_1: { ...key, prefix: rolled.data.prefix } }));
  it('lists keys by the life of their tenant, and by the user who made them, whoever has the name', () => {
    const all = project(apiKeys).given(
      happened(created),
      happened(but(created, { api_key_id: 'key_2', created_by_user_id: other })),
      happened(but(created, { api_key_id: 'key_3', ...acmeAgain })),
    );
    all.lists('acme~1', ['key_1', 'key_2']);
    all.lists('acme~2', ['key_3']);
    all.sublists(created_by_user_id ?? '', ['key_1', 'key_3']);
    all.sublists(other, ['key_2']);
  });
});

describe('API keys’ secrets', () => {
  it('tells whose a key is, of which generation, and what gave it out, by its digest', () =>
    project(apiKeySecrets)
      .given(created, rolled)
      .hasOnly({ [digestOf('K')]: secret, [digestOf('L')]: second }));
  it('keeps telling it of a revoked key: what ends one is its tombstone', () =>
    project(apiKeySecrets)
      .given(created, rolled, revoked)
      .hasOnly({ [digestOf('K')]: secret, [digestOf('L')]: second }));
});

describe('uses of API keys', () => {
  it('has the latest use of each day, listed by the key', () => {
    const uses = project(apiKeyUses).given(
      used,
      but(used, { used_at: timePlus(240_000) }),
      but(used, { used_at: timePlus(dayMs) }),
    );
    uses.hasOnly({
      'key_1/2026-03-04': { used_at: timePlus(240_000) },
      'key_1/2026-03-05': { used_at: timePlus(dayMs) },
    });
    uses.lists('key_1', ['key_1/2026-03-04', 'key_1/2026-03-05']);
  });
});

describe('find an API key', () => {
  const by = { actor: 'admin', role: 'admin' } as const;
  let joined: Joined;
  const make = (api_key_id: string, letter: string, more: { expires_at?: string | null } = {}) =>
    joined.grant(createApiKey, {
      ...created.data,
      api_key_id,
      expires_at: null,
      key_digest: digestOf(letter),
      by,
      atMs: timeMs,
      ...more,
    });
  const roll = (api_key_id: string, letter: string, overlap_secs: number) => {
    const wish = { ...acme, api_key_id, key_digest: digestOf(letter), prefix, overlap_secs, by };
    return joined.grant(rollApiKey, { ...wish, atMs: timeMs });
  };
  const standsBy = async (letter: string, nowMs = timeMs) =>
    (await findByKey(joined.reads, digestOf(letter), nowMs))?.standing;
  const stands = async (id: string, nowMs = timeMs) => {
    const found = await findApiKey(joined.reads, 'acme~1', id);
    if (found === undefined) throw new Error(`There is no key ${id}.`);
    return apiKeyStanding(joined.reads, found, nowMs);
  };

  before(async () => {
    joined = await openJoined({ clock: () => timeMs });
    await joined.grant(createTenant, acme);
  });
  after(() => joined.close());

  it('answers it by its id in its own life of the tenant, and nothing for a secret that nobody has', async () => {
    await make('key_1', 'A');
    expect((await findApiKey(joined.reads, 'acme~1', 'key_1'))?.id).to.equal('key_1');
    expect(await findApiKey(joined.reads, 'acme~2', 'key_1')).to.equal(undefined);
    expect(await findApiKey(joined.reads, 'acme~1', 'key_none')).to.equal(undefined);
    expect(await standsBy('A')).to.equal('active');
    expect(await standsBy('Z')).to.equal(undefined);
  });
  it('stands active until the millisecond in which it expires', async () => {
    await make('key_2', 'B', { expires_at: timePlus(60_000) });
    for (const [ms, standing] of [
      [59_999, 'active'],
      [60_000, 'expired'],
    ] as const)
      expect([await stands('key_2', timeMs + ms), await standsBy('B', timeMs + ms)]).to.deep.equal([
        standing,
        standing,
      ]);
  });
  it('works by an earlier secret until the millisecond in which its overlap ends', async () => {
    await make('key_3', 'C');
    await roll('key_3', 'D', 60);
    expect(await standsBy('C', timeMs + 59_999)).to.equal('active');
    expect(await standsBy('C', timeMs + 60_000)).to.equal('revoked');
    expect(await standsBy('D', timeMs + 60_000)).to.equal('active');
    expect(await stands('key_3', timeMs + 60_000)).to.equal('active');
  });
  it('refuses a secret that was rolled away at once also by a clock that is behind', async () => {
    await make('key_4', 'E');
    await roll('key_4', 'F', 0);
    expect(await standsBy('E', timeMs - 60_000)).to.equal('revoked');
    expect(await standsBy('F', timeMs - 60_000)).to.equal('active');
  });
  it('stands revoked under each of its secrets once it is revoked, also by a clock that is behind', async () => {
    await make('key_5', 'G', { expires_at: timePlus(60_000) });
    await roll('key_5', 'H', 60);
    await joined.grant(revokeApiKey, { ...acme, api_key_id: 'key_5', by });
    for (const nowMs of [timeMs - 60_000, timeMs, timeMs + 3_600_000]) {
      expect([await standsBy('G', nowMs), await standsBy('H', nowMs)]).to.deep.equal(['revoked', 'revoked']);
      expect(await stands('key_5', nowMs)).to.equal('revoked');
    }
  });
  it('was last in use when that was stated last, on the latest day', async () => {
    const use = (atMs: number) => joined.grant(noteApiKeyUse, { ...acme, api_key_id: 'key_1', atMs });
    expect(await findLastUse(joined.reads, 'key_1')).to.equal(null);
    await use(timeMs);
    expect(await findLastUse(joined.reads, 'key_1')).to.equal(time);
    await use(timeMs + 239_999);
    expect(await findLastUse(joined.reads, 'key_1')).to.equal(time);
    await use(timeMs + 240_000);
    expect(await findLastUse(joined.reads, 'key_1')).to.equal(timePlus(240_000));
    await use(timeMs + dayMs);
    expect(await findLastUse(joined.reads, 'key_1')).to.equal(timePlus(dayMs));
    expect(await findLastUse(joined.reads, 'key_2')).to.equal(null);
  });
  it('stands revoked once the tenant is deleted, under every secret', async () => {
    await joined.grant(deleteTenant, acme);
    expect([await standsBy('A'), await standsBy('D'), await stands('key_1')]).to.deep.equal([
      'revoked',
      'revoked',
      'revoked',
    ]);
  });
});
