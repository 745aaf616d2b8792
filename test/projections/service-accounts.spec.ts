import { expect } from 'chai';
import {
  createServiceAccount,
  deleteServiceAccount,
  rotateBearer,
} from '../../src/commands/service-account.ts';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import {
  bearers,
  findByBearer,
  findServiceAccount,
  onlyAlive,
  serviceAccounts,
} from '../../src/projections/service-accounts.ts';
import {
  accountCreated,
  accountDeleted,
  acme,
  bearerRotated,
  digestOf,
  time,
  timeMs,
} from '../support/examples.ts';
import { happened, project } from '../support/given.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const { name, max_role, max_ttl_secs, tenant_id, incarnation } = accountCreated.data;
const account = { id: 'sa_1', name, tenant_id, max_role, max_ttl_secs, created_at: time, incarnation };
const first = { service_account_id: 'sa_1', generation: 1, given_by: 'event-0' };
const second = { service_account_id: 'sa_1', generation: 2, given_by: 'event-1' };

describe('service accounts', () => {
  it('has an account, with nothing of its bearer', () =>
    project(serviceAccounts).given(accountCreated).hasOnly({ sa_1: account }));
  it('has it unchanged after a rotation', () =>
    project(serviceAccounts).given(accountCreated, bearerRotated).hasOnly({ sa_1: account }));
  it('has none that is deleted', () =>
    project(serviceAccounts).given(accountCreated, accountDeleted).hasNothing());
  it('does not raise a deleted account when its creation comes late or again', () =>
    project(serviceAccounts)
      .given(happened(accountCreated), happened(accountDeleted, { revision: 1 }), happened(accountCreated))
      .hasNothing());
});

describe('bearers', () => {
  it('tells whose a bearer is, of which generation, and what gave it out, by its digest', () =>
    project(bearers)
      .given(accountCreated, bearerRotated)
      .hasOnly({ [digestOf('A')]: first, [digestOf('B')]: second }));
  it('keeps telling it of a deleted account: what ends a bearer is its tombstone', () =>
    project(bearers)
      .given(accountCreated, bearerRotated, accountDeleted)
      .hasOnly({ [digestOf('A')]: first, [digestOf('B')]: second }));
});

describe('find a service account', () => {
  let joined: Joined;
  const make = (service_account_id: string, letter: string) =>
    joined.grant(createServiceAccount, {
      ...accountCreated.data,
      service_account_id,
      bearer_digest: digestOf(letter),
    });
  const foundBy = async (letter: string, nowMs = timeMs) =>
    (await findByBearer(joined.reads, digestOf(letter), nowMs))?.account.id;

  before(async () => {
    joined = await openJoined({ clock: () => timeMs });
    await joined.grant(createTenant, acme);
  });
  after(() => joined.close());

  it('answers it by its id and by its bearer, and nothing for a bearer that nobody has', async () => {
    await make('sa_1', 'A');
    expect((await findServiceAccount(joined.reads, 'sa_1'))?.id).to.equal('sa_1');
    expect(await foundBy('A')).to.equal('sa_1');
    expect(await foundBy('Z')).to.equal(undefined);
  });
  it('answers by an earlier bearer until the millisecond in which its grace ends', async () => {
    await make('sa_2', 'C');
    const wish = { service_account_id: 'sa_2', bearer_digest: digestOf('D'), grace_secs: 60, atMs: timeMs };
    await joined.grant(rotateBearer, wish);
    expect(await foundBy('C', timeMs + 59_999)).to.equal('sa_2');
    expect(await foundBy('C', timeMs + 60_000)).to.equal(undefined);
    expect(await foundBy('D', timeMs + 60_000)).to.equal('sa_2');
  });
  it('refuses a bearer that was ended at once also by a clock that is behind', async () => {
    await make('sa_4', 'G');
    const wish = { service_account_id: 'sa_4', bearer_digest: digestOf('H'), grace_secs: 0, atMs: timeMs };
    await joined.grant(rotateBearer, wish);
    expect(await foundBy('G', timeMs - 60_000)).to.equal(undefined);
    expect(await foundBy('H', timeMs - 60_000)).to.equal('sa_4');
  });
  it('answers nothing, under any of its bearers, once it is deleted', async () => {
    await make('sa_3', 'E');
    const wish = { service_account_id: 'sa_3', bearer_digest: digestOf('F'), grace_secs: 60, atMs: timeMs };
    await joined.grant(rotateBearer, wish);
    await joined.grant(deleteServiceAccount, { service_account_id: 'sa_3', credentials: 'revoke' });
    expect(await findServiceAccount(joined.reads, 'sa_3')).to.equal(undefined);
    expect([await foundBy('E'), await foundBy('F')]).to.deep.equal([undefined, undefined]);
  });
  it('answers nothing once the tenant is deleted, though the documents are left', async () => {
    const left = await findServiceAccount(joined.reads, 'sa_1');
    await joined.grant(deleteTenant, acme);
    expect(await findServiceAccount(joined.reads, 'sa_1')).to.equal(undefined);
    expect(await foundBy('A')).to.equal(undefined);
    expect(await onlyAlive(joined.reads, left === undefined ? [] : [left])).to.deep.equal([false]);
  });
});
