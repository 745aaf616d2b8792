import { expect } from 'chai';
import * as fc from 'fast-check';
import { toPosition, type RecordedEvent } from '../../src/core/event.ts';
import { createFold, foldStream, plan } from '../../src/stores/mongodb/fold.ts';
import { fileOf, filesOf } from '../../src/stores/mongodb/past.ts';
import { undatedRow } from '../support/mongodb.ts';
import { testSeed } from '../support/random.ts';
import { tally } from '../support/tally-events.ts';
import { decode, projections } from '../support/tally-projections.ts';

const [tallies] = projections;

/** A document that is made, changed, ended and made anew, with events in between that it has nothing to do with. */
const events: readonly RecordedEvent[] = [
  tally('Opened', {}),
  tally('Counted', { by: 1 }),
  tally('Struck', { id: 'x', at: 1 }),
  tally('Counted', { by: 2 }),
  tally('Closed', {}),
  tally('Opened', { list: 'other' }),
  tally('Counted', { by: 4 }),
].map((event, revision) =>
  decode({ ...event, stream: 's-1', revision, position: toPosition(10 + revision) }),
);

const handled = events.filter(({ type }) => type !== 'Struck');

describe('the past of documents on MongoDB', () => {
  if (tallies === undefined) throw new Error('There is no such projection.');

  it('has every version of a stream that another took the place of, from its event to the next', () => {
    const { now, past } = foldStream(tallies, handled).get('s-1') ?? {};
    expect(now).to.include({ r: 6, c: toPosition(15), p: toPosition(16), g: 'other', u: 'odd' });
    expect(past?.map(({ was: { r, c, p, g }, until }) => [r, c, p, g, until])).to.deep.equal(
      (
        [
          [0, 10, 10, 'main', 11],
          [1, 10, 11, 'main', 13],
          [3, 10, 13, 'main', 14],
          [5, 15, 15, 'other', 16],
        ] as const
      ).map(([r, c, p, g, until]) => [r, toPosition(c), toPosition(p), g, toPosition(until)]),
    );
  });

  it('misses nothing of what the log has, whatever has been written of the document already', async () => {
    const whole = foldStream(tallies, handled).get('s-1');
    const rows = handled.map((_, n) => foldStream(tallies, handled.slice(0, n + 1)).get('s-1')?.now);
    // A row of an earlier version of the program, which does not say from when it holds.
    const undated = rows.map((row) => row && undatedRow(row));
    for (const found of [undefined, ...rows, ...undated]) {
      for (let from = 1; from < handled.length; from += 1) {
        const isBehind = (found?.r ?? -1) < (handled[from - 1]?.revision ?? 0);
        // What the projector comes to is written up to there.
        if (isBehind) continue;
        const { documents } = await createFold(tallies)(
          handled.slice(from).map((event) => plan(tallies, event)),
          {
            row: async () => found,
            before: async ({ revision }) => handled.filter((it) => it.revision < revision),
          },
        );
        expect(documents.get('s-1')?.now).to.deep.equal(whole?.now);
        const superseded = whole?.past.filter(({ until }) => until >= (handled[from]?.position ?? ''));
        expect(documents.get('s-1')?.past).to.deep.equal(superseded);
      }
    }
  });

  it('files each version where whoever asks for a moment in it looks', () => {
    const position = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
    const near = fc.bigInt({ min: 1n, max: 300n });
    const ends = fc.tuple(fc.oneof(position, near), fc.oneof(position, near), fc.oneof(position, near));
    fc.assert(
      fc.property(ends, (three) => {
        const [since = 0n, at = 0n, last = 0n] = three.toSorted((one, other) => (one < other ? -1 : 1));
        const file = fileOf(toPosition(since), toPosition(last + 1n));
        expect(BigInt(file) >= since && BigInt(file) <= last).to.equal(true);
        expect(filesOf(toPosition(at))).to.include(file);
      }),
      { seed: testSeed(), numRuns: 2_000 },
    );
    expect(filesOf(toPosition(2n ** 63n - 1n)).length).to.be.at.most(64);
  });
});
