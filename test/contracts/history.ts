import { expect } from 'chai';
import type { Position } from '../../src/core/event.ts';
import type { Documents, PageRequest, ReadModels } from '../../src/core/ports.ts';
import { pick as pickOf, seeded, testSeed } from '../support/random.ts';
import { close as end, count, open, strike } from '../support/tally-events.ts';
import type { Entry, Strike, Tally } from '../support/tally-projections.ts';
import type { ReadModelsUnderTest } from './read-models.ts';

/** Appends of a random history, unless its engine is given fewer. */
const actsDefault = 160;

/** The streams that they are about. */
const streams = Array.from({ length: 9 }, (_, n) => `tally-${n}`);
const lists = ['main', 'other'];

const requests: readonly PageRequest[] = [undefined, 'asc' as const, 'desc' as const].flatMap((order) =>
  [{}, { group: 'main' }, { group: 'other' }, { subgroup: 'even' }, { subgroup: 'odd' }].map((list) => ({
    ...list,
    ...(order === undefined ? {} : { order }),
    limit: 3,
  })),
);

/** Everything that a list of documents answers: each document, and all pages one after the other. */
const answersOf = async (
  tallies: Documents<Tally>,
  strikes: Documents<Strike>,
  journal: Documents<Entry>,
): Promise<unknown> => {
  const walk = async (request: PageRequest): Promise<unknown[]> => {
    const seen: unknown[] = [];
    let after: Position | undefined;
    for (;;) {
      const at = after === undefined ? request : { ...request, after };
      const page = await tallies.page(at);
      const text = await tallies.pageText(at);
      expect(`[${text.text}]`).to.equal(JSON.stringify(page.map(({ document }) => document)));
      seen.push(...page);
      after = page.at(-1)?.created;
      if (page.length < request.limit) return seen;
    }
  };
  return {
    each: await Promise.all(streams.map((id) => tallies.getWithRevision(id))),
    many: await tallies.getMany(streams),
    struck: await strikes.getMany(streams),
    pages: await Promise.all(requests.map(walk)),
    journal: await Promise.all(streams.map((group) => journal.page({ group, limit: 100 }))),
  };
};

const now = (readModels: ReadModels): Promise<unknown> =>
  answersOf(
    readModels.documents<Tally>('tallies'),
    readModels.documents<Strike>('strikes'),
    readModels.documents<Entry>('journal'),
  );

const asOf = (readModels: ReadModels, position: Position): Promise<unknown> =>
  answersOf(
    readModels.documentsAsOf<Tally>('tallies', position),
    readModels.documentsAsOf<Strike>('strikes', position),
    readModels.documentsAsOf<Entry>('journal', position),
  );

/** An engine that keeps its past; `acts`: how long a history of it is, where every answer takes it long. */
export type HistoryUnderTest = ReadModelsUnderTest & { readonly acts?: number };

/** What read models promise that keep their past: what they answer as of a position is what they answered at it. */
export const historyContract = ({ name, open: openEngine, acts = actsDefault }: HistoryUnderTest): void => {
  describe(`${name}, as read models that keep their past`, () => {
    it('answers as of every position what it answered then, also after a rebuild', async () => {
      const { events, readModels, close } = await openEngine();
      const seed = testSeed();
      const random = seeded(seed);
      const pick = <T>(from: readonly [T, ...T[]] | readonly T[]): T => pickOf(random, from) as T;
      const revisions = new Map<string, number>();
      const answered = new Map<Position, unknown>([[await events.head(), await now(readModels)]]);
      for (let n = 0; n < acts; n += 1) {
        const stream = pick(streams);
        const last = revisions.get(stream);
        const append =
          last === undefined
            ? open(stream, pick(lists))
            : pick([
                () => count(stream, last, n),
                () => count(stream, last, n),
                () => end(stream, last),
                () => ({ ...open(stream, pick(lists)), expected: last }),
                () => strike(stream, last, stream, pick([5, 3, 8])),
              ])();
        await events.append(append);
        await readModels.settle(await events.readStream(stream));
        revisions.set(stream, (last ?? -1) + 1);
        answered.set(await events.head(), await now(readModels));
      }
      const compare = async (): Promise<void> => {
        for (const [position, then] of answered)
          expect(await asOf(readModels, position), `as of ${position}, seed ${seed}`).to.deep.equal(then);
      };
      await compare();
      await readModels.rebuild('tallies');
      await compare();
      await readModels.rebuild('strikes');
      await compare();
      await close();
    }).timeout(120_000);
  });
};
