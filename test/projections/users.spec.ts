import { expect } from 'chai';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { createUser, deleteUser } from '../../src/commands/user.ts';
import { findPassword, findUser, passwords, users } from '../../src/projections/users.ts';
import { acme, acmeAgain, but, time, userCreated, userDeleted } from '../support/examples.ts';
import { happened, project } from '../support/given.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const { user_id, username, role, password_hash } = userCreated.data;
const again = '019a0000-0000-7000-8000-000000000002';
const inNextLife = but(userCreated, { ...acmeAgain, user_id: again });

describe('users', () => {
  it('has a user as clients see it, with nothing of the password', () =>
    project(users)
      .given(userCreated)
      .hasOnly({ 'acme~1/alice': { id: user_id, tenant_id: 'acme', username, role, created_at: time } }));
  it('has none that is deleted', () => project(users).given(userCreated, userDeleted).hasNothing());
  it('does not raise a deleted user when its creation comes late or again', () =>
    project(users)
      .given(happened(userCreated), happened(userDeleted, { revision: 1 }), happened(userCreated))
      .hasNothing());
  it('lists each life of a tenant by itself', () => {
    const both = project(users).given(userCreated, inNextLife);
    both.lists('acme~1', ['acme~1/alice']);
    both.lists('acme~2', ['acme~2/alice']);
  });
});

describe('passwords', () => {
  const password = { user_id, incarnation: 'acme~1', username, role, password_hash };

  it('has the hash of a user', () =>
    project(passwords).given(userCreated).hasOnly({ 'acme~1/alice': password }));
  it('has none of a user that is deleted', () =>
    project(passwords).given(userCreated, userDeleted).hasNothing());
  it('has the hash of the second user of a name alone', () => {
    const second = but(userCreated, { user_id: again, password_hash: 'another' });
    project(passwords)
      .given(userCreated, userDeleted, second)
      .hasOnly({ 'acme~1/alice': { ...password, user_id: again, password_hash: 'another' } });
  });
});

describe('find a user or its password', () => {
  let joined: Joined;
  before(async () => {
    joined = await openJoined();
    await joined.grant(createTenant, acme);
    await joined.grant(createUser, userCreated.data);
  });
  after(() => joined.close());

  const found = async (incarnation: string, name: string) => [
    (await findUser(joined.reads, incarnation, name))?.id,
    (await findPassword(joined.reads, incarnation, name))?.user_id,
  ];

  it('answers it by its name in whatever case', async () => {
    expect(await found('acme~1', 'aLiCe')).to.deep.equal([user_id, user_id]);
  });
  it('answers nothing in another life of the tenant', async () => {
    expect(await found('acme~2', 'alice')).to.deep.equal([undefined, undefined]);
  });
  it('answers nothing once it is deleted', async () => {
    await joined.grant(createUser, { ...userCreated.data, username: 'bob', user_id: again });
    await joined.grant(deleteUser, { ...acme, username: 'BOB' });
    expect(await found('acme~1', 'bob')).to.deep.equal([undefined, undefined]);
  });
  it('answers nothing once the tenant is deleted', async () => {
    await joined.grant(deleteTenant, acme);
    expect(await found('acme~1', 'alice')).to.deep.equal([undefined, undefined]);
  });
});
