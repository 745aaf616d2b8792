import { expect } from 'chai';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { findTenant, tenants } from '../../src/projections/tenants.ts';
import { acmeAgain, but, tenantCreated, tenantDeleted, time, timePlus } from '../support/examples.ts';
import { happened, project } from '../support/given.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const acme = { id: 'acme', created_at: time, incarnation: 'acme~1' };

describe('tenants', () => {
  it('has a tenant with the time it was made', () => project(tenants).given(tenantCreated).has('acme', acme));
  it('has none that is deleted', () => project(tenants).given(tenantCreated, tenantDeleted).hasNothing());
  it('has the second incarnation alone, with its own time', () =>
    project(tenants)
      .given(
        tenantCreated,
        tenantDeleted,
        happened(but(tenantCreated, acmeAgain), { revision: 2, time: timePlus(1_000) }),
      )
      .hasOnly({ acme: { id: 'acme', created_at: timePlus(1_000), incarnation: 'acme~2' } }));
  it('does not raise a deleted tenant when its creation comes late or again', () =>
    project(tenants)
      .given(
        happened(tenantCreated),
        happened(tenantDeleted, { revision: 1 }),
        happened(tenantCreated, { revision: 0 }),
      )
      .hasNothing());
});

describe('find a tenant', () => {
  let joined: Joined;
  before(async () => (joined = await openJoined()));
  after(() => joined.close());

  it('answers the life that is alive, and nothing in between', async () => {
    const wish = { tenant_id: 'acme' };
    expect(await findTenant(joined.reads, 'acme')).to.equal(undefined);
    await joined.grant(createTenant, wish);
    expect(await findTenant(joined.reads, 'acme')).to.include({ id: 'acme', incarnation: 'acme~1' });
    await joined.grant(deleteTenant, wish);
    expect(await findTenant(joined.reads, 'acme')).to.equal(undefined);
    await joined.grant(createTenant, wish);
    expect(await findTenant(joined.reads, 'acme')).to.include({ id: 'acme', incarnation: 'acme~2' });
  });
});
