import { expect } from 'chai';
import { createTenant } from '../../src/commands/tenant.ts';
import { startOfLog } from '../../src/core/event.ts';
import { codec } from '../../src/events/index.ts';
import type { AuditLog } from '../../src/http/audit.ts';
import { createTails } from '../../src/http/tails.ts';
import { openJoined, type Joined } from '../support/joined.ts';
import { until } from '../support/waiting.ts';

/** How often the tails of this test say that they live, in milliseconds. */
const aliveEveryMs = 20;

describe('a live tail', () => {
  let joined: Joined;
  let log: AuditLog;
  let leaving: AbortSignal | undefined;
  before(async () => {
    joined = await openJoined();
    const { events } = joined.engine;
    const subscribe: AuditLog['subscribe'] = (after, signal) => {
      leaving = signal;
      return events.subscribe(after, signal);
    };
    log = { ...events, subscribe, decode: codec.decode };
  });
  after(() => joined.close());

  it('says that it lives while nothing is told, and how far the log has been looked at', async () => {
    const tails = createTails(aliveEveryMs);
    const after = await log.head();
    const stream = tails.open(log, { type: 'TenantDeleted' }, after);
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await until('it has said so twice', () => text.split(':\n').length > 2);
    expect(text).to.match(/^(:\nid: \d{20}\n\n)+$/);
    await joined.grant(createTenant, { tenant_id: 'acme' });
    const head = await log.head();
    await until('it has come further', () => text.endsWith(`:\nid: ${head}\n\n`));
    expect(text).to.not.contain('data');
    stream.destroy();
    await until('its subscription has ended', () => leaving?.aborted === true);
  });

  /** A log that has an event for whoever asks, again and again, and how many it has given. */
  const endless = async () => {
    const [event] = await log.readAll(startOfLog, 1);
    if (event === undefined) throw new Error('The log is empty.');
    let given = 0;
    const subscribe: AuditLog['subscribe'] = async function* (_, signal) {
      for (; !signal.aborted && given < 100_000; given += 1) yield event;
    };
    return { log: { ...log, subscribe }, given: () => given };
  };

  it('is read from the log no faster than it is taken', async () => {
    const source = await endless();
    const stream = createTails().open(source.log, {}, startOfLog);
    await until('it is full', () => stream.readableLength >= stream.readableHighWaterMark);
    const before = source.given();
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(source.given()).to.equal(before).and.to.be.below(1_000);
    stream.destroy();
  });

  it('is given up soon after the end where nobody takes it, and else ends whole', async () => {
    const source = await endless();
    const tails = createTails();
    const deaf = tails.open(source.log, {}, startOfLog);
    deaf.on('error', () => {});
    const heard = tails.open(log, {}, startOfLog);
    let text = '';
    heard.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await until('both have begun', () => text.includes('data') && deaf.readableLength > 0);
    const ended = new Promise((resolve) => heard.once('end', resolve));
    tails.end();
    await ended;
    expect(text).to.match(/\n\n$/);
    await until('it is given up', () => deaf.destroyed, 3_000);
  });

  it('fails where the log does, and is not open any more', async () => {
    const fault = new Error('The log has ended.');
    const failing: AuditLog = {
      ...log,
      // oxlint-disable-next-line require-yield -- It fails before its first event.
      subscribe: async function* () {
        throw fault;
      },
    };
    const stream = createTails().open(failing, {}, startOfLog);
    const failure = await new Promise((resolve) => stream.once('error', resolve).resume());
    expect(failure).to.equal(fault);
  });

  it('is opened no more once all have been ended', () => {
    const tails = createTails();
    tails.end();
    expect(() => tails.open(log, {}, startOfLog)).to.throw(/stopping/);
  });
});
