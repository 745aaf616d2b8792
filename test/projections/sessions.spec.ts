import { expect } from 'chai';
import { sessionSecs, signInOperator, signInUser, signOut } from '../../src/commands/session.ts';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { createUser, deleteUser } from '../../src/commands/user.ts';
import { findSession, sessions } from '../../src/projections/sessions.ts';
import {
  acme,
  digestOf,
  operatorSignedIn,
  signedOut,
  timeMs,
  userCreated,
  userSignedIn,
} from '../support/examples.ts';
import { project } from '../support/given.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const { tenant_id, session_digest: _, ...ofUser } = userSignedIn.data;
const { session_digest: __, ...ofOperator } = operatorSignedIn.data;
const users = { kind: 'user', workspace_id: tenant_id, ...ofUser, given_by: 'event-0' };
const operators = { kind: 'operator', ...ofOperator, given_by: 'event-1' };

describe('sessions', () => {
  it('tells whose a session is, and what began it, by the digest of what the cookie holds', () =>
    project(sessions)
      .given(userSignedIn, operatorSignedIn)
      .hasOnly({ [digestOf('S')]: users, [digestOf('T')]: operators }));
  it('keeps telling it of one that was ended: what ends it is its tombstone', () =>
    project(sessions)
      .given(userSignedIn, signedOut)
      .hasOnly({ [digestOf('S')]: users }));
});

describe('find a session', () => {
  let joined: Joined;
  const { expires_at: ___, ...alice } = userSignedIn.data;
  const { expires_at: ____, ...operator } = operatorSignedIn.data;
  const begin = (letter: string) => {
    const one = { session_id: `session-${letter}`, session_digest: digestOf(letter), atMs: timeMs };
    return joined.grant(signInUser, { ...alice, ...one });
  };
  const foundBy = async (letter: string, nowMs = timeMs) =>
    (await findSession(joined.reads, digestOf(letter), nowMs))?.session_id;

  before(async () => {
    joined = await openJoined({ clock: () => timeMs });
    await joined.grant(createTenant, acme);
    await joined.grant(createUser, userCreated.data);
    await joined.grant(signInOperator, { ...operator, atMs: timeMs });
  });
  after(() => joined.close());

  it('answers a user’s and the operator’s, and nothing for a secret that nobody has', async () => {
    await begin('A');
    expect(await findSession(joined.reads, digestOf('A'), timeMs)).to.include({
      kind: 'user',
      workspace_id: 'acme',
      username: 'Alice',
      role: 'writer',
    });
    expect((await findSession(joined.reads, digestOf('T'), timeMs))?.kind).to.equal('operator');
    expect(await foundBy('Z')).to.equal(undefined);
  });
  it('lasts until the millisecond in which half a day is over', async () => {
    for (const letter of ['A', 'T']) {
      expect(await foundBy(letter, timeMs + sessionSecs * 1_000 - 1), letter).to.not.equal(undefined);
      expect(await foundBy(letter, timeMs + sessionSecs * 1_000), letter).to.equal(undefined);
    }
  });
  it('is gone once it was ended, also by a clock that is behind, and no other with it', async () => {
    await begin('B');
    await joined.grant(signOut, { session_id: 'session-B' });
    expect(await foundBy('B', timeMs - 60_000)).to.equal(undefined);
    expect(await foundBy('A')).to.equal('session-A');
  });
  it('is gone with its user, though the operator’s lasts', async () => {
    const { password_hash: _hash, role: _role, ...who } = userCreated.data;
    await joined.grant(deleteUser, who);
    expect(await foundBy('A')).to.equal(undefined);
    expect(await foundBy('T')).to.equal(operator.session_id);
  });
  it('is gone with its tenant', async () => {
    const user_id = '019a0000-0000-7000-8000-000000000002';
    const one = { session_id: 'session-C', session_digest: digestOf('C'), atMs: timeMs };
    await joined.grant(signInUser, { ...alice, user_id, ...one });
    expect(await foundBy('C')).to.equal('session-C');
    await joined.grant(deleteTenant, acme);
    expect(await foundBy('C')).to.equal(undefined);
    expect(await foundBy('T')).to.equal(operator.session_id);
  });
});
