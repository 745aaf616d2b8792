import { expect } from 'chai';
import type { StoredEvent } from '../../src/core/event.ts';
import { catalogue, codec, UnreadableEvent, type DomainFact } from '../../src/events/index.ts';
import { upcasts } from '../../src/events/upcasts.ts';
import { cause, everyFact, tenantCreated, time } from '../support/examples.ts';

const envelope = { id: 'event-1', time, cause };
const place = { stream: 'stream-1', revision: 7, position: '00000000000000000042' };

const stored = (fact: DomainFact, differing: Partial<StoredEvent> = {}): StoredEvent => ({
  ...codec.encode(fact, envelope),
  ...place,
  ...differing,
});

/** The error that reading the event throws, and the one behind it. */
const unreadable = (event: StoredEvent): { readonly message: string; readonly cause: string } => {
  try {
    codec.decode(event);
  } catch (error) {
    expect(error).to.be.instanceOf(UnreadableEvent);
    const { message, cause: behind } = error as Error;
    return { message, cause: String(behind) };
  }
  throw new Error('It was read.');
};

describe('the codec', () => {
  for (const fact of everyFact) {
    it(`gives a ${fact.type} back as it was, with its envelope and place`, () => {
      expect(codec.decode(stored(fact))).to.deep.equal({ ...envelope, ...place, ...fact, version: 1 });
    });
    it(`encodes no ${fact.type} with a member too many or too few`, () => {
      const more = { ...fact, data: { ...fact.data, surplus: 1 } } as unknown as DomainFact;
      expect(() => codec.encode(more, envelope)).to.throw();
      const [first = ''] = Object.keys(fact.data);
      const fewer = { ...fact, data: { ...fact.data, [first]: undefined } } as unknown as DomainFact;
      expect(() => codec.encode(fewer, envelope)).to.throw();
    });
  }

  it('has an example of every type in the catalogue', () => {
    expect([...catalogue.keys()].toSorted()).to.deep.equal(everyFact.map(({ type }) => type).toSorted());
  });

  it('cannot read a type that it does not know', () => {
    expect(unreadable(stored(tenantCreated, { type: 'TenantPainted' })).cause).to.match(/TenantPainted/);
  });
  it('cannot read a version newer than its own', () => {
    expect(unreadable(stored(tenantCreated, { version: 2 })).cause).to.match(/newer/);
  });
  it('cannot read an older version from which no upcast leads', () => {
    expect(unreadable(stored(tenantCreated, { version: 0 })).cause).to.match(/no upcast/);
  });
  it('cannot read data or a cause that is damaged, and names the place without quoting the bytes', () => {
    const whole = stored(tenantCreated);
    const damaged: readonly Partial<StoredEvent>[] = [
      { data: '' },
      { data: whole.data.slice(0, -1) },
      { data: whole.data.replace('acme~1', 'acme') },
      { data: whole.data.replace('{', '{"surplus":1,') },
      { data: 'null' },
      { data: '[]' },
      { cause: '' },
      { cause: 'null' },
      { cause: whole.cause.replace('"admin"', '7') },
    ];
    for (const part of damaged) {
      const { message } = unreadable(stored(tenantCreated, part));
      expect(message, JSON.stringify(part)).to.contain('event-1').and.to.contain(place.position);
      expect(message).to.not.contain('acme');
    }
  });

  it('walks an old version up one step at a time, in order, and parses what comes out', () => {
    // Today every type is at version 1, so the old versions are made up: -1 had another name for what 0 had as `id`.
    const steps: Record<number, (data: unknown) => unknown> = {
      [-1]: (data) => ({ id: (data as { name: string }).name }),
      0: (data) => {
        const { id } = data as { id: string };
        return { tenant_id: id, incarnation: `${id}~1` };
      },
    };
    const table = upcasts as Record<string, unknown>;
    table['TenantCreated'] = steps;
    try {
      const oldest = stored(tenantCreated, { version: -1, data: '{"name":"acme"}' });
      const older = stored(tenantCreated, { version: 0, data: '{"id":"acme"}' });
      for (const event of [oldest, older, stored(tenantCreated)])
        expect(codec.decode(event)).to.deep.equal({ ...envelope, ...place, ...tenantCreated, version: 1 });
      unreadable(stored(tenantCreated, { version: -1, data: '{"name":"no tenant’s id"}' }));
      unreadable(stored(tenantCreated, { version: -2, data: '{"name":"acme"}' }));
    } finally {
      delete table['TenantCreated'];
    }
  });

  it('marks every digest and hash as secret, and nothing that is not there', () => {
    for (const [type, { secrets, data }] of catalogue) {
      const { shape } = data as unknown as { shape: object };
      const members = Object.keys(shape);
      const looksSecret = members.filter((member) =>
        /digest|hash|password|bearer$|secret|token/.test(member),
      );
      expect([...secrets].toSorted(), type).to.deep.equal(looksSecret.toSorted());
    }
  });
});
