import { gracedGenerationsMax } from '../../src/commands/generations.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  rotateBearer,
} from '../../src/commands/service-account.ts';
import {
  accountCreated as created,
  accountDeleted as deleted,
  bearerRotated as rotated,
  but,
  digestOf,
  timeMs,
  timePlus,
} from '../support/examples.ts';
import { given } from '../support/given.ts';

const service_account_id = 'sa_1';

describe('create a service account', () => {
  it('makes one with the first bearer', () => given(createServiceAccount).when(created.data).then(created));
  it('is refused where the id is taken', () =>
    given(createServiceAccount, created).when(created.data).thenRefused('service-account.exists'));
  it('is refused where the id was taken by one that is deleted', () =>
    given(createServiceAccount, created, deleted).when(created.data).thenRefused('service-account.exists'));
});

describe('rotate the bearer of a service account', () => {
  const wish = { service_account_id, bearer_digest: digestOf('B'), grace_secs: 60, atMs: timeMs };
  const third = { ...wish, bearer_digest: digestOf('D') };

  it('is refused where there was never one', () =>
    given(rotateBearer).when(wish).thenRefused('service-account.unknown'));
  it('is refused when deleted', () =>
    given(rotateBearer, created, deleted).when(wish).thenRefused('service-account.unknown'));
  it('is refused when deleted and its credentials kept', () =>
    given(rotateBearer, created, but(deleted, { credentials: 'keep' }))
      .when(wish)
      .thenRefused('service-account.unknown'));
  it('is refused when rotated, then deleted', () =>
    given(rotateBearer, created, rotated, deleted).when(wish).thenRefused('service-account.unknown'));
  it('gives the next generation, and ends the one before when its grace is over', () =>
    given(rotateBearer, created).when(wish).then(rotated));
  it('ends the one before at once where there is no grace', () =>
    given(rotateBearer, created)
      .when({ ...wish, grace_secs: 0 })
      .then(but(rotated, { grace_secs: 0, ends: [{ generation: 1, until: timePlus(0) }] })));
  it('without grace also ends an earlier bearer whose grace still runs', () =>
    given(rotateBearer, created, rotated)
      .when({ ...third, grace_secs: 0, atMs: timeMs + 10_000 })
      .then(
        but(rotated, {
          generation: 3,
          bearer_digest: digestOf('D'),
          grace_secs: 0,
          ends: [
            { generation: 1, until: timePlus(10_000) },
            { generation: 2, until: timePlus(10_000) },
          ],
        }),
      ));
  it('never lets an earlier bearer work longer than it already may', () =>
    given(rotateBearer, created, rotated)
      .when({ ...third, grace_secs: 86_400, atMs: timeMs + 10_000 })
      .then(
        but(rotated, {
          generation: 3,
          bearer_digest: digestOf('D'),
          grace_secs: 86_400,
          ends: [
            { generation: 1, until: timePlus(60_000) },
            { generation: 2, until: timePlus(86_410_000) },
          ],
        }),
      ));
  it('says nothing more of an earlier bearer whose grace is over', () =>
    given(rotateBearer, created, rotated)
      .when({ ...third, atMs: timeMs + 60_000 })
      .then(
        but(rotated, {
          generation: 3,
          bearer_digest: digestOf('D'),
          ends: [{ generation: 2, until: timePlus(120_000) }],
        }),
      ));
  it('ends the oldest at once where more earlier bearers would work than are allowed', () => {
    const until = timePlus(60_000);
    const full = but(rotated, {
      generation: gracedGenerationsMax + 1,
      ends: Array.from({ length: gracedGenerationsMax }, (_, at) => ({ generation: at + 1, until })),
    });
    given(rotateBearer, created, full)
      .when(third)
      .then(
        but(rotated, {
          generation: gracedGenerationsMax + 2,
          bearer_digest: digestOf('D'),
          ends: [
            { generation: 1, until: timePlus(0) },
            ...full.data.ends.slice(1),
            { generation: gracedGenerationsMax + 1, until },
          ],
        }),
      );
  });
});

describe('delete a service account', () => {
  const wish = { service_account_id, credentials: 'revoke' as const };

  it('records nothing where there was never one', () => given(deleteServiceAccount).when(wish).thenNothing());
  it('ends it, and with it what it minted', () =>
    given(deleteServiceAccount, created).when(wish).then(deleted));
  it('ends it, and keeps what it minted where that is asked', () =>
    given(deleteServiceAccount, created)
      .when({ ...wish, credentials: 'keep' })
      .then(but(deleted, { credentials: 'keep' })));
  it('ends one that was rotated', () =>
    given(deleteServiceAccount, created, rotated).when(wish).then(deleted));
  it('records nothing when already deleted', () =>
    given(deleteServiceAccount, created, deleted).when(wish).thenNothing());

  const keep = { ...wish, credentials: 'keep' as const };
  const kept = but(deleted, { credentials: 'keep' });
  it('ends what an earlier deletion kept', () =>
    given(deleteServiceAccount, created, kept).when(wish).then(deleted));
  it('records nothing where what was kept is to be kept', () =>
    given(deleteServiceAccount, created, kept).when(keep).thenNothing());
  it('records nothing where what was revoked is to be kept: it is too late', () =>
    given(deleteServiceAccount, created, deleted).when(keep).thenNothing());
  it('records nothing when deleted twice, the second time with what it minted', () =>
    given(deleteServiceAccount, created, kept, deleted).when(wish).thenNothing());
});
