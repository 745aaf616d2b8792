import { expect } from 'chai';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { createUser } from '../../src/commands/user.ts';
import { StoreUnavailable, type EventStore } from '../../src/core/ports.ts';
import { attemptsMax, TooManyConflicts } from '../../src/core/run.ts';
import { codec } from '../../src/events/index.ts';
import { findTenant } from '../../src/projections/tenants.ts';
import { cause, tenantCreated, tenantDeleted, time, timeMs, userCreated } from '../support/examples.ts';
import { createSignal } from '../support/gates.ts';
import { openJoined, type Joined, type JoinedOptions } from '../support/joined.ts';
import { until } from '../support/waiting.ts';

/** More events than the log answers at once. */
const longStreamEvents = 1_001;

const wish = { tenant_id: 'acme' };
const stream = createTenant.stream(wish);

/** An engine that loses the first races of every command: what is asked for there was never tried. */
const losing =
  (races: number, tried: () => void = () => {}) =>
  (events: EventStore): EventStore => {
    let lost = 0;
    return {
      ...events,
      append: async (append) => {
        tried();
        lost += 1;
        return lost <= races ? { appended: false, current: 'none' } : events.append(append);
      },
    };
  };

describe('running a command', () => {
  let joined: Joined | undefined;
  const open = async (options: JoinedOptions = {}): Promise<Joined> =>
    (joined = await openJoined({ clock: () => timeMs, ...options }));
  afterEach(async () => {
    await joined?.close();
    joined = undefined;
  });
  const types = async (): Promise<readonly string[] | undefined> =>
    (await joined?.engine.events.readStream(stream))?.map(({ type }) => type);

  it('answers the very events that the log holds, with who asked and the time of the clock', async () => {
    const { run, engine } = await open();
    const outcome = await run(createTenant, wish, cause);
    const log = await engine.events.readStream(stream);
    const position = log.at(-1)?.position;
    expect(outcome).to.deep.equal({ accepted: true, events: log.map(codec.decode), position });
    expect(log).to.have.length(1);
    expect(codec.decode(log[0] as never)).to.deep.include({ ...tenantCreated, time, cause, revision: 0 });
  });

  it('decides on the whole stream, however long it is', async () => {
    const { run, engine } = await open();
    const events = Array.from({ length: longStreamEvents }, (_, at) =>
      codec.encode(at % 2 === 0 ? tenantCreated : tenantDeleted, { id: `event-${at}`, time, cause }),
    );
    await engine.events.append({ stream, expected: 'none', events });
    expect(await run(createTenant, wish, cause)).to.include({ accepted: false, code: 'tenant.exists' });
    expect(await run(deleteTenant, wish, cause)).to.have.nested.property('events[0].revision', 1_001);
    expect(await run(createTenant, wish, cause)).to.have.nested.property('events[0].revision', 1_002);
  });

  it('refuses without a fact, and awaits the read models of what the refusal rests on', async () => {
    const settled: (readonly number[])[] = [];
    const { run } = await open({ settled: (revisions) => void settled.push(revisions) });
    await run(createTenant, wish, cause);
    expect(await run(createTenant, wish, cause)).to.include({ accepted: false, code: 'tenant.exists' });
    expect(await types()).to.deep.equal(['TenantCreated']);
    expect(settled.at(-1)).to.deep.equal([0]);
  });

  it('grants a wish that is already true without a fact, and awaits the read models of what made it true', async () => {
    const settled: (readonly number[])[] = [];
    const { run, engine } = await open({ settled: (revisions) => void settled.push(revisions) });
    await run(createTenant, wish, cause);
    await run(deleteTenant, wish, cause);
    settled.splice(0);
    const position = (await engine.events.readStream(stream)).at(-1)?.position;
    expect(await run(deleteTenant, wish, cause)).to.deep.equal({ accepted: true, events: [], position });
    expect(await types()).to.deep.equal(['TenantCreated', 'TenantDeleted']);
    expect(settled).to.deep.equal([[0, 1]]);
  });

  it('answers only when the read models have the stream up to its own events', async () => {
    const settled: (readonly number[])[] = [];
    const release = createSignal();
    const settle = (revisions: readonly number[]): Promise<void> | undefined => {
      settled.push(revisions);
      return settled.length === 2 ? release.happened : undefined;
    };
    const { run } = await open({ settled: async (revisions) => settle(revisions) });
    await run(createTenant, wish, cause);
    let answered = false;
    const outcome = run(deleteTenant, wish, cause).finally(() => {
      answered = true;
    });
    await until('the second command awaits the read models', () => settled.length === 2);
    expect(await types(), 'it is in the log').to.deep.equal(['TenantCreated', 'TenantDeleted']);
    expect(answered, 'it is not answered').to.equal(false);
    release.give();
    expect(await outcome).to.include({ accepted: true });
    expect(settled).to.deep.equal([[0], [0, 1]]);
  });

  it('decides a lost race again, on what the winner made true', async () => {
    const told: string[] = [];
    const { run } = await open({ told: (what) => void told.push(what) });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => run(createTenant, wish, cause)));
    expect(outcomes.filter(({ accepted }) => accepted)).to.have.length(1);
    expect(
      outcomes.filter((outcome) => !outcome.accepted && outcome.code === 'tenant.exists'),
    ).to.have.length(19);
    expect(await types()).to.deep.equal(['TenantCreated']);
    // That the stream exists after all is what the first try of a command that starts one finds out.
    expect(told).to.not.include('CreateTenant conflicted');
    const ended = await Promise.all(Array.from({ length: 20 }, () => run(deleteTenant, wish, cause)));
    expect(ended.filter(({ accepted }) => accepted)).to.have.length(20);
    expect(await types()).to.deep.equal(['TenantCreated', 'TenantDeleted']);
    expect(told).to.include('DeleteTenant conflicted');
    expect(told.filter((what) => what === 'DeleteTenant accepted')).to.have.length(1);
    expect(told.filter((what) => what === 'DeleteTenant unchanged')).to.have.length(19);
  });

  it('makes one user of a name, however many ask at once in whatever case', async () => {
    const { run } = await open();
    const names = ['alice', 'ALICE', 'Alice', 'aLICE'];
    const outcomes = await Promise.all(
      names.map((username) => run(createUser, { ...userCreated.data, username }, cause)),
    );
    expect(outcomes.filter(({ accepted }) => accepted)).to.have.length(1);
  });

  it(`grants where ${attemptsMax - 1} races are lost and the last is won`, async () => {
    const told: string[] = [];
    const { run } = await open({
      around: losing(attemptsMax - 1),
      told: (what) => void told.push(what),
    });
    expect(await run(createTenant, wish, cause)).to.include({ accepted: true });
    expect(told).to.deep.equal([
      // The first try only found out that it guessed wrong.
      ...Array<string>(attemptsMax - 2).fill('CreateTenant conflicted'),
      'CreateTenant accepted',
    ]);
  });

  it(`gives up after ${attemptsMax} lost races, and nothing is written`, async () => {
    let tries = 0;
    const { run } = await open({ around: losing(Number.POSITIVE_INFINITY, () => (tries += 1)) });
    const error = await run(createTenant, wish, cause).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TooManyConflicts);
    expect(tries).to.equal(attemptsMax);
    expect(await types()).to.deep.equal([]);
  });

  it('says so where the answer to an append is lost, and asking again makes no second fact', async () => {
    let losesAnswer = true;
    const { run, reads } = await open({
      around: (events) => ({
        ...events,
        append: async (append) => {
          const result = await events.append(append);
          if (!losesAnswer) return result;
          losesAnswer = false;
          throw new StoreUnavailable('The answer is lost.');
        },
      }),
    });
    const error = await run(createTenant, wish, cause).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StoreUnavailable);
    expect(await run(createTenant, wish, cause)).to.include({ accepted: false, code: 'tenant.exists' });
    expect(await types()).to.deep.equal(['TenantCreated']);
    expect(await findTenant(reads, 'acme')).to.include({ id: 'acme' });
  });

  it('does not read a stream that its command starts, unless the stream is there', async () => {
    let reads = 0;
    const { run } = await open({
      around: (events) => ({
        ...events,
        readStream: async (...of) => {
          reads += 1;
          return events.readStream(...of);
        },
      }),
    });
    await run(createTenant, wish, cause);
    expect(reads).to.equal(0);
    await run(createTenant, wish, cause);
    expect(reads).to.equal(1);
  });
});
