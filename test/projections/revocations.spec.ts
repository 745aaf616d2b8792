import { createHash } from 'node:crypto';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { toPosition, type RecordedEvent } from '../../src/core/event.ts';
import { referenceTo } from '../../src/projections/event-reference.ts';
import { revocations, tombstone } from '../../src/projections/revocations.ts';
import {
  accountDeleted,
  bearerRotated,
  but,
  credentialRevoked,
  tenantDeleted,
  time,
  timePlus,
  userDeleted,
} from '../support/examples.ts';
import { happened, project } from '../support/given.ts';

const runs = 500;

/** Few names and few instants, so that tombstones meet. */
const few = fc.integer({ min: 1, max: 3 });
const instants = few.map((n) => timePlus(n * 1_000));

const facts = fc.oneof(
  few.map((n) => but(tenantDeleted, { incarnation: `acme~${n}` })),
  few.map((n) => but(userDeleted, { user_id: `019a0000-0000-7000-8000-00000000000${n}` })),
  few.map((n) => but(credentialRevoked, { username: `cred_${n}` })),
  fc
    .tuple(few, fc.constantFrom('revoke' as const, 'keep' as const))
    .map(([n, credentials]) => but(accountDeleted, { service_account_id: `sa_${n}`, credentials })),
  fc.tuple(few, fc.array(fc.tuple(few, instants), { minLength: 1, maxLength: 3 })).map(([n, ends]) =>
    but(bearerRotated, {
      service_account_id: `sa_${n}`,
      ends: ends.map(([generation, until]) => ({ generation, until })),
    }),
  ),
);

/** A place in the log that no other event has: the same event stands where it stood. */
const placed = (event: RecordedEvent): RecordedEvent => {
  const text = JSON.stringify([event.type, event.time, event.data]);
  const digest = createHash('sha256').update(text).digest('hex');
  return { ...event, position: toPosition(BigInt(`0x${digest.slice(0, 15)}`)) };
};

const events: fc.Arbitrary<RecordedEvent> = fc
  .tuple(facts, instants)
  .map(([fact, at]) => placed(happened(fact, { time: at })));

/** The set after these events, by what `on` says alone: no revision guards it. */
const setAfter = (...histories: readonly (readonly RecordedEvent[])[]): Map<string, unknown> => {
  const set = new Map<string, unknown>();
  for (const event of histories.flat()) {
    for (const { id, to } of revocations.on[event.type]?.(event) ?? []) {
      const document = to(set.get(id));
      expect(document, 'nothing ever leaves the set').to.not.equal(undefined);
      set.set(id, document);
    }
  }
  return set;
};

/** The event of a fact that happened first, or later, as what it ended names it. */
const by = (fact: Parameters<typeof happened>[0], place: Parameters<typeof happened>[1] = {}) => ({
  by: referenceTo(happened(fact, place)),
});

const kept = but(accountDeleted, { credentials: 'keep' });

const rotated = (until: string) => but(bearerRotated, { ends: [{ generation: 1, until }] });

const sorted = (set: Map<string, unknown>) => [...set].toSorted(([a], [b]) => (a < b ? -1 : 1));

describe('revocations', () => {
  it('ends a tenant by its incarnation, and says by which event', () =>
    project(revocations)
      .given(tenantDeleted)
      .hasOnly({ [tombstone.tenant('acme~1')]: { at: time, ...by(tenantDeleted) } }));
  it('ends a user by its id, which no other user of the name has', () =>
    project(revocations)
      .given(userDeleted)
      .hasOnly({ [tombstone.user(userDeleted.data.user_id)]: { at: time, ...by(userDeleted) } }));
  it('ends an account and what it minted', () =>
    project(revocations)
      .given(accountDeleted)
      .hasOnly({
        [tombstone.serviceAccount('sa_1')]: { at: time, ...by(accountDeleted) },
        [tombstone.mintedBy('sa_1')]: { at: time, ...by(accountDeleted) },
      }));
  it('ends an account alone where what it minted is kept', () =>
    project(revocations)
      .given(kept)
      .hasOnly({ [tombstone.serviceAccount('sa_1')]: { at: time, ...by(kept) } }));
  it('ends what was kept when the account is deleted again, at the time of that', () => {
    const again = { revision: 1, time: timePlus(1) };
    project(revocations)
      .given(kept, happened(accountDeleted, again))
      .hasOnly({
        [tombstone.serviceAccount('sa_1')]: { at: time, ...by(kept) },
        [tombstone.mintedBy('sa_1')]: { at: timePlus(1), ...by(accountDeleted, again) },
      });
  });
  it('ends each earlier bearer at its own time', () => {
    const ends = [
      { generation: 1, until: timePlus(1) },
      { generation: 2, until: timePlus(2) },
    ];
    const both = but(bearerRotated, { ends });
    project(revocations)
      .given(both)
      .hasOnly({
        [tombstone.bearer('sa_1', 1)]: { at: timePlus(1), ahead: true, ...by(both) },
        [tombstone.bearer('sa_1', 2)]: { at: timePlus(2), ahead: true, ...by(both) },
      });
  });
  it('ends a bearer without grace at once, also one whose grace lay ahead, by the event that did it', () => {
    const later = { revision: 1, time: timePlus(60) };
    project(revocations)
      .given(rotated(timePlus(3_600)), happened(rotated(timePlus(60)), later))
      .hasOnly({ [tombstone.bearer('sa_1', 1)]: { at: timePlus(60), ...by(rotated(timePlus(60)), later) } });
  });
  it('names the first of two events that end a thing at the same time', () =>
    project(revocations)
      .given(rotated(timePlus(60)), happened(rotated(timePlus(60)), { revision: 1, time: timePlus(1) }))
      .hasOnly({
        [tombstone.bearer('sa_1', 1)]: { at: timePlus(60), ahead: true, ...by(rotated(timePlus(60))) },
      }));
  it('learns which event it was where an earlier version laid the tombstone', () => {
    const [change] = revocations.on['TenantDeleted']?.(happened(tenantDeleted)) ?? [];
    expect(change?.to({ at: time })).to.deep.equal({ at: time, ...by(tenantDeleted) });
  });
  it('ends a credential', () =>
    project(revocations)
      .given(credentialRevoked)
      .hasOnly({ [tombstone.credential('cred_1')]: { at: time, ...by(credentialRevoked) } }));

  it('is the same set for any order and any repetition of the same events, and always grows', () => {
    const history = fc.array(events, { maxLength: 20 });
    const shuffled = history.chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.shuffledSubarray([...all, ...all], { minLength: all.length }).map((some) => [...some, ...all]),
        fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([all, repeated, reordered]) => {
        const expected = sorted(setAfter(all));
        expect(sorted(setAfter(reordered)), 'any order').to.deep.equal(expected);
        expect(sorted(setAfter(repeated)), 'any repetition').to.deep.equal(expected);
      }),
      { numRuns: runs },
    );
  });
  it('merges: two halves of a history, each alone or one into the other, make the same set', () => {
    const history = fc.array(events, { maxLength: 10 });
    fc.assert(
      fc.property(history, history, (some, others) => {
        expect(sorted(setAfter(some, others))).to.deep.equal(sorted(setAfter(others, some, others)));
      }),
      { numRuns: runs },
    );
  });
});
