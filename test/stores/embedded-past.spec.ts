import { expect } from 'chai';
import { readPageEventsMax } from '../../src/core/ports.ts';
import { toPosition } from '../../src/core/event.ts';
import type { EmbeddedEngine } from '../../src/stores/embedded/index.ts';
import { openTally, temporaryFolder } from '../support/embedded.ts';
import { close as end, count, open } from '../support/tally-events.ts';
import type { Tally } from '../support/tally-projections.ts';

/** More versions than are looked at one after the other for a page. */
const changes = 1_500;

const streams = ['tally-1', 'tally-2', 'tally-3', 'tally-4'];

describe('pages as of then of a list in which one document has changed more often than is looked at', function () {
  this.timeout(30_000);
  let remove: () => Promise<void>;
  let engine: EmbeddedEngine;

  before(async () => {
    const folder = await temporaryFolder();
    ({ remove } = folder);
    engine = await openTally(folder.dir);
    const { append } = engine.events;
    for (const stream of streams) await append(open(stream, 'main'));
    // Each change of the second adds one; at position 4 + n its total is n.
    for (let from = 0; from < changes; from += readPageEventsMax / 2) {
      const events = Array.from({ length: readPageEventsMax / 2 }, (_, n) => count('tally-2', from + n, 1));
      await append({
        stream: 'tally-2',
        expected: from,
        events: events.flatMap((one) => one.events),
      });
    }
    await append(count('tally-1', 0, 7));
    await append(end('tally-3', 0));
  });
  after(async () => {
    await engine.close();
    await remove();
  });

  for (const limit of [2, 4])
    for (const order of ['asc', 'desc'] as const)
      it(`have each document as it was, ${limit} a page, ${order}`, async () => {
        for (const changed of [0, 1, 749, 1_000, changes]) {
          const documents = engine.readModels.documentsAsOf<Tally>(
            'tallies',
            toPosition(streams.length + changed),
          );
          const first = await documents.page({ group: 'main', order, limit });
          const after = first.at(-1)?.created ?? '';
          const rest = limit === 4 ? [] : await documents.page({ group: 'main', order, limit, after });
          const totals = [...first, ...rest].map(({ document }) => document.total);
          expect(order === 'asc' ? totals : totals.toReversed()).to.deep.equal([0, changed, 0, 0]);
        }
      });
});
