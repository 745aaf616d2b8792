import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../child.ts';
import type { Requests } from '../job.ts';
import type { Answers, Operation } from '../operations.ts';
import { startServer } from '../server-process.ts';
import { call } from './call.ts';
import {
  adminRequests,
  credentialSchema,
  mintAll,
  tenant,
  workspaceRequests,
  type Credential,
  type Tokens,
} from './requests.ts';
import type { Side, SideStart } from './side.ts';

const usersAmount = 100;
const poolAmountUsual = 1_000;
const accountTtlSeconds = 86_400;

const accountSchema = z.object({ bearer: z.string() });

/** The service under test. */
export type ServiceStart = SideStart & {
  readonly title: string;
  readonly program: string;
  /** Where its data is or will be. */
  readonly dataDir: string;
  /** Where its engines are, as the service's own settings; the embedded ones where absent. */
  readonly engines?: Readonly<Record<string, string>>;
  /** How many credentials authenticate takes in turn; 1,000 unless told. */
  readonly poolAmount?: number;
  /** Credentials that the store already holds, for authenticate; the tenant then exists too. */
  readonly seeded?: readonly Credential[];
};

/** The service, and its own answers, which the constant servers send too; absent where it has no workspace. */
export type ServiceSide = Side & {
  readonly answers: Answers | undefined;
  /** What authenticate takes in turn. */
  readonly pool: readonly Credential[];
};

/**
 * Starts the service and fills it through its own interface: a tenant, 100 users, a service account, credentials. On
 * the embedded engine it finds a workspace too, with 20 agents and an API key, which no request can make but a user's.
 */
export const startService = async (start: ServiceStart): Promise<ServiceSide> => {
  const { title, folder, client, program, dataDir, engines, seeded, poolAmount = poolAmountUsual } = start;
  const admin = randomBytes(32).toString('hex');
  const env = { SERVICE_CP_ADMIN_TOKEN: admin, SERVICE_DATA_DIR: dataDir, SERVICE_PORT: '0', ...engines };
  // Only the embedded engine can be filled beforehand: what a remote one is asked there is not this benchmark's.
  const apiKey =
    engines === undefined ? await runProgram('seed-workspace', { BENCH_DIR: dataDir }) : undefined;
  const log = join(folder, `${title.replaceAll(/\W+/g, '-')}.log`);
  const server = await startServer({ program, env, log, readyPath: '/readyz' });
  if (engines !== undefined) await leaveTenant(server.port, admin);
  const tokens = await fill(server.port, admin, seeded === undefined);
  const mint = adminRequests(tokens, []).mint;
  const mintCredentials = async (amount: number): Promise<Credential[]> =>
    (await mintAll(client, server.port, mint, amount)).map((body) =>
      credentialSchema.parse(JSON.parse(body)),
    );
  const pool = seeded ?? (await mintCredentials(poolAmount));
  const standing: Partial<Record<Operation, Requests>> = {
    ...adminRequests(tokens, pool),
    ...(apiKey !== undefined && workspaceRequests(apiKey)),
  };
  return {
    title,
    server,
    pool,
    answers: apiKey === undefined ? undefined : await observeAnswers(server.port, tokens, apiKey),
    requestsFor: async (operation, amount) =>
      operation === 'revoke'
        ? { ...adminRequests(tokens, await mintCredentials(amount)).revoke, once: true }
        : standing[operation],
  };
};

/** A log that is not the run's own may know the tenant from a run before. */
const leaveTenant = async (port: number, token: string): Promise<void> => {
  const url = `http://127.0.0.1:${port}/admin/v1/tenants/${tenant}`;
  const response = await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  if (!response.ok && response.status !== 404) throw new Error(`leaving the tenant: ${response.status}`);
};

const fill = async (port: number, admin: string, createsTenant: boolean): Promise<Tokens> => {
  const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    call(port, { method: 'POST', path, headers, body: JSON.stringify(body) });
  if (createsTenant) await post('/admin/v1/tenants', { id: tenant });
  for (let i = 0; i < usersAmount; i++) {
    await post(`/admin/v1/tenants/${tenant}/users`, {
      username: `user-${i}`,
      password: `password of ${i}`,
      role: 'reader',
    });
  }
  const account = { name: 'bench', tenant_id: tenant, max_role: 'writer', max_ttl_secs: accountTtlSeconds };
  const { body } = await post('/admin/v1/service-accounts', account);
  return { admin, bearer: accountSchema.parse(body).bearer };
};

const observeAnswers = async (port: number, tokens: Tokens, apiKey: string): Promise<Answers> => {
  const observe = ({ method, paths: [path = ''], headers, bodies: [body] }: Requests) =>
    call(port, { method, path, headers, body });
  const mint = await observe(adminRequests(tokens, []).mint);
  const ofAdmin = adminRequests(tokens, [credentialSchema.parse(mint.body)]);
  const ofWorkspace = workspaceRequests(apiKey);
  return {
    mint,
    authenticate: await observe(ofAdmin.authenticate),
    get: await observe(ofAdmin.get),
    list: await observe(ofAdmin.list),
    revoke: await observe(ofAdmin.revoke),
    agents: await observe(ofWorkspace.agents),
    workflow: await observe(ofWorkspace.workflow),
  };
};
