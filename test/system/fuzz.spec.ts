import { Agent, request } from 'node:http';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { arrangeAccount, createClient, mint, type Client } from '../support/client.ts';
import { fuzzRequests, type FuzzRequest, type Known } from '../support/fuzz.ts';
import { residentMebibytes } from '../support/memory.ts';
import { createAnswerCheck, type ApiDescription, type Received } from '../support/openapi.ts';
import {
  adminToken,
  freshFolder,
  removeFolder,
  startProgram,
  verifierToken,
  type Program,
} from '../support/program.ts';
import { testRounds, testSeed } from '../support/random.ts';
import { forEach } from '../support/waiting.ts';

/*
 * Requests made from the service's own OpenAPI document, from quite right to quite wrong. `KEYLEDGER_TEST_ROUNDS` is
 * their number (8,000; a thorough run takes 100,000), `KEYLEDGER_TEST_SEED` draws the same ones again.
 */

const requestsAtOnce = 8;

/** Requests that are drawn while the same things are there; then they are made afresh. */
const batchRequests = 400;

/** What a process that serves for long may take more than it did after its first quarter. */
const growthMebibytesMax = 96;

/** Operations of which some request has to come through, or nothing is tested. */
const mustSucceed = 20;

const tenants = ['acme', 'beta', 'gamma'];

describe('requests made from the OpenAPI document', function () {
  this.timeout(3_600_000);
  let program: Program;
  let client: Client;
  let document: ApiDescription;
  const agent = new Agent({ keepAlive: true, maxSockets: requestsAtOnce });

  before(async () => {
    program = await startProgram({ dir: freshFolder() });
    client = createClient(program.url);
    document = (await client('GET', '/apidoc/admin.json', { token: null })).body as ApiDescription;
  });
  after(async () => {
    agent.destroy();
    await program.stop();
    removeFolder(program.dir);
  });

  const send = ({ method, target, headers, body }: FuzzRequest): Promise<Received> =>
    new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: program.port, path: target, method: method.toUpperCase(), agent, headers },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          );
        },
      );
      asked.on('error', reject);
      if (body === undefined) asked.end();
      else asked.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
    });

  const arrange = async (): Promise<{ known: Known; tokens: readonly string[] }> => {
    const accounts: string[] = [];
    const bearers: string[] = [];
    const usernames: string[] = ['alice'];
    for (const tenant of tenants) {
      const { id, bearer } = await arrangeAccount(client, tenant);
      accounts.push(id);
      bearers.push(bearer);
      usernames.push((await mint(client, tenant, bearer)).username);
    }
    const body = { username: 'alice', password: 'a good password' };
    for (const tenant of tenants) await client('POST', `/admin/v1/tenants/${tenant}/users`, { body });
    return {
      known: { id: tenants, account: accounts, username: usernames, name: ['users', 'credentials'] },
      tokens: [adminToken, adminToken, adminToken, verifierToken, ...bearers],
    };
  };

  it('are answered as documented, never with a 5xx, and leave the service as it was', async () => {
    const count = testRounds(8_000);
    const seed = testSeed();
    const check = createAnswerCheck(document);
    const faults: string[] = [];
    const succeeded = new Set<string>();
    const statuses = new Map<number, number>();
    let early = 0;

    const judge = async (one: FuzzRequest): Promise<void> => {
      const received = await send(one);
      const { status } = received;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status < 300) succeeded.add(one.operation);
      const fault = status >= 500 ? received.text : check(one.template, one.method, received);
      if (fault !== undefined) faults.push(`${JSON.stringify(one)} → ${fault}`);
    };

    for (let sent = 0; sent < count; sent += batchRequests) {
      const { known, tokens } = await arrange();
      const batch = fc.sample(fuzzRequests(document, known, tokens), {
        numRuns: batchRequests,
        seed: seed + sent,
      });
      await forEach(batch, requestsAtOnce, judge);
      expect(faults.slice(0, 5), `seed ${seed}`).to.deep.equal([]);
      if (early === 0 && sent >= count / 4) early = residentMebibytes(program.pid);
    }
    expect(residentMebibytes(program.pid) - early).to.be.below(growthMebibytesMax);
    expect(succeeded.size, [...succeeded].join(' ')).to.equal(mustSucceed);
    expect([...statuses.keys()]).to.include.members([200, 201, 204, 400, 401, 403, 404, 406, 409, 415]);
    expect(program.output()).to.not.match(/"level":"(error|fatal)"/);
    expect((await client('GET', '/readyz')).status).to.equal(200);
  });
});
