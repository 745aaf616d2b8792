import { expect } from 'chai';
import { toPosition, type RecordedEvent } from '../../src/core/event.ts';
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

/** A fact at a position of its own, as every event is. */
const at = (n: number, event: RecordedEvent): RecordedEvent => ({ ...event, position: toPosition(n) });

const dataOf = (fact: typeof userCreated | typeof apiKeyCreated): object => {
  const [change] = activity.on[fact.type]?.(happened(fact)) ?? [];
  if (change === undefined) throw new Error(`${fact.type} adds nothing.`);
  return (change.to(undefined) as Act).data;
};

describe('the activity of a tenant', () => {
  it('has who did what, when, from where, why and in which request', () =>
    project(activity)
      .given(at(7, happened(tenantCreated)))
      .hasOnly({
        [toPosition(7)]: {
          id: 'event-0',
          position: toPosition(7),
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
    const events = everyFact.map((fact, n) => at(n, happened(fact)));
    const here = everyFact.flatMap(({ type, data }, n) =>
      'tenant_id' in data && type !== apiKeyUsed.type ? [toPosition(n)] : [],
    );
    project(activity)
      .given(...events)
      .lists('acme', here);
    expect(here).to.not.include(toPosition(everyFact.indexOf(operatorSignedIn)));
    // Whoever adds a type of event has an example of it, which is then looked at here.
    expect(new Set(everyFact.map(({ type }) => type))).to.deep.equal(new Set(catalogue.keys()));
  });
  it('says of each act which list it stands in, as the act itself does', () => {
    const acts = everyFact.flatMap((fact) => activity.on[fact.type]?.(happened(fact)) ?? []);
    for (const { id, group, to } of acts) expect(group).to.equal(activity.group?.(to(undefined), id));
    expect(acts).to.have.length.above(1);
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
    const event = at(7, happened(tenantCreated));
    project(activity)
      .given(event, event)
      .lists('acme', [toPosition(7)]);
  });
});
