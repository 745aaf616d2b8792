import { expect } from 'chai';
import { endOfLog, startOfLog, type StoredEvent } from '../../src/core/event.ts';
import { readPageEventsMax, type EventStore } from '../../src/core/ports.ts';
import { count, open, tally } from '../support/tally-events.ts';

/** An engine under the contract: each `open` gives an empty one. */
export type EventStoreUnderTest = {
  readonly name: string;
  readonly open: () => Promise<{ readonly events: EventStore; readonly close: () => Promise<void> }>;
};

const stream = 'tally-one';

/** The first `n` events of a subscription. */
const take = async (events: EventStore, after: string, n: number): Promise<StoredEvent[]> => {
  const abort = new AbortController();
  const taken: StoredEvent[] = [];
  for await (const event of events.subscribe(after, abort.signal)) {
    taken.push(event);
    if (taken.length === n) abort.abort();
  }
  return taken;
};

/** What every `EventStore` promises, whatever engine stands behind it. */
export const eventStoreContract = ({ name, open: openStore }: EventStoreUnderTest): void => {
  describe(`${name}, as the log`, () => {
    let events: EventStore;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ events, close } = await openStore());
    });
    afterEach(() => close());

    describe('append', () => {
      it('answers the events as the log holds them', async () => {
        const wish = {
          stream,
          expected: 'none',
          events: [tally('Opened', {}), tally('Counted', { by: 2 })],
        } as const;
        const result = await events.append(wish);
        if (!result.appended) throw new Error('It was not appended.');
        expect(result.events).to.deep.equal(
          wish.events.map((event, n) => ({
            ...event,
            stream,
            revision: n,
            position: result.events[n]?.position,
          })),
        );
        expect(await events.readStream(stream)).to.deep.equal(result.events);
      });

      it('keeps every character of the text it was given', async () => {
        const data = JSON.stringify({ text: '\u0000 "\\ \u2028 äöü 😀 \ud83d', n: 1e21 });
        const odd = { ...tally('Opened', {}), data: JSON.parse(JSON.stringify(data)) as string };
        await events.append({ stream, expected: 'none', events: [odd] });
        expect((await events.readStream(stream))[0]?.data).to.equal(data);
      });

      it('keeps the links of an event, and tells where there are none', async () => {
        const links = [{ hash: 'A' }, { hash: 'B', previous: 'A' }, {}];
        const linked = links.map((its) => ({ ...tally('Opened', {}), ...its }));
        const result = await events.append({ stream, expected: 'none', events: linked });
        expect(result).to.have.property('appended', true);
        for (const found of [
          await events.readStream(stream),
          await events.readAll(startOfLog),
          await take(events, startOfLog, 3),
        ])
          expect(found).to.deep.equal('events' in result ? result.events : []);
        const found = await events.readStream(stream);
        expect(found.map(({ hash, previous }) => [hash, previous])).to.deep.equal([
          ['A', undefined],
          ['B', 'A'],
          [undefined, undefined],
        ]);
      });

      it('appends where the stream ends at the expected revision', async () => {
        await events.append(open(stream));
        expect(await events.append(count(stream, 0))).to.have.property('appended', true);
        expect((await events.readStream(stream)).map(({ revision }) => revision)).to.deep.equal([0, 1]);
      });

      it('answers where the stream ends, when that is another revision', async () => {
        await events.append(open(stream));
        await events.append(count(stream, 0));
        expect(await events.append(open(stream))).to.deep.equal({ appended: false, current: 1 });
        expect(await events.append(count(stream, 0))).to.deep.equal({ appended: false, current: 1 });
        expect(await events.append(count(stream, 5))).to.deep.equal({ appended: false, current: 1 });
      });

      it('answers none where the expected stream does not exist', async () => {
        expect(await events.append(count('tally-nowhere', 3))).to.deep.equal({
          appended: false,
          current: 'none',
        });
      });

      it('stores nothing of an append that lost', async () => {
        await events.append(open(stream));
        const before = await events.head();
        await events.append({
          stream,
          expected: 'none',
          events: [tally('Counted', { by: 1 }), tally('Closed', {})],
        });
        expect(await events.head()).to.equal(before);
        expect(await events.readStream(stream)).to.have.length(1);
      });

      it('lets exactly one of those win who race for a revision', async () => {
        await events.append(open(stream));
        for (let revision = 0; revision < 20; revision++) {
          const race = await Promise.all(
            Array.from({ length: 16 }, () => events.append(count(stream, revision))),
          );
          expect(race.filter(({ appended }) => appended)).to.have.length(1);
          expect(race.filter((it) => !it.appended && it.current === revision + 1)).to.have.length(15);
        }
        expect(await events.readStream(stream)).to.have.length(21);
      });

      it('answers the same ids at the same place as the first time', async () => {
        const wish = open(stream);
        const first = await events.append(wish);
        await events.append(count(stream, 0));
        const head = await events.head();
        expect(await events.append(wish)).to.deep.equal(first);
        expect(await events.head()).to.equal(head);
      });

      it('takes ids that repeat only in part as a lost race', async () => {
        const wish = open(stream);
        await events.append(wish);
        const longer = { ...wish, events: [...wish.events, tally('Counted', { by: 1 })] };
        expect(await events.append(longer)).to.deep.equal({ appended: false, current: 0 });
      });
    });

    describe('readStream', () => {
      it('answers nothing for a stream that does not exist', async () => {
        expect(await events.readStream('tally-nowhere')).to.deep.equal([]);
      });

      it('answers in pages, from a revision on', async () => {
        const many = Array.from({ length: readPageEventsMax + 5 }, () => tally('Counted', { by: 1 }));
        await events.append({ stream, expected: 'none', events: many });
        expect(await events.readStream(stream)).to.have.length(readPageEventsMax);
        const rest = await events.readStream(stream, readPageEventsMax);
        expect(rest.map(({ id }) => id)).to.deep.equal(many.slice(readPageEventsMax).map(({ id }) => id));
      });

      it('holds streams apart whose names begin alike', async () => {
        await events.append(open('tally-1'));
        await events.append(open('tally-10'));
        expect(await events.readStream('tally-1')).to.have.length(1);
      });
    });

    describe('readAll', () => {
      it('answers the whole log in order, behind a position and up to a limit', async () => {
        const wanted: string[] = [];
        for (let n = 0; n < 7; n++) {
          const wish = open(`tally-${n}`);
          await events.append(wish);
          wanted.push(...wish.events.map(({ id }) => id));
        }
        const first = await events.readAll(startOfLog, 4);
        const rest = await events.readAll(first.at(-1)?.position ?? startOfLog);
        expect([...first, ...rest].map(({ id }) => id)).to.deep.equal(wanted);
        expect(first).to.have.length(4);
        expect(await events.head()).to.equal(rest.at(-1)?.position);
      });

      it('answers nothing behind the head, and an empty log begins at the start', async () => {
        expect(await events.head()).to.equal(startOfLog);
        await events.append(open(stream));
        expect(await events.readAll(await events.head())).to.deep.equal([]);
      });
    });

    describe('readAllBack', () => {
      it('answers the whole log newest first, before a position and up to a limit', async () => {
        const wanted: string[] = [];
        for (let n = 0; n < 7; n++) {
          const wish = open(`tally-${n}`);
          await events.append(wish);
          wanted.unshift(...wish.events.map(({ id }) => id));
        }
        const first = await events.readAllBack(endOfLog, 4);
        const rest = await events.readAllBack(first.at(-1)?.position ?? endOfLog);
        expect([...first, ...rest].map(({ id }) => id)).to.deep.equal(wanted);
        expect(first).to.have.length(4);
        expect(first[0]?.position).to.equal(await events.head());
      });

      it('answers the very events that reading forwards does, in pages up to the bound', async () => {
        const many = Array.from({ length: readPageEventsMax + 5 }, () => tally('Counted', { by: 1 }));
        await events.append({ stream, expected: 'none', events: many });
        const forwards = [...(await events.readAll(startOfLog))];
        forwards.push(...(await events.readAll(forwards.at(-1)?.position ?? startOfLog)));
        const first = await events.readAllBack(endOfLog);
        expect(first).to.have.length(readPageEventsMax);
        const rest = await events.readAllBack(first.at(-1)?.position ?? endOfLog);
        expect([...first, ...rest]).to.deep.equal(forwards.toReversed());
      });

      it('answers nothing before the first event, and nothing of an empty log', async () => {
        expect(await events.readAllBack(endOfLog)).to.deep.equal([]);
        await events.append(open(stream));
        const [only] = await events.readAll(startOfLog);
        expect(await events.readAllBack(only?.position ?? endOfLog)).to.deep.equal([]);
        expect(await events.readAllBack(startOfLog)).to.deep.equal([]);
      });
    });

    describe('subscribe', () => {
      it('gives the past and then what is appended, without gap or repeat', async () => {
        const total = 3_000;
        const appender = async (from: number): Promise<void> => {
          for (let n = from; n < total; n += 30) await events.append(open(`tally-${n}`));
        };
        for (let n = 0; n < 10; n++) await events.append(open(`past-${n}`));
        const subscribed = take(events, startOfLog, total + 10);
        await Promise.all(Array.from({ length: 30 }, (_, n) => appender(n)));
        const all: StoredEvent[] = [];
        for (let page = await events.readAll(startOfLog); page.length > 0;) {
          all.push(...page);
          page = await events.readAll(all.at(-1)?.position ?? startOfLog);
        }
        expect((await subscribed).map(({ id }) => id)).to.deep.equal(all.map(({ id }) => id));
      });

      it('begins behind the position it is given', async () => {
        await events.append(open('tally-1'));
        const after = await events.head();
        await events.append(open('tally-2'));
        expect((await take(events, after, 1)).map((event) => event.stream)).to.deep.equal(['tally-2']);
      });

      it('ends without error when its signal aborts while it waits', async () => {
        const abort = new AbortController();
        const iterator = events.subscribe(startOfLog, abort.signal)[Symbol.asyncIterator]();
        const next = iterator.next();
        abort.abort();
        expect(await next).to.deep.equal({ done: true, value: undefined });
      });

      it('gives nothing to a signal that is aborted already', async () => {
        await events.append(open(stream));
        const iterator = events.subscribe(startOfLog, AbortSignal.abort())[Symbol.asyncIterator]();
        expect(await iterator.next()).to.have.property('done', true);
      });
    });
  });
};
