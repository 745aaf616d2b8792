import { expect } from 'chai';
import { createApiKey, noteApiKeyUse, revokeApiKey, rollApiKey } from '../../src/commands/api-key.ts';
import { gracedGenerationsMax } from '../../src/commands/generations.ts';
import { roles } from '../../src/events/fields.ts';
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
import { given } from '../support/given.ts';

const { created_by: maker, created_by_user_id: user_id, ...make } = created.data;
const admin = { actor: 'admin', role: 'admin' } as const;
const alice = { actor: maker, role: 'writer', user_id } as const;
const bob = {
  actor: 'user:acme/bob',
  role: 'writer',
  user_id: '019a0000-0000-7000-8000-0000000000b0',
} as const;
/** Somebody else who got the name when its first owner was deleted. */
const namesake = { ...alice, user_id: bob.user_id } as const;
const key = { ...acme, api_key_id: 'key_1' };
const keyAgain = { ...acmeAgain, api_key_id: 'key_1' };

/** The end of the first generation, so many seconds on. */
const ended = (secs: number) => [{ generation: 1, until: timePlus(secs * 1_000) }];

const streamAt = (at: string): string => noteApiKeyUse.stream({ ...key, atMs: Date.parse(at) });

describe('create an API key', () => {
  const wish = { ...make, by: alice, atMs: timeMs };

  it('records who made it, what it may, when it ends, and of the key the digest and its beginning alone', () =>
    given(createApiKey).when(wish).then(created));
  it('records that it never ends', () =>
    given(createApiKey)
      .when({ ...wish, expires_at: null })
      .then(but(created, { expires_at: null })));
  it('is refused where the id is taken, also by one that is revoked', () => {
    given(createApiKey, created).when(wish).thenRefused('api-key.exists');
    given(createApiKey, created, revoked).when(wish).thenRefused('api-key.exists');
  });
  it('grants an expiry a millisecond ahead, and refuses one that is now', () => {
    given(createApiKey)
      .when({ ...wish, expires_at: timePlus(1) })
      .then(but(created, { expires_at: timePlus(1) }));
    for (const expires_at of [time, timePlus(-1)])
      given(createApiKey)
        .when({ ...wish, expires_at })
        .thenRefused('api-key.expiry-in-past');
  });

  for (const [highest, own] of roles.entries()) {
    for (const [wanted, role] of roles.entries()) {
      const asked = { ...wish, role, by: { ...alice, role: own } };
      if (wanted <= highest) {
        it(`grants a ${role}’s key to a maker who is ${own}`, () =>
          given(createApiKey).when(asked).then(but(created, { role })));
      } else {
        it(`refuses a ${role}’s key to a maker who is ${own}`, () =>
          given(createApiKey).when(asked).thenRefused('api-key.role-above-own'));
      }
    }
  }
});

describe('roll an API key', () => {
  const { key_digest, prefix, overlap_secs } = rolled.data;
  const wish = { ...key, key_digest, prefix, overlap_secs, by: alice, atMs: timeMs };

  it('records the next generation with the role and expiry of the key, and when the earlier one ends', () =>
    given(rollApiKey, created).when(wish).then(rolled));
  it('ends the earlier one at once without an overlap', () =>
    given(rollApiKey, created)
      .when({ ...wish, overlap_secs: 0 })
      .then(but(rolled, { overlap_secs: 0, ends: ended(0) })));
  it('ends with it those before that still worked, and never lets one work longer than it was told', () => {
    const again = { ...wish, key_digest: digestOf('M'), overlap_secs: 0 };
    given(rollApiKey, created, rolled)
      .when(again)
      .then(
        but(rolled, {
          key_digest: digestOf('M'),
          overlap_secs: 0,
          generation: 3,
          ends: [...ended(0), { generation: 2, until: time }],
        }),
      );
    given(rollApiKey, created, rolled)
      .when({ ...wish, overlap_secs: 3_600 })
      .then(
        but(rolled, {
          overlap_secs: 3_600,
          generation: 3,
          ends: [...ended(60), { generation: 2, until: timePlus(3_600_000) }],
        }),
      );
  });
  it('says nothing of an earlier one that has ended', () =>
    given(rollApiKey, created, rolled)
      .when({ ...wish, atMs: timeMs + 60_000 })
      .then(but(rolled, { generation: 3, ends: [{ generation: 2, until: timePlus(120_000) }] })));
  it('ends the oldest at once where too many would work', () => {
    const many = Array.from({ length: gracedGenerationsMax }, (_, n) => ({
      generation: n + 1,
      until: timePlus(60_000),
    }));
    const full = but(rolled, { generation: many.length + 1, ends: many });
    given(rollApiKey, created, full)
      .when(wish)
      .then(
        but(rolled, {
          generation: many.length + 2,
          ends: [
            { generation: 1, until: time },
            ...many.slice(1),
            { generation: many.length + 1, until: timePlus(60_000) },
          ],
        }),
      );
  });
  it('is granted to an admin who did not make it, and refused to anybody else', () => {
    given(rollApiKey, created)
      .when({ ...wish, by: admin })
      .then(rolled);
    for (const by of [bob, namesake])
      given(rollApiKey, created)
        .when({ ...wish, by })
        .thenRefused('api-key.not-yours');
  });
  it('is refused to a maker whose role is below the key’s', () =>
    given(rollApiKey, created)
      .when({ ...wish, by: { ...alice, role: 'reader' } })
      .thenRefused('api-key.role-above-own'));
  it('is refused once it is revoked, or from the millisecond in which it has expired', () => {
    given(rollApiKey, created, revoked).when(wish).thenRefused('api-key.ended');
    given(rollApiKey, but(created, { expires_at: timePlus(1) }))
      .when(wish)
      .then(but(rolled, { expires_at: timePlus(1) }));
    given(rollApiKey, but(created, { expires_at: time }))
      .when(wish)
      .thenRefused('api-key.ended');
  });
  it('is refused where there is none, and in another tenant or life of it as if there were none', () => {
    given(rollApiKey).when(wish).thenRefused('api-key.not-found');
    given(rollApiKey, created)
      .when({ ...wish, ...keyAgain })
      .thenRefused('api-key.not-found');
    given(rollApiKey, created)
      .when({ ...wish, tenant_id: 'other', incarnation: 'other~1' })
      .thenRefused('api-key.not-found');
  });
});

describe('revoke an API key', () => {
  const wish = { ...key, by: alice };

  it('ends it for its maker', () => given(revokeApiKey, created).when(wish).then(revoked));
  it('ends it for an admin who did not make it', () =>
    given(revokeApiKey, created)
      .when({ ...wish, by: admin })
      .then(revoked));
  it('ends one that was rolled', () => given(revokeApiKey, created, rolled).when(wish).then(revoked));
  it('ends one that has expired', () =>
    given(revokeApiKey, but(created, { expires_at: timePlus(-1) }))
      .when(wish)
      .then(revoked));
  it('records nothing when already revoked', () =>
    given(revokeApiKey, created, revoked).when(wish).thenNothing());
  it('is refused to somebody else, alive or revoked', () => {
    for (const past of [[created], [created, revoked]])
      given(revokeApiKey, ...past)
        .when({ ...wish, by: namesake })
        .thenRefused('api-key.not-yours');
  });
  it('is refused where there is none, and in another tenant or life of it as if there were none', () => {
    given(revokeApiKey).when(wish).thenRefused('api-key.not-found');
    given(revokeApiKey, created)
      .when({ ...wish, ...keyAgain })
      .thenRefused('api-key.not-found');
    given(revokeApiKey, created)
      .when({ ...wish, tenant_id: 'other', incarnation: 'other~1' })
      .thenRefused('api-key.not-found');
  });
});

describe('note the use of an API key', () => {
  const fourMinutes = 240_000;

  it('states the first', () =>
    given(noteApiKeyUse)
      .when({ ...key, atMs: timeMs })
      .then(used));
  it('states no other before four minutes are over, and one then', () => {
    for (const later of [0, 1, fourMinutes - 1])
      given(noteApiKeyUse, used)
        .when({ ...key, atMs: timeMs + later })
        .thenNothing();
    given(noteApiKeyUse, used)
      .when({ ...key, atMs: timeMs + fourMinutes })
      .then(but(used, { used_at: timePlus(fourMinutes) }));
  });
  it('states none before one that is there', () =>
    given(noteApiKeyUse, used)
      .when({ ...key, atMs: timeMs - 60_000 })
      .thenNothing());
  it('keeps a stream for each key and each day in UTC', () => {
    expect(streamAt('2026-03-04T00:00:00.000Z')).to.equal('api_key_use-key_1/2026-03-04');
    expect(streamAt('2026-03-04T23:59:59.999Z')).to.equal('api_key_use-key_1/2026-03-04');
    expect(streamAt('2026-03-05T00:00:00.000Z')).to.equal('api_key_use-key_1/2026-03-05');
  });
});
