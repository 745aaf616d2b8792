import { Agent, request } from 'node:http';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { roles } from '../../src/http/schemas.ts';
import { arrangeAccount, createClient, mint, type Client } from '../support/client.ts';
import { fuzzRequests, type FuzzCallers, type FuzzRequest, type Known } from '../support/fuzz.ts';
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
import { arrangePerson, makeKeyByForm, person, signedIn } from '../support/web.ts';
import { arrangeWorkspaces, withKey } from '../support/workspace.ts';

/*
 * Requests made from the service's own OpenAPI document, from quite right to quite wrong. `KEYLEDGER_TEST_ROUNDS` is
 * their number for each API (8,000; a thorough run takes 100,000), `KEYLEDGER_TEST_SEED` draws the same ones again.
 */

const requestsAtOnce = 8;

/** Requests that are drawn while the same things are there; then they are made afresh. */
const batchRequests = 400;

/** What a process that serves for long may take more than it did after its first quarter. */
const growthMebibytesMax = 96;

const tenants = ['acme', 'beta', 'gamma'];

/** How much oftener the tenant whose turn it is is named than another one. */
const nearWeight = 8;

/** An API under test: how its requests find something, and who sends them. */
type Fuzzed = {
  readonly known: Known;
  readonly callers: FuzzCallers;
};

/** Moments that a read may ask for, by the parameters that name them. */
const momentsUpTo = (position: string): Known => {
  const [now, before] = [0, 60_000].map((ms) => new Date(Date.now() - ms).toISOString()) as [string, string];
  const first = '1'.padStart(20, '0');
  return {
    as_of: [now],
    at: [now],
    from: [before],
    to: [now],
    since: [before],
    until: [now],
    at_position: [position],
    from_position: [first],
    to_position: [position],
    after: [first],
    before: [position],
    principal: ['user:acme/alice'],
    order: ['asc', 'desc'],
    limit: ['1', '100'],
    cursor: [first],
  };
};

const bearers = (...tokens: readonly string[]) =>
  tokens.map((token) => ({ Authorization: `Bearer ${token}` }));

describe('requests made from the OpenAPI document', function () {
  this.timeout(3_600_000);
  let program: Program;
  let client: Client;
  let members: Client;
  const keys: Readonly<Record<string, string>>[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: requestsAtOnce });

  before(async () => {
    const dir = freshFolder();
    // A tenant of the workspace API alone: those of the Admin API are deleted again and again.
    const [workspace] = await arrangeWorkspaces(dir, ['works']);
    if (workspace === undefined) throw new Error('There is no workspace.');
    for (const role of roles) keys.push({ 'X-API-Key': workspace[role].key });
    program = await startProgram({ dir });
    client = createClient(program.url);
    members = withKey(client, workspace.admin);
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

  const arrangeIn = async (workspace: string) => {
    const { id: account, bearer } = await arrangeAccount(client, workspace);
    const { username } = await mint(client, workspace, bearer);
    const alice = person(workspace);
    // Whoever had the name before has a password that nobody knows.
    await client('DELETE', `/admin/v1/tenants/${workspace}/users/${alice.username}`);
    await arrangePerson(client, alice);
    const visitor = await signedIn(() => program.url, alice);
    const key = (await makeKeyByForm(visitor, workspace)).id;
    return { workspace, account, bearer, usernames: [alice.username, username], key };
  };

  let turn = 0;
  const arrangeAdmin = async (): Promise<Fuzzed> => {
    const arranged: Awaited<ReturnType<typeof arrangeIn>>[] = [];
    for (const workspace of tenants) arranged.push(await arrangeIn(workspace));
    // Names that have to fit together do so often enough only where most are of one tenant: each in its turn.
    const near = turn++ % tenants.length;
    const there = arranged.flatMap((it, n) => Array<typeof it>(n === near ? nearWeight : 1).fill(it));
    const { body: sealed } = await client('POST', '/admin/v1/checkpoints');
    const size = String((sealed as { tree_size: number }).tree_size);
    const { body: events } = await client('GET', '/admin/v1/events?order=desc&limit=2');
    return {
      known: {
        ServiceAccount: there.map(({ account }) => account),
        Event: (events as { id: string; position: string }[]).flatMap(({ id, position }) => [id, position]),
        id: there.map(({ workspace }) => workspace),
        username: there.flatMap(({ usernames }) => usernames),
        key_id: there.map(({ key }) => key),
        name: ['users', 'credentials'],
        first: [size],
        second: [size],
        tree_size: [size],
      },
      callers: {
        known: bearers(...there.flatMap(({ bearer }) => [adminToken, bearer]), verifierToken),
        strange: [
          {},
          ...['Bearer', 'Bearer x', 'Basic eDp5', 'Bearer a b'].map((Authorization) => ({ Authorization })),
        ],
      },
    };
  };

  const made = async (path: string, body: object): Promise<string> =>
    (await members('POST', path, { body })).body.id as string;

  const arrangeWorkspace = async (): Promise<Fuzzed> => {
    const some = [1, 2, 3];
    return {
      known: {
        workspace_id: ['works', 'works', 'works', 'other'],
        Agent: await Promise.all(some.map((n) => made('/api/works/agents', { name: `agent ${n}` }))),
        Thread: await Promise.all(some.map((n) => made('/api/works/threads', { title: `thread ${n}` }))),
        Workflow: await Promise.all(some.map((n) => made('/workflows', { name: `workflow ${n}` }))),
        key_id: await Promise.all(some.map((n) => made('/api/works/api-keys', { name: `key ${n}` }))),
      },
      callers: {
        known: [...keys, ...keys.slice(-1)],
        strange: [{}, ...bearers(adminToken), ...['', 'svc_', 'x'].map((key) => ({ 'X-API-Key': key }))],
      },
    };
  };

  const hold = async (api: 'admin' | 'workspace', arrange: () => Promise<Fuzzed>): Promise<void> => {
    const document = (await client('GET', `/apidoc/${api}.json`, { token: null })).body as ApiDescription;
    const count = testRounds(10_000);
    const seed = testSeed();
    const check = createAnswerCheck(document);
    const faults: string[] = [];
    const succeeded = new Set<string>();
    const statuses = new Set<number>();
    let early = 0;

    const judge = async (one: FuzzRequest): Promise<void> => {
      const received = await send(one);
      const { status } = received;
      statuses.add(status);
      if (status < 300) succeeded.add(one.operation);
      const fault = status >= 500 ? received.text : check(one.template, one.method, received);
      if (fault !== undefined) faults.push(`${JSON.stringify(one)} → ${fault}`);
    };

    for (let sent = 0; sent < count; sent += batchRequests) {
      const { known: things, callers } = await arrange();
      const { headers } = await client('GET', '/admin/v1/tenants');
      const known = {
        ...things,
        ...momentsUpTo(headers.get('x-position') ?? ''),
      };
      const batch = fc.sample(fuzzRequests(document, known, callers), {
        numRuns: batchRequests,
        seed: seed + sent,
      });
      await forEach(batch, requestsAtOnce, judge);
      expect(faults.slice(0, 5), `seed ${seed}`).to.deep.equal([]);
      if (early === 0 && sent >= count / 4) early = residentMebibytes(program.pid);
    }
    expect(residentMebibytes(program.pid) - early).to.be.below(growthMebibytesMax);
    // Of every operation some request has to come through, or nothing is tested.
    const all = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(all.filter((operation) => !succeeded.has(operation))).to.deep.equal([]);
    expect([...statuses]).to.include.members([200, 201, 204, 400, 401, 403, 404, 406, 415]);
    expect(program.output()).to.not.match(/"level":"(error|fatal)"/);
    expect((await client('GET', '/readyz')).status).to.equal(200);
  };

  it('of the Admin API are answered as documented, never with a 5xx, and leave the service as it was', () =>
    hold('admin', arrangeAdmin));
  it('of the workspace API are answered as documented, never with a 5xx, and leave the service as it was', () =>
    hold('workspace', arrangeWorkspace));
});
