import { sessionSecs, signInOperator, signInUser, signOut } from '../../src/commands/session.ts';
import { operatorSignedIn, signedOut, time, timeMs, timePlus, userSignedIn } from '../support/examples.ts';
import { given } from '../support/given.ts';

const { expires_at: _, ...user } = userSignedIn.data;
const { expires_at: __, ...operator } = operatorSignedIn.data;
const { session_id } = user;

describe('sign in', () => {
  it('records a user’s session of half a day, and of its secret the digest alone', () =>
    given(signInUser)
      .when({ ...user, atMs: timeMs })
      .then({ ...userSignedIn, data: { ...user, expires_at: timePlus(sessionSecs * 1_000) } }));
  it('records the operator’s with the digest of the token that it hangs from', () =>
    given(signInOperator)
      .when({ ...operator, atMs: timeMs })
      .then({ ...operatorSignedIn, data: { ...operator, expires_at: timePlus(43_200_000) } }));
  it('counts from when it was asked for', () =>
    given(signInUser)
      .when({ ...user, atMs: timeMs - sessionSecs * 1_000 })
      .then({ ...userSignedIn, data: { ...user, expires_at: time } }));
  it('is refused where the id is taken, also by a session that has ended', () => {
    for (const past of [[userSignedIn], [operatorSignedIn], [userSignedIn, signedOut]]) {
      given(signInUser, ...past)
        .when({ ...user, atMs: timeMs })
        .thenRefused('session.exists');
      given(signInOperator, ...past)
        .when({ ...operator, atMs: timeMs })
        .thenRefused('session.exists');
    }
  });
});

describe('sign out', () => {
  it('ends a user’s session, and names the tenant', () =>
    given(signOut, userSignedIn).when({ session_id }).then(signedOut));
  it('ends the operator’s, which is of no tenant', () =>
    given(signOut, operatorSignedIn)
      .when({ session_id: operator.session_id })
      .then({ type: 'SignedOut', data: { session_id: operator.session_id } }));
  it('records nothing where there is none, or it has ended', () => {
    given(signOut).when({ session_id }).thenNothing();
    given(signOut, userSignedIn, signedOut).when({ session_id }).thenNothing();
  });
});
