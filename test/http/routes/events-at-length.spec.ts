import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { EventStore } from '../../../src/core/ports.ts';
import { codec } from '../../../src/events/index.ts';
import type { ServiceAccountFact } from '../../../src/events/service-account.ts';
import { eventsScannedMax, type AuditEvent } from '../../../src/http/audit.ts';
import { createClient, type Client } from '../../support/client.ts';
import { whyNoLongLog } from '../../support/engines.ts';
import { beginStream } from '../../support/event-tail.ts';
import { cause } from '../../support/examples.ts';
import { residentMebibytes } from '../../support/memory.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../../support/program.ts';
import { within } from '../../support/waiting.ts';
import { beforehand, bodyOf } from '../../support/workspace.ts';

/** A little more than is looked at for one page. */
const length = eventsScannedMax + 300;

/** Clients that ask for the whole log and take none of it for a while. */
const deaf = 8;

/** What they may cost together (alone 120 MiB, on a busy machine twice that): held whole, each answer would be some 40 MiB. */
const growthMebibytesMax = 250;

const path = '/admin/v1/events';

/** Events of one append. */
const appended = 100;

const longName = 'n'.repeat(1_500);

const lines = { Accept: 'application/x-ndjson' };

const accountCreated = (n: number): ServiceAccountFact => ({
  type: 'ServiceAccountCreated',
  data: {
    service_account_id: `sa_${n}`,
    tenant_id: 'acme',
    incarnation: 'acme~1',
    name: longName,
    max_role: 'writer',
    max_ttl_secs: 60,
    bearer_digest: `${n}`.padStart(43, 'A'),
  },
});

/** Many facts in one append, past the read models: they follow, and a server's may take their time for so many. */
const fill = async (events: EventStore, from: number, count: number, by = cause): Promise<void> => {
  const time = new Date().toISOString();
  const facts = Array.from({ length: count }, (_, n) => accountCreated(from + n));
  await events.append({
    stream: `service_account-fill-${from}`,
    expected: 'none',
    events: facts.map((fact) => codec.encode(fact, { id: randomUUID(), time, cause: by })),
  });
};

/** An answer taken to its end: how many lines, and whether it came whole. */
const takeLines = async (answer: IncomingMessage) => {
  let count = 0;
  let last = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer as AsyncIterable<string>) {
    const parts = (last + chunk).split('\n');
    last = parts.pop() ?? '';
    count += parts.length;
  }
  return { count, rest: last, isWhole: answer.complete };
};

const skipped = whyNoLongLog === undefined ? '' : ` (skipped: ${whyNoLongLog})`;

describe(`a log of ${length} events${skipped}`, function () {
  this.timeout(180_000);
  const dir = freshFolder();
  let program: Program;
  let client: Client;

  before(async function () {
    if (whyNoLongLog !== undefined) this.skip();
    await beforehand(dir, async ({ events }) => {
      for (let from = 0; from < length - 1; from += appended)
        await fill(events, from, Math.min(appended, length - 1 - from));
      await fill(events, length, 1, { ...cause, actor: 'service_account:last' });
    });
    program = await startProgram({ dir });
    client = createClient(program.url);
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  it('is answered line by line no faster than it is taken, up to its end as it was', async () => {
    const { length: warm } = (await client('GET', path, { headers: lines })).text.split('\n');
    expect(warm).to.equal(length + 1);
    const before = residentMebibytes(program.pid);
    const answers = await Promise.all(
      Array.from({ length: deaf }, async () => {
        const answer = await beginStream(program.url, path, lines);
        await once(answer, 'readable');
        return answer;
      }),
    );
    // Other requests are served meanwhile, and what they add is not answered to those who asked before.
    for (let n = 0; n < 50; n += 1)
      bodyOf(await client('POST', '/admin/v1/tenants', { body: { id: `late-${n}` } }), 201);
    expect(residentMebibytes(program.pid) - before).to.be.below(growthMebibytesMax);
    // At once, for a client that takes nothing for long is ended.
    expect(await Promise.all(answers.map(takeLines))).to.deep.equal(
      answers.map(() => ({ count: length, rest: '', isWhole: true })),
    );
    expect(residentMebibytes(program.pid) - before).to.be.below(growthMebibytesMax);
  });

  it('is looked at for a page up to a bound, with a link to go on', async () => {
    const query = 'actor=service_account:last';
    const first = await client('GET', `${path}?${query}`);
    expect(bodyOf(first)).to.deep.equal([]);
    const next = /^<([^>]*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(next).to.contain('actor=').and.to.contain('after=');
    const second = await client('GET', next);
    expect(bodyOf<AuditEvent[]>(second).map(({ actor }) => actor)).to.deep.equal(['service_account:last']);
    expect(second.headers.get('link')).to.equal(null);
    const down = await client('GET', `${path}?${query}&order=desc&limit=1`);
    expect(bodyOf(down)).to.have.length(1);
  });

  it('is left by a client that goes away, and the service goes on', async () => {
    const answer = await beginStream(program.url, path, lines);
    await once(answer, 'readable');
    answer.destroy();
    expect((await client('GET', `${path}?limit=1`)).status).to.equal(200);
  });

  it('holds up no stop, though a tail’s client takes nothing of it', async () => {
    const answer = await beginStream(program.url, `${path}?after=${'0'.repeat(20)}`, {
      Accept: 'text/event-stream',
    });
    answer.on('error', () => {});
    await once(answer, 'readable');
    // More is told meanwhile than the buffers on the way take.
    for (let n = 0; n < 200; n += 1) await client('GET', `${path}?limit=1`);
    expect(await within('the stop', 5_000, program.stop())).to.equal(0);
    answer.destroy();
  });
});
