import { expect } from 'chai';
import type { Run } from '../../src/core/run.ts';
import type { StoredEvent } from '../../src/core/event.ts';
import { codec } from '../../src/events/index.ts';
import {
  createRefusedRequests,
  refusedCallersMax,
  type RefusedRequests,
} from '../../src/http/refused-requests.ts';
import { arrangeAccount, createClient } from '../support/client.ts';
import { logOf } from '../support/engines.ts';
import { timeMs } from '../support/examples.ts';
import { createHandClock, type HandClock } from '../support/hand-clock.ts';
import { openJoined, type Joined } from '../support/joined.ts';
import { freshFolder, removeFolder, startProgram, verifierToken } from '../support/program.ts';
import { forEach } from '../support/waiting.ts';

/** What was stated, as the log has it. */
type Stated = {
  readonly refused: string;
  readonly minute: string;
  readonly total: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly routes: readonly string[];
  readonly addresses: readonly string[];
};

const statedIn = (log: readonly StoredEvent[]): readonly Stated[] =>
  log
    .map((stored) => codec.decode(stored))
    .flatMap((event) => (event.type === 'RequestsRefused' ? [event.data] : []));

/** A request that the examples refuse. */
const refused = {
  caller: 'anonymous',
  code: 'authentication.missing',
  route: '/admin/v1/tenants',
  address: '192.0.2.1',
} as const;

/** The start of the minute in which examples happen. */
const minuteMs = Math.floor(timeMs / 60_000) * 60_000;
const minute = new Date(minuteMs).toISOString();

describe('counting refused requests', () => {
  const away = new Error('The log is away.');
  let joined: Joined;
  let clock: HandClock;
  let isAway: boolean;
  let failures: unknown[];
  let requests: RefusedRequests;
  let from: string;
  before(async () => {
    joined = await openJoined({ clock: () => timeMs });
  });
  after(() => joined.close());
  beforeEach(async () => {
    clock = createHandClock(minuteMs);
    isAway = false;
    failures = [];
    from = await joined.engine.events.head();
    const run: Run = async (...wish) => {
      if (isAway) throw away;
      return joined.run(...wish);
    };
    requests = createRefusedRequests({
      run,
      clock: clock.wallMs,
      newId: () => joined.secrets.newId(),
      failed: (error) => failures.push(error),
    });
  });

  const stated = async (): Promise<readonly Stated[]> => statedIn(await joined.engine.events.readAll(from));

  it('states a flood of one caller’s as one fact a minute, with what was refused how often', async () => {
    for (let n = 0; n < 50_000; n += 1) requests.note(refused);
    for (let n = 0; n < 3; n += 1) requests.note({ ...refused, code: 'authentication.invalid' });
    clock.pass(59_999);
    requests.note(refused);
    await requests.state();
    expect(await stated()).to.deep.equal([]);
    clock.pass(1);
    requests.note(refused);
    await requests.state();
    const first = {
      refused: 'anonymous',
      minute,
      total: 50_004,
      codes: { 'authentication.missing': 50_001, 'authentication.invalid': 3 },
      routes: ['/admin/v1/tenants'],
      addresses: ['192.0.2.1'],
    };
    expect(await stated()).to.deep.equal([first]);
    await requests.drain();
    const next = { ...first, minute: new Date(minuteMs + 60_000).toISOString(), total: 1 };
    expect(await stated()).to.deep.equal([first, { ...next, codes: { 'authentication.missing': 1 } }]);
    await requests.drain();
    expect(await stated()).to.have.length(2);
  });

  it('tells callers apart, and names five routes and addresses of each', async () => {
    for (let n = 0; n < 9; n += 1)
      requests.note({ ...refused, caller: 'verifier', route: `/r${n}`, address: `192.0.2.${n}` });
    requests.note({ ...refused, address: null });
    await requests.drain();
    const five = [0, 1, 2, 3, 4];
    expect(await stated()).to.deep.include.members([
      {
        refused: 'verifier',
        minute,
        total: 9,
        codes: { 'authentication.missing': 9 },
        routes: five.map((n) => `/r${n}`),
        addresses: five.map((n) => `192.0.2.${n}`),
      },
    ]);
    expect((await stated()).find((one) => one.refused === 'anonymous')?.addresses).to.deep.equal([]);
  });

  it('tells a bounded number of callers apart, and those beyond are others', async () => {
    for (let n = 0; n < refusedCallersMax + 500; n += 1)
      requests.note({ ...refused, caller: `service_account:sa_${n}` });
    await requests.drain();
    const all = await joined.engine.events.readAllBack('9'.repeat(20), 1_000);
    const [others] = statedIn(all).filter((one) => one.refused === 'others');
    expect(others).to.include({ total: 500 });
    const { head } = joined.engine.events;
    expect(BigInt(await head()) - BigInt(from)).to.equal(BigInt(refusedCallersMax + 1));
  });

  it('states what could not be stated with the next minute’s, and tells of it', async () => {
    isAway = true;
    requests.note(refused);
    clock.pass(60_000);
    await requests.state();
    expect(failures).to.deep.equal([away]);
    isAway = false;
    requests.note(refused);
    clock.pass(60_000);
    await requests.state();
    expect((await stated()).map(({ total }) => total)).to.deep.equal([1, 1]);
    expect(new Set((await stated()).map((one) => one.minute)).size).to.equal(2);
  });
});

describe('requests of the Admin API that are refused', () => {
  it('are in the log once the program has stopped, and those of the workspace API are not', async () => {
    const dir = freshFolder();
    const program = await startProgram({ dir });
    try {
      const client = createClient(program.url);
      const { id, bearer } = await arrangeAccount(client, 'acme');
      const before = (await logOf(dir)).length;
      await forEach(Array(300).keys(), 8, async (n) => {
        const to = n % 2 === 0 ? '/admin/v1/tenants' : `/admin/v1/nowhere-${n}`;
        await client('GET', to, { token: n % 3 === 0 ? null : 'garbage' });
      });
      await client('GET', '/admin/v1/tenants', { token: bearer });
      await client('POST', '/admin/v1/tenants/other/tokens', { token: bearer, body: {} });
      await client('GET', '/admin/v1/events', { token: verifierToken });
      await client('GET', '/api/acme/agents', { token: null });
      await client('GET', '/admin/v1/tenants/nowhere');
      expect(await program.stop()).to.equal(0);
      const fresh = (await logOf(dir)).slice(before);
      const all = statedIn(fresh);
      // Where there is a key to sign with, the stop sealed the log too.
      expect(all).to.have.length(fresh.filter(({ type }) => type !== 'LogSealed').length);
      const of = (caller: string) => all.filter(({ refused: who }) => who === caller);
      const sum = (some: readonly Stated[]): number => some.reduce((total, one) => total + one.total, 0);
      // The clock may have come to the next minute meanwhile.
      expect(of('anonymous').length).to.be.within(1, 2);
      expect(sum(of('anonymous'))).to.equal(300);
      expect(new Set(of('anonymous').flatMap(({ routes }) => routes))).to.deep.equal(
        new Set(['/admin/v1/tenants', 'unmatched']),
      );
      expect([sum(of(`service_account:${id}`)), sum(of('verifier'))]).to.deep.equal([2, 1]);
      expect(sum(all)).to.equal(303);
    } finally {
      await program.kill();
      removeFolder(dir);
    }
  }).timeout(60_000);
});
