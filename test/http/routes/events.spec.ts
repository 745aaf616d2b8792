import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { noteApiKeyUse } from '../../../src/commands/api-key.ts';
import { createServiceAccount } from '../../../src/commands/service-account.ts';
import { signInOperator } from '../../../src/commands/session.ts';
import { createTenant, deleteTenant } from '../../../src/commands/tenant.ts';
import { createUser } from '../../../src/commands/user.ts';
import type { Cause } from '../../../src/core/event.ts';
import { codec, type DomainEvent } from '../../../src/events/index.ts';
import type { AuditEvent } from '../../../src/http/audit.ts';
import { tailsMax } from '../../../src/http/tails.ts';
import { createClient, type Client } from '../../support/client.ts';
import { logOf } from '../../support/engines.ts';
import { beginStream, openEventTail } from '../../support/event-tail.ts';
import { cause, digestOf } from '../../support/examples.ts';
import { createHandClock } from '../../support/hand-clock.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../../support/program.ts';
import { between, pick as pickOf, seeded, testRounds, testSeed } from '../../support/random.ts';
import { serving } from '../../support/serving.ts';
import { forEach, until, within } from '../../support/waiting.ts';
import { beforehand, bodyOf, type Parts } from '../../support/workspace.ts';

const path = '/admin/v1/events';

const secretText = /"(?!hash")\w*(digest|hash)"|argon2|([A-Z])\2{42}/;

const nextOf = (headers: Headers): string | undefined =>
  /^<([^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];

/** Every page from the first on, each no longer than `limit`. */
const pagesOf = async (client: Client, query: string, limit = 1_000): Promise<readonly AuditEvent[]> => {
  const seen: AuditEvent[] = [];
  for (let at: string | undefined = `${path}?${query}`; at !== undefined;) {
    const answer = await client('GET', at);
    const events = bodyOf<AuditEvent[]>(answer);
    expect(events.length).to.be.most(limit);
    seen.push(...events);
    at = nextOf(answer.headers);
  }
  return seen;
};

const linesOf = async (client: Client, query = ''): Promise<readonly AuditEvent[]> => {
  const answer = await client('GET', `${path}${query}`, { headers: { Accept: 'application/x-ndjson' } });
  expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
    200,
    'application/x-ndjson; charset=utf-8',
  ]);
  expect(answer.text).to.match(/^$|\n$/);
  return answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEvent);
};

const positionsOf = (events: readonly { readonly position: string }[]): readonly string[] =>
  events.map(({ position }) => position);

const decodedLogOf = async (dir: string): Promise<readonly DomainEvent[]> =>
  (await logOf(dir)).map((stored) => codec.decode(stored));

/** What may be asked of the log, as its query names it. */
type Asked = Readonly<Record<string, string | undefined>>;

/** An instant in milliseconds: what is asked for can be finer than what events have. */
const fine = (time: string): number => Date.parse(time) + (/\.\d{3}001Z$/.test(time) ? 0.001 : 0);

const queryOf = (asked: Asked): string =>
  new URLSearchParams(
    Object.entries(asked).filter((one): one is [string, string] => one[1] !== undefined),
  ).toString();

const actors = ['admin', 'user:a/alice', 'service_account:sa_1'];
const tenants = ['a', 'b', 'c'];
const startMs = Date.parse('2026-11-21T09:00:00.000Z');

describe('the events of a random history', function () {
  this.timeout(120_000);
  const seed = testSeed();
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => pickOf(random, from) as T;
  const dir = freshFolder();
  const causes = Array.from({ length: 6 }, () => randomUUID());
  const requests = Array.from({ length: 12 }, (_, n) => `request-${n}`);
  let program: Program;
  let client: Client;
  let log: readonly DomainEvent[];

  const someCause = (): Cause => ({
    ...cause,
    actor: pick(actors),
    correlation_id: pick(requests),
    causation_id: pick([null, ...causes]),
    ...(random() < 0.5 ? {} : { token: 'abcdef01' }),
  });

  const act = async ({ run }: Parts, clock: ReturnType<typeof createHandClock>, n: number) => {
    clock.pass(pick([0, 0, 1, 40, 2_000]));
    const tenant_id = pick(tenants);
    const incarnation = `${tenant_id}~1`;
    const ofTenant = { tenant_id, incarnation };
    const why = someCause();
    await pick([
      () => run(createTenant, { tenant_id }, why),
      () => run(deleteTenant, { tenant_id }, why),
      () =>
        run(
          createUser,
          {
            ...ofTenant,
            user_id: randomUUID(),
            username: `user-${n}`,
            role: 'reader' as const,
            password_hash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
          },
          why,
        ),
      () =>
        run(
          createServiceAccount,
          {
            ...ofTenant,
            service_account_id: `sa_${n}`,
            name: 'n',
            max_role: 'writer' as const,
            max_ttl_secs: 60,
            bearer_digest: digestOf('A'),
          },
          why,
        ),
      () => run(noteApiKeyUse, { ...ofTenant, api_key_id: `key_${n}`, atMs: clock.wallMs() }, why),
      () =>
        run(
          signInOperator,
          {
            session_id: randomUUID(),
            session_digest: digestOf('S'),
            admin_token_digest: digestOf('T'),
            atMs: clock.wallMs(),
          },
          why,
        ),
    ])();
  };

  before(async () => {
    const clock = createHandClock(startMs);
    await beforehand(
      dir,
      async (parts) => {
        for (let n = 0; n < 250; n += 1) await act(parts, clock, n);
      },
      clock.wallMs,
    );
    log = await decodedLogOf(dir);
    program = await startProgram({ dir });
    client = createClient(program.url);
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  const someTime = (): string => {
    const ms = Date.parse(pick(log).time) + pick([0, 0, 1, -1, 500]);
    return pick([
      new Date(ms).toISOString(),
      new Date(ms + 7_200_000).toISOString().replace('Z', '+02:00'),
      new Date(ms).toISOString().replace('Z', '001Z'),
    ]);
  };

  const maybe = (value: () => string): string | undefined => (random() < 0.3 ? value() : undefined);

  const someQuestion = (): Asked => {
    return {
      tenant: maybe(() => pick([...tenants, 'nowhere'])),
      type: maybe(() => pick(log).type),
      actor: maybe(() => pick([...actors, 'nobody'])),
      stream: maybe(() => pick(log).stream),
      correlation_id: maybe(() => pick(requests)),
      causation_id: maybe(() => pick(causes)),
      since: maybe(someTime),
      until: maybe(someTime),
      after: maybe(() => pick(log).position),
      before: maybe(() => pick(log).position),
      order: maybe(() => pick(['asc', 'desc'])),
    };
  };

  const answerOf = (asked: Asked): readonly string[] => {
    const found = log.filter(
      ({ type, stream, position, time, cause: { actor, correlation_id, causation_id }, data }) =>
        (asked['tenant'] ?? (data as { tenant_id?: string }).tenant_id) ===
          (data as { tenant_id?: string }).tenant_id &&
        (asked['type'] ?? type) === type &&
        (asked['actor'] ?? actor) === actor &&
        (asked['stream'] ?? stream) === stream &&
        (asked['correlation_id'] ?? correlation_id) === correlation_id &&
        (asked['causation_id'] ?? causation_id) === causation_id &&
        (asked['since'] === undefined || Date.parse(time) >= fine(asked['since'])) &&
        (asked['until'] === undefined || Date.parse(time) < fine(asked['until'])) &&
        (asked['after'] === undefined || position > asked['after']) &&
        (asked['before'] === undefined || position < asked['before']),
    );
    const positions = positionsOf(found);
    return asked['order'] === 'desc' ? positions.toReversed() : positions;
  };

  it('are those that have all of what is asked for, in pages of any length and as lines', async () => {
    for (let round = 0; round < testRounds(150); round += 1) {
      const asked = someQuestion();
      const wanted = answerOf(asked);
      const query = queryOf(asked);
      const limit = between(random, 1, 60);
      const where = `${query}, seed ${seed}`;
      expect(positionsOf(await pagesOf(client, `${query}&limit=${limit}`, limit)), where).to.deep.equal(
        wanted,
      );
      expect(positionsOf(await linesOf(client, `?${query}`)), where).to.deep.equal(wanted);
      const first = await linesOf(client, `?${query}&limit=${limit}`);
      expect(positionsOf(first), where).to.deep.equal(wanted.slice(0, limit));
    }
  });

  it('have all that the log has of them, but their secrets', async () => {
    const all = await pagesOf(client, '');
    expect(all).to.have.length(log.length);
    for (const [n, event] of log.entries()) {
      const { cause: why, data, previous = null, ...envelope } = event;
      expect(envelope.hash).to.match(/^[\w+/]{43}=$/);
      const shown: Record<string, unknown> = { ...data };
      for (const name of ['password_hash', 'bearer_digest', 'session_digest', 'admin_token_digest'])
        delete shown[name];
      const { tenant_id = null } = data as { tenant_id?: string };
      expect(all[n]).to.deep.equal({
        token: null,
        ...envelope,
        previous,
        ...why,
        tenant_id,
        data: shown,
      });
    }
    expect(JSON.stringify(log)).to.match(secretText);
  });

  it('have no secret in any form', async () => {
    const { text } = await client('GET', `${path}?limit=1000`);
    const { text: lines } = await client('GET', path, { headers: { Accept: 'application/x-ndjson' } });
    const tail = await openEventTail(program.url, `?after=${'0'.repeat(20)}`);
    await tail.have(log.length);
    tail.leave();
    for (const told of [text, lines, tail.text()]) expect(told).to.not.match(secretText);
  });

  it('are 100 unless more are asked for, and the last page has no link', async () => {
    const answer = await client('GET', path);
    expect(bodyOf<AuditEvent[]>(answer)).to.have.length(100);
    expect(nextOf(answer.headers)).to.be.a('string');
    const whole = await client('GET', `${path}?limit=${log.length}`);
    expect([bodyOf<AuditEvent[]>(whole).length, whole.headers.get('link')]).to.deep.equal([log.length, null]);
  });

  it('are found by their position', async () => {
    const all = await pagesOf(client, '');
    for (const event of all.slice(0, 20)) {
      const answer = await client('GET', `${path}/${event.position}`);
      expect(bodyOf<AuditEvent>(answer)).to.deep.equal(event);
    }
    for (const position of ['0'.repeat(20), '9'.repeat(20)])
      expectProblem(await client('GET', `${path}/${position}`), 404, 'event.unknown');
  });

  it('refuse what can not be asked, and name every fault', async () => {
    for (const [query, ...pointers] of [
      ['limit=0', '/limit'],
      ['limit=1001&order=up', '/limit', '/order'],
      ['after=7&before=x', '/after', '/before'],
      ['since=yesterday&until=2026-13-01T00:00:00Z', '/since', '/until'],
      ['tenant=a/b&actor=', '/actor', '/tenant'],
      ['causation_id=7', '/causation_id'],
      ['as_of=2026-11-21T09:00:00Z', '/as_of'],
      ['cursor=00000000000000000001', '/cursor'],
    ])
      expect(expectInvalid(await client('GET', `${path}?${query}`)), query).to.deep.equal(pointers);
    for (const id of ['7', 'x', `${'0'.repeat(8)}-0000-0000-0000`])
      expect(expectInvalid(await client('GET', `${path}/${id}`))).to.deep.equal(['/id']);
    const accept = { Accept: 'text/event-stream' };
    for (const name of ['until=2026-11-21T09:00:00Z', `before=${'1'.repeat(20)}`, 'order=asc', 'limit=1'])
      expect(expectInvalid(await client('GET', `${path}?${name}`, { headers: accept }))).to.deep.equal([
        `/${name.slice(0, name.indexOf('='))}`,
      ]);
    const odd = { ...accept, 'Last-Event-ID': '7' };
    expect(expectInvalid(await client('GET', path, { headers: odd }))).to.deep.equal(['/Last-Event-ID']);
    // As after an older backup was restored: what comes up to there would be left out without a word.
    const ahead = { ...accept, 'Last-Event-ID': '9'.repeat(20) };
    expect(expectInvalid(await client('GET', path, { headers: ahead }))).to.deep.equal(['/Last-Event-ID']);
    const behindEnd = `${path}?after=${'9'.repeat(20)}`;
    expect(expectInvalid(await client('GET', behindEnd, { headers: accept }))).to.deep.equal(['/after']);
    const both = { Accept: 'application/x-ndjson;q=0.5, application/json' };
    expect((await client('GET', path, { headers: both })).headers.get('content-type')).to.match(
      /^application\/json/,
    );
    expectProblem(
      await client('GET', path, { headers: { Accept: 'text/html' } }),
      406,
      'request.not-acceptable',
    );
  });
});

describe('the events of a log that grows', function () {
  this.timeout(60_000);
  const { client, program } = serving();
  const add = async (n: number): Promise<void> => {
    bodyOf(await client('POST', '/admin/v1/tenants', { body: { id: `t-${n}` } }), 201);
  };
  /** Adds until it is told to end. */
  const adding = (from: number) => {
    const over = new AbortController();
    const added = (async () => {
      for (let n = from; !over.signal.aborted; n += 1) await add(n);
    })();
    return async (): Promise<void> => {
      over.abort();
      await added;
    };
  };

  it('are paged in both orders without gap or repeat', async () => {
    await forEach(Array(60).keys(), 8, add);
    const stop = adding(1_000);
    const before = bodyOf<AuditEvent[]>(await client('GET', `${path}?order=desc&limit=1`))[0]?.position ?? '';
    const down = await pagesOf(client, 'order=desc&limit=7', 7);
    const up: AuditEvent[] = [...(await pagesOf(client, 'limit=7', 7))];
    await stop();
    up.push(...(await pagesOf(client, `limit=7&after=${up.at(-1)?.position}`, 7)));
    const log = positionsOf(await decodedLogOf(program().dir));
    expect(positionsOf(up)).to.deep.equal(log);
    const from = down[0]?.position ?? '';
    expect(from >= before).to.equal(true);
    expect(positionsOf(down)).to.deep.equal(log.slice(0, log.indexOf(from) + 1).toReversed());
  });

  it('are told as they happen, from the end of the log, those alone that are asked for', async () => {
    const all = await openEventTail(program().url);
    expect(all.status).to.equal(200);
    expect(all.headers).to.include({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    const some = await openEventTail(program().url, '?type=TenantDeleted&tenant=t-2001');
    await until('both have begun', () => all.lastId() !== '' && some.lastId() !== '');
    await forEach([2_000, 2_001, 2_002], 1, add);
    for (const id of ['t-2000', 't-2001']) await client('DELETE', `/admin/v1/tenants/${id}`);
    await all.have(5);
    await some.have(1);
    const log = (await decodedLogOf(program().dir)).slice(-5);
    expect(all.events.map(({ id, type }) => [id, type])).to.deep.equal(
      log.map(({ position, type }) => [position, type]),
    );
    const [last] = some.events;
    expect(some.events).to.have.length(1);
    expect(JSON.parse(last?.data ?? '')).to.deep.equal(
      bodyOf(await client('GET', `${path}/${log.at(-1)?.position}`)),
    );
    for (const tail of [all, some]) tail.leave();
  });

  it('are told from a time or a position on', async () => {
    const log = await decodedLogOf(program().dir);
    const from = log.at(-4);
    for (const query of [`?after=${log.at(-5)?.position}`, `?since=${from?.time}`]) {
      const tail = await openEventTail(program().url, query);
      const wanted = log.filter(({ time, position }) =>
        query.startsWith('?since') ? time >= (from?.time ?? '') : position >= (from?.position ?? ''),
      );
      await tail.have(wanted.length);
      tail.leave();
      expect(tail.events.map(({ id }) => id)).to.deep.equal(positionsOf(wanted));
    }
  });

  it(`are followed by ${tailsMax} at once, and a client that has gone makes room`, async () => {
    const tails = await Promise.all(Array.from({ length: tailsMax }, () => openEventTail(program().url)));
    expect(tails.map(({ status }) => status)).to.deep.equal(Array(tailsMax).fill(200));
    const headers = { Accept: 'text/event-stream' };
    expectProblem(await client('GET', path, { headers }), 503, 'service.busy');
    expect((await client('GET', path)).status).to.equal(200);
    tails[0]?.leave();
    let fresh = await openEventTail(program().url);
    await until('there is room again', async () => {
      if (fresh.status !== 200) fresh = await openEventTail(program().url);
      return fresh.status === 200;
    });
    await add(3_000);
    await fresh.have(1);
    for (const tail of [...tails, fresh]) tail.leave();
  });

  it('answer HEAD without a tail that stays', async () => {
    const headers = { Accept: 'text/event-stream' };
    await until('the tails of before have gone', async () => {
      const { status } = await client('HEAD', path, { headers });
      return status === 200;
    });
    for (let n = 0; n < tailsMax + 1; n += 1) {
      const answer = await client('HEAD', path, { headers });
      expect([answer.status, answer.text]).to.deep.equal([200, '']);
    }
  });
});

describe('a live tail over a kill, a restart and a stop', function () {
  this.timeout(60_000);
  const dir = freshFolder();
  let program: Program;
  before(async () => {
    program = await startProgram({ dir });
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  it('goes on where it broke off, without gap or repeat', async () => {
    const seen: string[] = [];
    let lastId = '';
    for (let round = 0; round < 3; round += 1) {
      const headers: Record<string, string> = lastId === '' ? {} : { 'Last-Event-ID': lastId };
      const tail = await openEventTail(program.url, '', headers);
      await until('it has begun', () => tail.lastId() !== '');
      const client = createClient(program.url);
      const added = forEach(Array(60).keys(), 4, async (n) => {
        await client('POST', '/admin/v1/tenants', { body: { id: `t-${round}-${n}` } }).catch(() => {});
      });
      await tail.have(10);
      await program.kill();
      await added;
      await until('it has broken off', () => tail.ended() === 'cut');
      seen.push(...tail.events.map(({ id }) => id));
      lastId = tail.lastId();
      program = await startProgram({ dir });
      // What was added while nobody was told.
      await createClient(program.url)('POST', '/admin/v1/tenants', { body: { id: `between-${round}` } });
    }
    const log = positionsOf(await decodedLogOf(dir));
    const tail = await openEventTail(program.url, '', { 'Last-Event-ID': lastId });
    await tail.have(log.length - seen.length);
    tail.leave();
    seen.push(...tail.events.map(({ id }) => id));
    expect(seen).to.deep.equal(log);
  });

  it('goes on also where it broke off before its first event', async () => {
    const idle = await openEventTail(program.url, '?type=TenantDeleted');
    await until('it has begun', () => idle.lastId() !== '');
    idle.leave();
    const client = createClient(program.url);
    await client('DELETE', '/admin/v1/tenants/between-0');
    const again = await openEventTail(program.url, '?type=TenantDeleted', { 'Last-Event-ID': idle.lastId() });
    await again.have(1);
    again.leave();
    expect(again.events).to.have.length(1);
  });

  it('is ended whole by a stop, which it does not hold up', async () => {
    const tails = await Promise.all([1, 2, 3].map(() => openEventTail(program.url)));
    const deaf = await beginStream(program.url, `${path}?after=${'0'.repeat(20)}`, {
      Accept: 'text/event-stream',
    });
    expect(await within('the stop', 5_000, program.stop())).to.equal(0);
    await until('all have ended', () => tails.every((tail) => tail.ended() !== undefined));
    expect(tails.map((tail) => tail.ended())).to.deep.equal(['whole', 'whole', 'whole']);
    deaf.destroy();
  });
});
