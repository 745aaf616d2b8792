import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { toPosition, type NewEvent, type StoredEvent } from '../../src/core/event.ts';
import { codec } from '../../src/events/index.ts';
import { hashOf, link, type Hashed } from '../../src/proofs/event-hash.ts';
import { cause, tenantCreated, tenantDeleted, time } from '../support/examples.ts';

const stream = 'tenant-acme';

const created: Hashed = {
  ...codec.encode(tenantCreated, { id: '019a0000-0000-7000-8000-000000000001', time, cause }),
  stream,
  revision: 0,
};

/** The form as docs/proofs.md has it, written a second time. */
const byHand = (...members: readonly (string | number | undefined)[]): string => {
  const hash = createHash('sha256');
  for (const member of members) {
    const bytes = Buffer.from(String(member ?? ''));
    hash.update(`${bytes.length}:`).update(bytes).update(',');
  }
  return hash.digest('base64');
};

describe('the hash of an event', () => {
  it('is SHA-256 over the netstrings of all that the event says', () => {
    const { id, type, version, data, cause: who } = created;
    const wanted = byHand('keyledger-event-1', '', stream, 0, id, type, version, time, data, who);
    expect(hashOf(created)).to.equal(wanted);
    const later = { ...created, revision: 1, previous: wanted, data: '{"text":"äöü 😀"}' };
    expect(hashOf(later)).to.equal(
      byHand('keyledger-event-1', wanted, stream, 1, id, type, version, time, later.data, who),
    );
  });

  const changes: readonly Partial<Hashed>[] = [
    { previous: hashOf(created) },
    { stream: 'tenant-acme2' },
    { revision: 1 },
    { id: '019a0000-0000-7000-8000-000000000002' },
    { type: 'TenantDeleted' },
    { version: 2 },
    { time: '2026-03-04T05:06:07.891Z' },
    { data: created.data.replace('acme', 'acmf') },
    { cause: created.cause.replace('because', 'becausf') },
  ];
  for (const change of changes)
    it(`is another one where ${Object.keys(change).join()} is another one`, () => {
      expect(hashOf({ ...created, ...change })).not.to.equal(hashOf(created));
    });

  it('is another one where the end of a member is the beginning of the next', () => {
    const { type } = created;
    expect(hashOf({ ...created, type: `${type}1`, version: 1 })).not.to.equal(
      hashOf({ ...created, type, version: 11 }),
    );
  });

  it('does not hang on the position, which another engine gives anew', () => {
    const here: StoredEvent = { ...created, position: toPosition(1) };
    const there: StoredEvent = { ...created, position: toPosition(2) };
    expect(hashOf(here)).to.equal(hashOf(there));
  });
});

describe('the links of a stream', () => {
  const [first, second] = [tenantCreated, tenantDeleted].map((fact, n): NewEvent =>
    codec.encode(fact, { id: `019a0000-0000-7000-8000-00000000000${n}`, time, cause }),
  ) as [NewEvent, NewEvent];

  it('hold each event to the one before it, from the first, which has none', () => {
    const { events, ...place } = link({ stream, expected: 'none', events: [first, second] }, undefined);
    expect(place).to.deep.equal({ stream, expected: 'none' });
    const hash = hashOf({ ...first, stream, revision: 0 });
    const next = { ...second, previous: hash };
    expect(events).to.deep.equal([
      { ...first, hash },
      { ...next, hash: hashOf({ ...next, stream, revision: 1 }) },
    ]);
  });

  it('go on from the hash that the stream’s last event has', () => {
    const last: StoredEvent = { ...first, stream, revision: 7, position: toPosition(9), hash: 'as it is' };
    const { events } = link({ stream, expected: 7, events: [second] }, last);
    expect(events[0]).to.have.property('previous', 'as it is');
    expect(events[0]).to.have.property(
      'hash',
      hashOf({ ...second, previous: 'as it is', stream, revision: 8 }),
    );
  });

  it('go on from the hash that an event from before would have', () => {
    const last: StoredEvent = { ...first, stream, revision: 0, position: toPosition(1) };
    const { events } = link({ stream, expected: 0, events: [second] }, last);
    expect(events[0]).to.have.property('previous', hashOf(last));
  });
});
