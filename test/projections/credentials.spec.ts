import { expect } from 'chai';
import { mintCredential, revokeCredential } from '../../src/commands/credential.ts';
import { createServiceAccount, deleteServiceAccount } from '../../src/commands/service-account.ts';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { startOfLog } from '../../src/core/event.ts';
import { credentials, findCredential, statusOf } from '../../src/projections/credentials.ts';
import type { Standing } from '../../src/projections/revocations.ts';
import {
  accountCreated,
  acme,
  acmeAgain,
  but,
  cause,
  credentialMinted,
  credentialRevoked,
  time,
  timeMs,
} from '../support/examples.ts';
import { happened, project } from '../support/given.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const { data } = credentialMinted;
const granted_by = { id: 'event-0', position: startOfLog, actor: cause.actor };

describe('credentials', () => {
  it('has a credential as it was minted, and by which event', () =>
    project(credentials)
      .given(credentialMinted)
      .hasOnly({ cred_1: { ...data, minted_at: time, granted_by } }));
  it('names the actor of that event where it was another than the account', () => {
    const event = happened(credentialMinted);
    const actor = `service_account:${data.service_account_id}`;
    project(credentials)
      .given({ ...event, cause: { ...event.cause, actor } })
      .hasOnly({ cred_1: { ...data, minted_at: time, granted_by: { id: 'event-0', position: startOfLog } } });
  });
  it('has it unchanged when revoked: what ends it is its tombstone', () =>
    project(credentials)
      .given(credentialMinted, credentialRevoked)
      .hasOnly({ cred_1: { ...data, minted_at: time, granted_by } }));
  it('lists each life of a tenant by itself', () =>
    project(credentials)
      .given(credentialMinted, but(credentialMinted, { ...acmeAgain, username: 'cred_2' }))
      .lists('acme~2', ['cred_2']));
  it('lists by account what it minted', () =>
    project(credentials)
      .given(credentialMinted, but(credentialMinted, { service_account_id: 'sa_2', username: 'cred_2' }))
      .sublists('sa_2', ['cred_2']));
});

describe('the status of a credential', () => {
  let joined: Joined;
  let nowMs = timeMs;
  before(async () => {
    joined = await openJoined({ clock: () => nowMs });
    await joined.grant(createTenant, acme);
  });
  after(() => joined.close());
  beforeEach(() => {
    nowMs = timeMs;
  });

  /** Mints for 60 seconds in a tenant and by an account of its own. */
  const arrange = async (name: string) => {
    const own = { tenant_id: name, incarnation: `${name}~1` };
    const minter = { ...accountCreated.data, ...own, service_account_id: `sa_${name}` };
    await joined.grant(createTenant, own);
    await joined.grant(createServiceAccount, minter);
    const { role, subject, password_digest } = data;
    const wish = { username: `cred_${name}`, role, subject, password_digest, ttl_secs: 60, minter };
    await joined.grant(mintCredential, { ...wish, atMs: nowMs });
    return own;
  };
  const statusAt = async (name: string, ms: number): Promise<Standing | undefined> => {
    const found = await findCredential(joined.reads, name, `cred_${name}`);
    return found === undefined ? undefined : statusOf(joined.reads, found, timeMs + ms);
  };

  it('is active until the millisecond in which it expires', async () => {
    await arrange('a');
    expect(await statusAt('a', 0)).to.equal('active');
    expect(await statusAt('a', 59_999)).to.equal('active');
    expect(await statusAt('a', 60_000)).to.equal('expired');
  });
  it('is revoked for ever once it was revoked in its time', async () => {
    const own = await arrange('b');
    nowMs += 59_999;
    await joined.grant(revokeCredential, { username: 'cred_b', ...own });
    expect(await statusAt('b', 59_999)).to.equal('revoked');
    expect(await statusAt('b', 60_000)).to.equal('revoked');
    expect(await statusAt('b', 86_400_000)).to.equal('revoked');
  });
  it('stays expired where it was revoked after its time', async () => {
    const own = await arrange('c');
    nowMs += 60_000;
    await joined.grant(revokeCredential, { username: 'cred_c', ...own });
    expect(await statusAt('c', 60_000)).to.equal('expired');
  });
  it('is revoked with the account that minted it', async () => {
    await arrange('d');
    await joined.grant(deleteServiceAccount, { service_account_id: 'sa_d', credentials: 'revoke' });
    expect(await statusAt('d', 0)).to.equal('revoked');
  });
  it('is active until it expires where the account was deleted and its credentials kept', async () => {
    await arrange('e');
    await joined.grant(deleteServiceAccount, { service_account_id: 'sa_e', credentials: 'keep' });
    expect(await statusAt('e', 59_999)).to.equal('active');
    expect(await statusAt('e', 60_000)).to.equal('expired');
  });
  it('is revoked with its tenant, also where the account’s deletion had kept it', async () => {
    const own = await arrange('f');
    await joined.grant(deleteServiceAccount, { service_account_id: 'sa_f', credentials: 'keep' });
    await joined.grant(deleteTenant, own);
    expect(await statusAt('f', 0)).to.equal('revoked');
  });
  it('is revoked for ever with the life of the tenant in which it was minted, and no other tenant has it', async () => {
    const own = await arrange('g');
    await joined.grant(deleteTenant, own);
    await joined.grant(createTenant, { tenant_id: 'g', incarnation: 'g~2' });
    expect(await statusAt('g', 0)).to.equal('revoked');
    expect(await findCredential(joined.reads, 'f', 'cred_g')).to.equal(undefined);
  });
});
