import { expect } from 'chai';
import { createUser, deleteUser } from '../../src/commands/user.ts';
import { acme, acmeAgain, but, userCreated, userDeleted } from '../support/examples.ts';
import { given } from '../support/given.ts';

const wish = { ...acme, username: 'alice' };
const another = but(userCreated, { user_id: '019a0000-0000-7000-8000-000000000002', username: 'ALICE' });
const anotherDeleted = but(userDeleted, {
  user_id: '019a0000-0000-7000-8000-000000000002',
  username: 'ALICE',
});

describe('create a user', () => {
  it('makes one under a name that is free', () => given(createUser).when(userCreated.data).then(userCreated));
  it('is refused while one of this name is alive, in whatever case', () =>
    given(createUser, userCreated).when(another.data).thenRefused('user.exists'));
  it('makes another user under a name whose user was deleted', () =>
    given(createUser, userCreated, userDeleted).when(another.data).then(another));
  it('is refused while the second of this name is alive', () =>
    given(createUser, userCreated, userDeleted, another).when(userCreated.data).thenRefused('user.exists'));
});

describe('delete a user', () => {
  it('is refused where there was never one', () => given(deleteUser).when(wish).thenRefused('user.unknown'));
  it('ends the user, under the name as it was given', () =>
    given(deleteUser, userCreated).when(wish).then(userDeleted));
  it('is refused when already deleted', () =>
    given(deleteUser, userCreated, userDeleted).when(wish).thenRefused('user.unknown'));
  it('ends the second user of the name, not the first again', () =>
    given(deleteUser, userCreated, userDeleted, another).when(wish).then(anotherDeleted));
});

describe('the stream of a user', () => {
  it('is one for all spellings of a name in a tenant', () => {
    expect(createUser.stream(userCreated.data)).to.equal(deleteUser.stream({ ...acme, username: 'aLICE' }));
  });
  it('is another in another life of the tenant', () => {
    expect(deleteUser.stream(wish)).to.not.equal(deleteUser.stream({ ...acmeAgain, username: 'alice' }));
  });
});
