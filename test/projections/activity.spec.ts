import { expect } from 'chai';
import type { RecordedEvent } from '../../src/core/event.ts';
import { catalogue } from '../../src/events/index.ts';
import { activity, type Act } from '../../src/projections/activity.ts';
import {
  apiKeyCreated,
  apiKeyUsed,
  cause,
  everyFact,
  operatorSignedIn,
  tenantCreated,
  time,
  userCreated,
} from '../support/examples.ts';
import { happened, project } from '../support/given.ts';

/** A fact with an id of its own, as every event has. */
const as = (id: string, event: RecordedEvent): RecordedEvent => ({ ...event, id });

const dataOf = (fact: typeof userCreated | typeof apiKeyCreated): object => {
  const [change] = activity.on[fact.type]?.(happened(fact)) ?? [];
  if (change === undefined) throw new Error(`${fact.type} adds nothing.`);
  return (change.to(undefined) as Act).data;
};

describe('the activity of a tenant', () => {
  it('has who did what, when, from where, why and in which request', () =>
    project(activity)
      .given(as('event-7', happened(tenantCreated)))
      .hasOnly({
        'event-7': {
          id: 'event-7',
          position: '0'.repeat(20),
          type: 'TenantCreated',
          time,
          actor: cause.actor,
          address: cause.address,
          reason: cause.reason,
          correlation_id: cause.correlation_id,
          data: tenantCreated.data,
        },
      }));
  it('has every event that names a tenant, but for the use of a key, in the list of that tenant’s id', () => {
    const events = everyFact.map((fact) => as(fact.type, happened(fact)));
    const here = everyFact
      .filter(({ type, data }) => 'tenant_id' in data && type !== apiKeyUsed.type)
      .map(({ type }) => type);
    project(activity)
      .given(...events)
      .lists('acme', here);
    expect(here).to.not.include(operatorSignedIn.type);
    // Whoever adds a type of event has an example of it, which is then looked at here.
    expect(new Set(everyFact.map(({ type }) => type))).to.deep.equal(new Set(catalogue.keys()));
  });
  it('has nothing of a secret: no digest, no hash, whatever the event', () => {
    for (const fact of everyFact) {
      for (const { to } of activity.on[fact.type]?.(happened(fact)) ?? []) {
        const text = JSON.stringify(to(undefined));
        expect(text, fact.type).to.not.match(/digest|hash|argon2|([A-Z])\1{42}/);
      }
    }
  });
  it('keeps what is no secret', () => {
    const { password_hash: _, ...user } = userCreated.data;
    const { key_digest: __, ...key } = apiKeyCreated.data;
    expect(dataOf(userCreated)).to.deep.equal(user);
    expect(dataOf(apiKeyCreated)).to.deep.equal(key);
  });
  it('has an act once, however often its event comes', () => {
    const event = as('event-7', happened(tenantCreated));
    project(activity).given(event, event).lists('acme', ['event-7']);
  });
});
