import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createTenant } from '../../src/commands/tenant.ts';
import type { StoredEvent } from '../../src/core/event.ts';
import type { Clock, EventStore } from '../../src/core/ports.ts';
import { leafOfEvent } from '../../src/proofs/leaves.ts';
import { rootFromInclusion, rootOf } from '../../src/proofs/merkle.ts';
import { sealedAtOnceMax } from '../../src/proofs/sealer.ts';
import { tenantsLog } from '../support/command.ts';
import { wholeLog } from '../support/eventstore.ts';
import { openJoined, type Joined } from '../support/joined.ts';
import { createSealing, freshPem } from '../support/sealing.ts';
import { until, within } from '../support/waiting.ts';

describe('sealing a log', function () {
  this.timeout(30_000);
  let joined: Joined;
  beforeEach(async () => {
    joined = await openJoined();
  });
  afterEach(() => joined.close());

  const pem = freshPem();
  const node = () => createSealing(joined.engine.events, joined.run, pem);

  const put = async (events: readonly StoredEvent[]): Promise<void> => {
    for (let at = 0; at < events.length; at += 1_000)
      await joined.engine.replicate(events.slice(at, at + 1_000));
  };

  const rootUpTo = async (size: number): Promise<string> =>
    rootOf((await wholeLog(joined.engine.events)).slice(0, size).map(leafOfEvent)).toString('base64');

  it('goes on in a log of before, whose events have no hash, and whose ids and times tell no place', async () => {
    const log = tenantsLog(900).map((event, n) => ({
      ...event,
      id: randomUUID(),
      // Two clocks, hours apart.
      time: n % 2 === 0 ? event.time : '2026-03-04T01:00:00.000Z',
    }));
    await put(log.slice(0, 600));
    await node().sealer.seal();
    await put(log.slice(600).map((event) => ({ ...event, position: next(event.position) })));
    // A node that remembers nothing.
    const { sealer, prover } = node();
    const sealed = await sealer.seal();
    expect(sealed).to.include({ number: 2, tree_size: 901, root_hash: await rootUpTo(901) });
    const all = await wholeLog(joined.engine.events);
    for (const at of [0, 255, 256, 300, 511, 512, 599, 600, 601, 767, 768, 900]) {
      const event = all[at] as StoredEvent;
      if (sealed === undefined) throw new Error('It is not sealed.');
      const proof = await prover.inclusion(event, sealed);
      expect(proof?.index).to.equal(at);
      const path = (proof?.hashes ?? []).map((hash) => Buffer.from(hash, 'base64'));
      expect(rootFromInclusion(leafOfEvent(event), at, 901, path)?.toString('base64')).to.equal(
        sealed.root_hash,
      );
    }
  });

  it('takes a long log in several checkpoints', async () => {
    await put(tenantsLog(sealedAtOnceMax + 300));
    const sealed = await node().sealer.seal();
    // The first checkpoint stands behind what was there, and the second covers it too.
    const length = sealedAtOnceMax + 301;
    expect(sealed).to.include({ number: 2, tree_size: length, root_hash: await rootUpTo(length) });
  });

  /** A node of which the log answers nothing, or throws, while it is told to. */
  const troubled = (readAll: () => Promise<void>, clock?: Clock) => {
    const { events } = joined.engine;
    const log: EventStore = {
      ...events,
      readAll: async (after, limit) => {
        await readAll();
        return events.readAll(after, limit);
      },
    };
    return createSealing(log, joined.run, pem, clock);
  };

  it('rests within seconds where it has begun to seal and the log does not answer', async () => {
    let isAsked = false;
    const { sealer } = troubled(() => {
      isAsked = true;
      return new Promise(() => {});
    });
    void sealer.seal();
    await until('the log is asked', () => isAsked);
    await within('the sealer rests', 10_000, sealer.stop());
  });

  it('tries again what failed on a log in which nothing happens, and warns no more', async () => {
    let isAway = false;
    let ms = Date.now();
    const { sealer } = troubled(
      async () => {
        if (isAway) throw new Error('The log is away.');
      },
      () => ms,
    );
    await joined.grant(createTenant, { tenant_id: 't' });
    await sealer.seal();
    isAway = true;
    const failed = await sealer.seal().catch((error: unknown) => error);
    expect(failed).to.have.property('message', 'The log is away.');
    expect(sealer.warning()).to.equal("The log can't be sealed: The log is away.");
    isAway = false;
    ms += 10_000;
    await until('the log is sealed again', () => sealer.warning() === undefined);
    await sealer.stop();
  });

  it('states one checkpoint of each number, whichever of many nodes is first', async () => {
    const nodes = [node(), node(), node()];
    for (let round = 1; round <= 5; round += 1) {
      await joined.grant(createTenant, { tenant_id: `t${round}` });
      const sealed = await Promise.all(nodes.map(({ sealer }) => sealer.seal()));
      for (const one of sealed)
        expect(one?.root_hash, `round ${round}`).to.equal(await rootUpTo(one?.tree_size ?? 0));
    }
    const stated = (await wholeLog(joined.engine.events)).filter(({ type }) => type === 'LogSealed');
    const numbers = stated.map(({ stream }) => Number(stream.replace('checkpoint-', '')));
    expect(numbers).to.deep.equal(numbers.map((_, n) => n + 1));
    expect(numbers.length).to.be.within(5, 5 * nodes.length);
  });
});

/** The position behind. */
const next = (position: string): string => String(Number(position) + 1).padStart(20, '0');
