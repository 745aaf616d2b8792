import { expect } from 'chai';
import { toPosition } from '../../src/core/event.ts';
import { createServer, type Server } from '../../src/stores/mongodb/client.ts';
import { createRegistry } from '../../src/stores/mongodb/registry.ts';
import { beginTerm, LeaseLost, type Term } from '../../src/stores/mongodb/term.ts';
import { freshDatabase, withFerretDb } from '../support/mongodb.ts';
import { projections } from '../support/tally-projections.ts';

/** How often changes are made at once. */
const roundsOfChanges = 25;

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error: unknown) => error,
  );

withFerretDb('a term of projecting, on MongoDB', (ferretDb) => {
  let server: Server;
  const abort = new AbortController();
  beforeEach(() => {
    server = createServer(ferretDb().url(freshDatabase()));
  });
  afterEach(() => server.close());
  const registry = () => createRegistry(server, () => {});
  const begin = (token: number): Promise<Term> =>
    beginTerm({ server, registry: registry(), projections, token, signal: abort.signal, told: () => {} });
  const [tallies] = projections.filter(({ name }) => name === 'tallies');
  const key = 'tallies@1';

  it('changes nothing any more once another has begun, and says so', async () => {
    const first = await begin(1);
    if (tallies === undefined) throw new Error('There is no such projection.');
    const live = await first.addTarget(tallies);
    await first.swap(key, live, toPosition(5));
    const second = await begin(2);
    await second.set([key], { checkpoint: toPosition(9) });
    const before = (await registry().fresh()).get(key);
    expect(before).to.include({ live, checkpoint: toPosition(9), fence: 2 });
    const late = [
      first.set([key], { checkpoint: toPosition(20) }),
      first.set([key], { stopped: { position: toPosition(6), event: 'e', reason: 'r' } }),
      first.swap(key, 'another', toPosition(6)),
      first.addTarget(tallies),
      begin(1).then((it) => it.set([key], { checkpoint: toPosition(30) })),
    ];
    for (const error of await Promise.all(late.map(failure))) expect(error).to.be.an.instanceOf(LeaseLost);
    expect((await registry().fresh()).get(key)).to.deep.equal(before);
  });

  it('moves no checkpoint back', async () => {
    const term = await begin(1);
    await term.set([key], { checkpoint: toPosition(9) });
    await term.set([key], { checkpoint: toPosition(8) });
    expect((await registry().fresh()).get(key)?.checkpoint).to.equal(toPosition(9));
  });

  it('loses none of the changes that it makes at once, on a server too where they are not atomic', async () => {
    const term = await begin(1);
    for (let n = 1; n <= roundsOfChanges; n++) {
      const live = `live-${n}`;
      const stopped = { position: toPosition(n), event: live, reason: 'r' };
      const rebuilt = { id: live, error: null };
      await Promise.all([
        term.set([key, 'strikes@1'], { checkpoint: toPosition(n) }),
        term.swap(key, live),
        term.set([key], { stopped }),
        term.set([key], { rebuilt }),
      ]);
      const now = (await registry().fresh()).get(key);
      expect(now).to.deep.include({ live, checkpoint: toPosition(n), stopped, rebuilt });
    }
  });
});
