import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { codec, type DomainEvent } from '../../src/events/index.ts';
import { arrangeAccount, createClient, mint, type Ask, type Client } from '../support/client.ts';
import { logOf } from '../support/engines.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { expectInvalid } from '../support/problems.ts';

const requestId = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A client far away, as a header can name it. */
const claimed = '198.51.100.7';

/** Whom the service takes for the client that adds a tenant, whatever is forwarded. */
const addressesAt = async (
  env: Readonly<Record<string, string>>,
  forwarded: readonly string[],
): Promise<readonly (string | null | undefined)[]> => {
  const dir = freshFolder();
  const program = await startProgram({ dir, env });
  try {
    const ids: (string | null)[] = [];
    for (const [n, value] of forwarded.entries()) {
      const { headers, status } = await createClient(program.url)('POST', '/admin/v1/tenants', {
        body: { id: `tenant-${n}` },
        headers: { 'X-Forwarded-For': value },
      });
      expect(status).to.equal(201);
      ids.push(headers.get('x-request-id'));
    }
    await program.stop();
    const log = (await logOf(dir)).map((stored) => codec.decode(stored));
    return ids.map((id) => log.find(({ cause }) => cause.correlation_id === id)?.cause.address);
  } finally {
    await program.kill();
    removeFolder(dir);
  }
};

describe('the address in the trace', () => {
  const forged = [claimed, `${claimed}, 10.0.0.1`, 'x'.repeat(600), '<script>'];

  it('is never what a client claims in X-Forwarded-For, where no proxy is trusted', async () => {
    expect(await addressesAt({}, forged)).to.deep.equal(forged.map(() => '127.0.0.1'));
  });
  it('is never what a client claims, where it is none of the trusted proxies', async () => {
    const addresses = await addressesAt({ SERVICE_TRUSTED_PROXIES: '192.0.2.1,uniquelocal' }, forged);
    expect(addresses).to.deep.equal(forged.map(() => '127.0.0.1'));
  });
  it('is what a trusted proxy tells, and the proxy’s own where that is no address', async () => {
    const addresses = await addressesAt({ SERVICE_TRUSTED_PROXIES: 'loopback,10.0.0.0/8' }, forged);
    expect(addresses).to.deep.equal([claimed, claimed, '127.0.0.1', '127.0.0.1']);
  });
});

describe('the trace of every act', () => {
  let dir: string;
  let program: Program;
  let client: Client;
  before(async () => {
    dir = freshFolder();
    program = await startProgram({ dir });
    client = createClient(program.url);
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  /** The events of the request that was answered under this id. */
  const eventsOf = async (id: string | null): Promise<readonly DomainEvent[]> =>
    (await logOf(dir))
      .map((stored) => codec.decode(stored))
      .filter(({ cause }) => cause.correlation_id === id);
  const act = async (method: string, path: string, ask: Ask = {}) => {
    const answer = await client(method, path, ask);
    expect(answer.status, answer.text).to.be.below(300);
    return { ...answer, id: answer.headers.get('x-request-id') };
  };

  it('says who, what, when, why and from where, under the caller’s own request id', async () => {
    const before = Date.now();
    const { id, headers } = await act('POST', '/admin/v1/tenants', {
      body: { id: 'acme' },
      headers: {
        'X-Request-Id': 'ticket:42_a.b-c',
        'X-Reason': 'a new customer',
        'User-Agent': 'tests/1.0 (acme)',
      },
    });
    expect(id).to.equal('ticket:42_a.b-c');
    expect(headers.get('x-request-id')).to.equal(id);
    const [event, ...others] = await eventsOf(id);
    expect(others).to.deep.equal([]);
    const digest = createHash('sha256').update(adminToken).digest('base64url');
    expect(event).to.deep.include({
      type: 'TenantCreated',
      version: 1,
      stream: 'tenant-acme',
      revision: 0,
      data: { tenant_id: 'acme', incarnation: 'acme~1' },
      cause: {
        actor: 'admin',
        address: '127.0.0.1',
        user_agent: 'tests/1.0 (acme)',
        reason: 'a new customer',
        correlation_id: 'ticket:42_a.b-c',
        causation_id: null,
        token: createHash('sha256').update(digest).digest('hex').slice(0, 8),
      },
    });
    expect(Date.parse(event?.time ?? '')).to.be.within(before, Date.now() + 1);
  });
  it('makes a request id where none was sent or it is not well-formed, and answers it', async () => {
    for (const sent of [undefined, '', 'a b', 'x'.repeat(129), 'a"b', 'ä']) {
      const headers: Record<string, string> = sent === undefined ? {} : { 'X-Request-Id': sent };
      const { id } = await act('DELETE', '/admin/v1/tenants/nobody', { headers });
      expect(id).to.match(requestId);
    }
  });
  it('keeps a reason in UTF-8 as it was meant, and no reason as none', async () => {
    const sent = Buffer.from('Kündigung — 顧客', 'utf8').toString('latin1');
    const one = await act('POST', '/admin/v1/tenants', { body: { id: 'a' }, headers: { 'X-Reason': sent } });
    expect((await eventsOf(one.id))[0]?.cause.reason).to.equal('Kündigung — 顧客');
    const longest = 'x'.repeat(1_000);
    const two = await act('POST', '/admin/v1/tenants', {
      body: { id: 'b' },
      headers: { 'X-Reason': longest },
    });
    expect((await eventsOf(two.id))[0]?.cause.reason).to.equal(longest);
    const three = await act('POST', '/admin/v1/tenants', { body: { id: 'c' } });
    expect((await eventsOf(three.id))[0]?.cause.reason).to.equal(null);
  });
  it('refuses a reason that is too long or no UTF-8, and does nothing', async () => {
    for (const reason of ['x'.repeat(1_001), '\u00ff\u00fe']) {
      const headers = { 'X-Reason': reason };
      const answer = await client('POST', '/admin/v1/tenants', { body: { id: 'unreasoned' }, headers });
      expect(expectInvalid(answer)).to.deep.equal(['/X-Reason']);
      expect((await client('GET', '/admin/v1/tenants/unreasoned')).status).to.equal(404);
    }
  });
  it('cuts a user agent that is too long', async () => {
    const headers = { 'User-Agent': 'x'.repeat(600) };
    const { id } = await act('POST', '/admin/v1/tenants', { body: { id: 'long-agent' }, headers });
    expect((await eventsOf(id))[0]?.cause.user_agent).to.equal('x'.repeat(512));
  });

  it('names the service account that acts, and the operator where the operator does', async () => {
    const { id: account, bearer } = await arrangeAccount(client, 'actors');
    const path = '/admin/v1/tenants/actors/tokens';
    const body = { subject: 'ci', role: 'reader', ttl_secs: 60 };
    const minted = await act('POST', path, { token: bearer, body });
    expect((await eventsOf(minted.id))[0]?.cause.actor).to.equal(`service_account:${account}`);
    const own = await act('DELETE', `${path}/${minted.body.username}`, { token: bearer });
    expect((await eventsOf(own.id))[0]?.cause.actor).to.equal(`service_account:${account}`);
    const other = await mint(client, 'actors', bearer);
    const operators = await act('DELETE', `${path}/${other.username}`);
    expect((await eventsOf(operators.id))[0]?.cause.actor).to.equal('admin');
  });
  it('has one event for each act of every kind, and none for what was true already or refused', async () => {
    const seen: (readonly string[])[] = [];
    const types = async (method: string, path: string, ask: Ask = {}): Promise<Record<string, string>> => {
      const answer = await client(method, path, ask);
      seen.push((await eventsOf(answer.headers.get('x-request-id'))).map(({ type }) => type));
      return (answer.body ?? {}) as Record<string, string>;
    };
    const tenant = '/admin/v1/tenants/traced';
    await types('POST', '/admin/v1/tenants', { body: { id: 'traced' } });
    await types('POST', '/admin/v1/tenants', { body: { id: 'traced' } });
    await types('POST', `${tenant}/users`, { body: { username: 'alice', password: 'password' } });
    await types('DELETE', `${tenant}/users/ALICE`);
    await types('DELETE', `${tenant}/users/ALICE`);
    const account = await types('POST', '/admin/v1/service-accounts', {
      body: { name: 'robot', tenant_id: 'traced', max_role: 'reader', max_ttl_secs: 60 },
    });
    const rotated = await types('POST', `/admin/v1/service-accounts/${account['id']}/rotate`);
    const minted = await types('POST', `${tenant}/tokens`, {
      token: rotated['bearer'] ?? '',
      body: { subject: 'ci', role: 'reader', ttl_secs: 60 },
    });
    await types('DELETE', `${tenant}/tokens/${minted['username']}`);
    await types('DELETE', `${tenant}/tokens/${minted['username']}`);
    await types('DELETE', `/admin/v1/service-accounts/${account['id']}`);
    await types('DELETE', `/admin/v1/service-accounts/${account['id']}`);
    await types('DELETE', tenant);
    await types('DELETE', tenant);
    await types('GET', '/admin/v1/tenants');
    expect(seen).to.deep.equal([
      ['TenantCreated'],
      [],
      ['UserCreated'],
      ['UserDeleted'],
      [],
      ['ServiceAccountCreated'],
      ['ServiceAccountBearerRotated'],
      ['CredentialMinted'],
      ['CredentialRevoked'],
      [],
      ['ServiceAccountDeleted'],
      [],
      ['TenantDeleted'],
      [],
      [],
    ]);
  });
  it('is all in the log when the program has stopped, in order and with an id for each event', async () => {
    await program.stop();
    const log = await logOf(dir);
    expect(log).to.have.length.above(10);
    expect(new Set(log.map(({ id }) => id)).size).to.equal(log.length);
    const positions = log.map(({ position }) => position);
    expect(positions).to.deep.equal([...new Set(positions)].toSorted());
    const times = log.map(({ time }) => time);
    expect(times).to.deep.equal(times.toSorted());
  });
});
