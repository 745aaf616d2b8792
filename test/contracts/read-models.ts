import { expect } from 'chai';
import { startOfLog, toPosition, type Position } from '../../src/core/event.ts';
import {
  StoreUnavailable,
  type Append,
  type EventStore,
  type PageRequest,
  type ReadModels,
} from '../../src/core/ports.ts';
import { close as end, count, open, strike, tally } from '../support/tally-events.ts';
import type { Entry, Strike, Tally } from '../support/tally-projections.ts';
import { until } from '../support/waiting.ts';

/** An engine under the contract: each `open` gives an empty one, with the read models of `tally-projections.ts`. */
export type ReadModelsUnderTest = {
  readonly name: string;
  readonly open: () => Promise<{
    readonly events: EventStore;
    readonly readModels: ReadModels;
    readonly close: () => Promise<void>;
  }>;
};

/** What every pair of `EventStore` and `ReadModels` promises, whatever engine stands behind it. */
export const readModelsContract = ({ name, open: openEngine }: ReadModelsUnderTest): void => {
  describe(`${name}, as the read models`, () => {
    let events: EventStore;
    let readModels: ReadModels;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ events, readModels, close } = await openEngine());
    });
    afterEach(() => close());

    const tallies = () => readModels.documents<Tally>('tallies');
    const revised = (id: string) => tallies().getWithRevision(id);
    const strikes = () => readModels.documents<Strike>('strikes');
    /** Appends, and settles as a command does before it answers. */
    const write = async (...appends: readonly Append[]): Promise<void> => {
      for (const append of appends) {
        const result = await events.append(append);
        if (!result.appended) throw new Error(`The stream ends at ${result.current}.`);
        await readModels.settle(await events.readStream(append.stream));
      }
    };
    const idsOf = async (request: PageRequest): Promise<string[]> =>
      (await tallies().page(request)).map(({ document }) => document.id);

    /** The revisions of a list of events. */
    const listed = async (request: Omit<PageRequest, 'group'>) =>
      (await readModels.documents<Entry>('journal').page({ group: 'tally-1', ...request })).map(
        ({ document }) => document.revision,
      );

    /** Every page, one after the other. */
    const walk = async (request: Omit<PageRequest, 'after'>): Promise<string[]> => {
      const ids: string[] = [];
      let after: Position | undefined;
      for (;;) {
        const page = await tallies().page(after === undefined ? request : { ...request, after });
        ids.push(...page.map(({ document }) => document.id));
        after = page.at(-1)?.created;
        if (page.length < request.limit) return ids;
      }
    };

    /** Appends to streams of its own until told to stop; answers what the documents must hold. */
    const underLoad = (appenders: number) => {
      const load = { isOver: false };
      const totals = new Map<string, number>();
      const appender = async (which: number): Promise<void> => {
        for (let n = 0; !load.isOver; n++) {
          const id = `load-${which}-${n}`;
          await write(open(id, 'load'), count(id, 0, n));
          if (n % 3 === 0) await write(end(id, 1), strike(`strike-${id}`, 'none', id, n));
          else totals.set(id, n);
        }
      };
      const running = Promise.all(Array.from({ length: appenders }, (_, which) => appender(which)));
      return async (): Promise<Map<string, number>> => {
        load.isOver = true;
        await running;
        return totals;
      };
    };
    const contents = async (): Promise<Map<string, number>> => {
      const found = new Map<string, number>();
      let after = startOfLog;
      for (;;) {
        const page = await tallies().page({ limit: 1_000, group: 'load', after });
        for (const { document } of page) found.set(document.id, document.total);
        const last = page.at(-1);
        if (last === undefined) return found;
        after = last.created;
      }
    };

    describe('a document', () => {
      it('shows every event from the moment its command is settled, whatever was looked up before', async () => {
        expect(await tallies().get('tally-1')).to.equal(undefined);
        await write(open('tally-1'));
        expect(await tallies().get('tally-1')).to.deep.equal({ id: 'tally-1', list: 'main', total: 0 });
        for (let n = 0; n < 50; n++) {
          await write(count('tally-1', n));
          expect((await tallies().get('tally-1'))?.total).to.equal(n + 1);
        }
      });

      it('takes each event once, in order, when settled again', async () => {
        await write(open('tally-1'), count('tally-1', 0, 5), count('tally-1', 1, 7));
        const all = await events.readStream('tally-1');
        await readModels.settle(all);
        await readModels.settle(all.slice(0, 2));
        expect((await tallies().get('tally-1'))?.total).to.equal(12);
      });

      it('stays gone when an earlier event is settled late', async () => {
        await write(open('tally-1'), end('tally-1', 0));
        expect(await tallies().get('tally-1')).to.equal(undefined);
        await readModels.settle((await events.readStream('tally-1')).slice(0, 1));
        expect(await tallies().get('tally-1')).to.equal(undefined);
        expect(await idsOf({ limit: 10 })).to.deep.equal([]);
      });

      it('comes anew at the end of the list when a later event makes it again', async () => {
        await write(open('tally-1'), open('tally-2'), end('tally-1', 0));
        await write({ stream: 'tally-1', expected: 1, events: [tally('Opened', { list: 'other' })] });
        expect(await idsOf({ limit: 10 })).to.deep.equal(['tally-2', 'tally-1']);
        expect(await idsOf({ limit: 10, group: 'main' })).to.deep.equal(['tally-2']);
      });

      it('is found among many, in the order that is asked for, with nothing for those that are not there', async () => {
        await write(
          open('tally-1'),
          open('tally-2'),
          open('tally-3'),
          end('tally-3', 0),
          count('tally-1', 0, 4),
        );
        const found = await tallies().getMany(['tally-2', 'absent', 'tally-1', 'tally-3']);
        expect(found.map((it) => it?.id)).to.deep.equal(['tally-2', undefined, 'tally-1', undefined]);
        expect(found[2]?.total).to.equal(4);
        expect(await tallies().getMany([])).to.deep.equal([]);
      });

      it('tells with it the revision of the last event that it took, from the moment its command is settled', async () => {
        expect(await revised('tally-1')).to.equal(undefined);
        await write(open('tally-1'));
        expect(await revised('tally-1')).to.deep.equal({
          document: { id: 'tally-1', list: 'main', total: 0 },
          revision: 0,
        });
        for (let n = 0; n < 10; n++) {
          await write(count('tally-1', n));
          expect(await tallies().get('tally-1')).to.deep.equal((await revised('tally-1'))?.document);
          expect(await revised('tally-1')).to.deep.include({ revision: n + 1 });
          expect((await revised('tally-1'))?.document.total).to.equal(n + 1);
        }
        await write({
          stream: 'tally-1',
          expected: 10,
          events: [tally('Counted', { by: 1 }), tally('Counted', { by: 1 })],
        });
        expect(await revised('tally-1')).to.deep.include({ revision: 12 });
        // A settling that comes late takes nothing back.
        await readModels.settle((await events.readStream('tally-1')).slice(0, 2));
        expect(await revised('tally-1')).to.deep.include({ revision: 12 });
      });

      it('raises its revision also where the event leaves it as it was', async () => {
        await write(open('tally-1'), count('tally-1', 0, 0));
        expect(await revised('tally-1')).to.deep.equal({
          document: { id: 'tally-1', list: 'main', total: 0 },
          revision: 1,
        });
      });

      it('has no revision once it is gone, and a higher one where it comes anew', async () => {
        await write(open('tally-1'), count('tally-1', 0));
        expect(await revised('tally-1')).to.deep.include({ revision: 1 });
        await write(end('tally-1', 1));
        expect(await revised('tally-1')).to.equal(undefined);
        await write({ stream: 'tally-1', expected: 2, events: [tally('Opened', {})] });
        expect(await revised('tally-1')).to.deep.include({ revision: 3 });
      });

      it('is unknown to a projection that does not exist', async () => {
        expect(() => readModels.documents('nothing')).to.throw('nothing');
      });
    });

    describe('a position', () => {
      it('is reached once what was appended up to there is read, and never goes back', async () => {
        const start = readModels.position();
        await write(open('tally-1'), count('tally-1', 0, 3));
        const head = await events.head();
        await readModels.reach(head);
        expect(readModels.position() >= head).to.equal(true);
        expect(start <= head).to.equal(true);
        await readModels.reach(startOfLog);
        expect((await tallies().get('tally-1'))?.total).to.equal(3);
      });

      it('that the log has not come to is waited for in bounds, and then refused', async () => {
        await write(open('tally-1'));
        const ahead = '9'.repeat(20);
        const error = await readModels.reach(ahead).catch((it: unknown) => it);
        expect(error).to.be.an.instanceOf(StoreUnavailable);
      }).timeout(20_000);

      it('is waited for until it is appended', async () => {
        await write(open('tally-1'));
        const wanted = toPosition(BigInt(await events.head()) + 1n);
        const reached = readModels.reach(wanted);
        await write(open('tally-2'));
        await reached;
        expect(await tallies().get('tally-2')).to.include({ id: 'tally-2' });
      });
    });

    describe('a tombstone', () => {
      it('merges, in whatever order and however often it is laid', async () => {
        await write(strike('a', 'none', 'x', 5), strike('b', 'none', 'x', 3), strike('c', 'none', 'x', 9));
        expect(await strikes().get('x')).to.deep.equal({ at: 3 });
        await readModels.settle(await events.readStream('c'));
        expect(await strikes().get('x')).to.deep.equal({ at: 3 });
        expect(await strikes().get('x/too')).to.deep.equal({ at: 5 });
        expect((await strikes().getWithRevision('x'))?.document).to.deep.equal({ at: 3 });
        expect(await strikes().getWithRevision('y')).to.equal(undefined);
      });

      it('never goes, whatever its projection says', async () => {
        await write(strike('a', 'none', 'a', 5), end('a', 0));
        expect(await strikes().get('a')).to.deep.equal({ at: 5 });
      });
    });

    describe('a page', () => {
      beforeEach(async () => {
        for (let n = 0; n < 9; n++) await write(open(`tally-${n}`, n % 3 === 0 ? 'thirds' : 'others'));
        await write(end('tally-4', 0), count('tally-0', 0));
      });
      const alive = [0, 1, 2, 3, 5, 6, 7, 8].map((n) => `tally-${n}`);

      it('lists in order of creation, oldest first', async () => {
        expect(await idsOf({ limit: 100 })).to.deep.equal(alive);
      });
      it('lists newest first where asked to', async () => {
        expect(await idsOf({ limit: 100, order: 'desc' })).to.deep.equal(alive.toReversed());
      });
      it('holds no more than its limit, and the next begins behind it', async () => {
        expect(await walk({ limit: 3 })).to.deep.equal(alive);
        expect(await walk({ limit: 3, order: 'desc' })).to.deep.equal(alive.toReversed());
      });
      it('holds only the documents of its group', async () => {
        const thirds = ['tally-0', 'tally-3', 'tally-6'];
        expect(await walk({ limit: 2, group: 'thirds' })).to.deep.equal(thirds);
        expect(await walk({ limit: 2, group: 'thirds', order: 'desc' })).to.deep.equal(thirds.toReversed());
        expect(await idsOf({ limit: 10, group: 'nobody' })).to.deep.equal([]);
      });
      it('holds only the documents of its subgroup, whatever their group', async () => {
        const even = alive.filter((id) => Number(id.split('-')[1]) % 2 === 0);
        expect(even).to.not.deep.equal(alive);
        expect(await walk({ limit: 2, subgroup: 'even' })).to.deep.equal(even);
        expect(await walk({ limit: 2, subgroup: 'even', order: 'desc' })).to.deep.equal(even.toReversed());
        expect(await idsOf({ limit: 10, subgroup: 'nobody' })).to.deep.equal([]);
      });
      it('is the same as text', async () => {
        const requests: PageRequest[] = [
          { limit: 3, subgroup: 'odd' },
          { limit: 3 },
          { limit: 100, order: 'desc' },
          { limit: 2, group: 'thirds', order: 'desc' },
          { limit: 2, group: 'nobody' },
        ];
        for (const request of requests) {
          const page = await tallies().page(request);
          const { text, count: items, last } = await tallies().pageText(request);
          expect(JSON.parse(`[${text}]`)).to.deep.equal(page.map(({ document }) => document));
          expect(items).to.equal(page.length);
          expect(last).to.equal(page.at(-1)?.created);
        }
      });
      it('is new once a document has come, changed or gone, however often it was asked for before', async () => {
        const texts: string[] = [];
        const ask = async (): Promise<void> => {
          for (let n = 0; n < 2; n++)
            texts.push((await tallies().pageText({ group: 'fresh', limit: 10 })).text);
        };
        await ask();
        await write(open('tally-99', 'fresh'));
        await ask();
        await write(count('tally-99', 0, 3));
        await ask();
        await write(end('tally-99', 1));
        await ask();
        const [made, changed] = [0, 3].map((total) =>
          JSON.stringify({ id: 'tally-99', list: 'fresh', total }),
        );
        expect(texts).to.deep.equal(['', '', made, made, changed, changed, '', '']);
      });
      it('refuses a limit out of bounds', async () => {
        for (const limit of [0, -1, 1.5, 1_001]) {
          const error = await tallies()
            .page({ limit })
            .catch((it: unknown) => it);
          expect(error).to.be.an.instanceOf(RangeError);
        }
      });
    });

    describe('a list of events', () => {
      it('shows those of its group alone, in both orders, from the moment their command is settled', async () => {
        await write(
          open('tally-1'),
          open('tally-2'),
          count('tally-1', 0),
          count('tally-2', 0),
          count('tally-1', 1),
        );
        expect(await listed({ limit: 10 })).to.deep.equal([0, 1, 2]);
        expect(await listed({ limit: 2, order: 'desc' })).to.deep.equal([2, 1]);
        await write(end('tally-1', 2), count('tally-2', 1));
        expect(await listed({ limit: 10 }), 'what the projection does not name is not shown').to.deep.equal([
          0, 1, 2,
        ]);
      });
      it('is cut into pages by position, and is found by it', async () => {
        await write(open('tally-1'), count('tally-1', 0), count('tally-1', 1));
        const [first, second] = await readModels
          .documents<Entry>('journal')
          .page({ group: 'tally-1', limit: 2 });
        expect(await listed({ limit: 2, ...(second && { after: second.created }) })).to.deep.equal([2]);
        expect(await readModels.documents<Entry>('journal').get(first?.created ?? '')).to.deep.equal({
          type: 'Opened',
          stream: 'tally-1',
          revision: 0,
        });
        expect(
          (await readModels.documents<Entry>('journal').pageText({ group: 'tally-1', limit: 1 })).text,
        ).to.equal(JSON.stringify(first?.document));
        expect(await readModels.documents<Entry>('journal').get('9'.repeat(15))).to.equal(undefined);
      });
      it('is the same after a rebuild', async () => {
        await write(open('tally-1'), count('tally-1', 0));
        await readModels.rebuild('journal');
        await write(count('tally-1', 1));
        expect(await listed({ limit: 10 })).to.deep.equal([0, 1, 2]);
      });
    });

    describe('a rebuild', () => {
      it('under load ends with the same documents, and answers all the while', async () => {
        for (let n = 0; n < 40; n++)
          await write(open(`old-${n}`), strike(`strike-${n}`, 'none', `old-${n}`, n));
        // Enough for many steps of a rebuild.
        const past = Array.from({ length: 3_000 }, (_, n) => open(`past-${n}`));
        for (let n = 0; n < past.length; n += 300)
          await Promise.all(past.slice(n, n + 300).map((it) => write(it)));
        const stop = underLoad(8);
        for (let round = 0; round < 3; round++) {
          const rebuild = { isDone: false };
          const rebuilt = Promise.all([readModels.rebuild('tallies'), readModels.rebuild('strikes')]).then(
            () => {
              rebuild.isDone = true;
            },
          );
          while (!rebuild.isDone) {
            expect(await idsOf({ limit: 40 })).to.have.length(40);
            expect((await tallies().get('old-7'))?.total).to.equal(0);
            expect(await strikes().get('old-7')).to.deep.equal({ at: 7 });
            await write(open(`${round}-${Math.random()}`));
          }
          await rebuilt;
        }
        const wanted = await stop();
        expect(await contents()).to.deep.equal(wanted);
        await readModels.rebuild('tallies');
        expect(await contents()).to.deep.equal(wanted);
      }).timeout(60_000);

      it('leaves every document its revision, and what is gone without one', async () => {
        await write(open('tally-1'), count('tally-1', 0, 4), count('tally-1', 1, 5));
        await write(open('tally-2'), end('tally-2', 0));
        const before = await revised('tally-1');
        expect(before).to.deep.include({ revision: 2 });
        await readModels.rebuild('tallies');
        expect(await revised('tally-1')).to.deep.equal(before);
        expect(await revised('tally-2')).to.equal(undefined);
        await write(count('tally-1', 2));
        expect(await revised('tally-1')).to.deep.include({ revision: 3 });
      });

      it('asked for twice at once is one, and shows in the status until it is done', async () => {
        await write(open('tally-1'));
        const both = Promise.all([readModels.rebuild('tallies'), readModels.rebuild('tallies')]);
        await both;
        // An engine that projects beside the append comes to the head by itself, a little later.
        await until('the head', async () => {
          const head = await events.head();
          return (await readModels.status()).every(({ checkpoint }) => checkpoint === head);
        });
        const status = await readModels.status();
        expect(status.map((it) => it.name).toSorted()).to.deep.equal(['journal', 'strikes', 'tallies']);
        for (const { checkpoint, rebuilding } of status) {
          expect(checkpoint).to.equal(await events.head());
          expect(rebuilding).to.equal(null);
        }
      });

      it('is refused for a projection that does not exist', async () => {
        const error = await readModels.rebuild('nothing').catch((it: unknown) => it);
        expect(error).to.be.an.instanceOf(Error);
      });
    });
  });
};
