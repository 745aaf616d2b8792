import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { acmeAgain, tenantCreated, tenantDeleted } from '../support/examples.ts';
import { given } from '../support/given.ts';

const wish = { tenant_id: 'acme' };
const createdAgain = { ...tenantCreated, data: acmeAgain };
const deletedAgain = { ...tenantDeleted, data: acmeAgain };

describe('create a tenant', () => {
  it('makes the first incarnation under an id that was never used', () =>
    given(createTenant).when(wish).then(tenantCreated));
  it('is refused while one of this id is alive', () =>
    given(createTenant, tenantCreated).when(wish).thenRefused('tenant.exists'));
  it('makes another incarnation under an id whose tenant was deleted', () =>
    given(createTenant, tenantCreated, tenantDeleted).when(wish).then(createdAgain));
  it('is refused while the second of this id is alive', () =>
    given(createTenant, tenantCreated, tenantDeleted, createdAgain).when(wish).thenRefused('tenant.exists'));
  it('never makes the same incarnation twice', () =>
    given(createTenant, tenantCreated, tenantDeleted, createdAgain, deletedAgain)
      .when(wish)
      .then({ ...tenantCreated, data: { tenant_id: 'acme', incarnation: 'acme~3' } }));
});

describe('delete a tenant', () => {
  it('records nothing where there was never one', () => given(deleteTenant).when(wish).thenNothing());
  it('ends the incarnation that is alive', () =>
    given(deleteTenant, tenantCreated).when(wish).then(tenantDeleted));
  it('records nothing when already deleted', () =>
    given(deleteTenant, tenantCreated, tenantDeleted).when(wish).thenNothing());
  it('ends the second incarnation, not the first again', () =>
    given(deleteTenant, tenantCreated, tenantDeleted, createdAgain).when(wish).then(deletedAgain));
  it('records nothing when the second is deleted too', () =>
    given(deleteTenant, tenantCreated, tenantDeleted, createdAgain, deletedAgain).when(wish).thenNothing());
});
