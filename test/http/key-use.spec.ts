import { expect } from 'chai';
import { createTenant } from '../../src/commands/tenant.ts';
import type { Run } from '../../src/core/run.ts';
import { createKeyUse, type KeyUse } from '../../src/http/key-use.ts';
import { findLastUse, type ApiKeySecret } from '../../src/projections/api-keys.ts';
import { acme, cause, time, timeMs, timePlus } from '../support/examples.ts';
import { createHandClock, type HandClock } from '../support/hand-clock.ts';
import { openJoined, type Joined } from '../support/joined.ts';

const keyOf = (api_key_id: string): ApiKeySecret => ({
  api_key_id,
  generation: 1,
  workspace_id: acme.tenant_id,
  incarnation: acme.incarnation,
  role: 'reader',
  expires_at: null,
  given_by: '019a0000-0000-7000-8000-0000000000e1',
});

describe('noting the use of API keys', () => {
  const away = new Error('The log is away.');
  let joined: Joined;
  let clock: HandClock;
  let keyUse: KeyUse;
  let runs: number;
  let isAway: boolean;
  let failures: unknown[];
  before(async () => {
    joined = await openJoined({ clock: () => timeMs });
    await joined.grant(createTenant, acme);
  });
  after(() => joined.close());
  beforeEach(() => {
    clock = createHandClock(timeMs);
    runs = 0;
    isAway = false;
    failures = [];
    const run: Run = async (command, wish, why) => {
      runs += 1;
      if (isAway) throw away;
      return joined.run(command, wish, why);
    };
    keyUse = createKeyUse(run, clock.wallMs, (error) => failures.push(error));
  });

  it('asks once for a thousand uses of a key, and again once four minutes are over', async () => {
    const use = (): void => {
      for (let times = 0; times < 1_000; times += 1) keyUse.note(keyOf('key_1'), () => cause);
    };
    use();
    clock.pass(239_999);
    use();
    await keyUse.drain();
    expect([runs, await findLastUse(joined.reads, 'key_1')]).to.deep.equal([1, time]);
    clock.pass(1);
    use();
    await keyUse.drain();
    expect([runs, await findLastUse(joined.reads, 'key_1')]).to.deep.equal([2, timePlus(240_000)]);
  });
  it('tells keys apart', async () => {
    for (const id of ['key_2', 'key_3', 'key_2']) keyUse.note(keyOf(id), () => cause);
    await keyUse.drain();
    expect(runs).to.equal(2);
    expect([
      await findLastUse(joined.reads, 'key_2'),
      await findLastUse(joined.reads, 'key_3'),
    ]).to.deep.equal([time, time]);
  });
  it('tells of what failed, throws nothing, and asks again with a use ten seconds later', async () => {
    isAway = true;
    keyUse.note(keyOf('key_4'), () => cause);
    await keyUse.drain();
    expect(failures).to.deep.equal([away]);
    isAway = false;
    clock.pass(9_999);
    keyUse.note(keyOf('key_4'), () => cause);
    await keyUse.drain();
    expect([runs, await findLastUse(joined.reads, 'key_4')]).to.deep.equal([1, null]);
    clock.pass(1);
    keyUse.note(keyOf('key_4'), () => cause);
    await keyUse.drain();
    expect([runs, await findLastUse(joined.reads, 'key_4')]).to.deep.equal([2, timePlus(10_000)]);
    expect(failures).to.have.length(1);
  });
  it('has nothing under way once it is drained, also where nothing was', async () => {
    await keyUse.drain();
    keyUse.note(keyOf('key_5'), () => cause);
    await keyUse.drain();
    expect(await findLastUse(joined.reads, 'key_5')).to.equal(time);
  });
});
