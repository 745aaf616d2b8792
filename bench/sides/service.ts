import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { Answers } from '../operations.ts';
import { startServer } from '../server-process.ts';
import { call } from './call.ts';
import {
  adminRequests,
  credentialSchema,
  mintAll,
  tenant,
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

/** The service, and its own answers, which the constant servers send too. */
export type ServiceSide = Side & {
  readonly answers: Answers;
  /** What authenticate takes in turn. */
  readonly pool: readonly Credential[];
};

/** Starts the service and fills it through its own interface: a tenant, 100 users, a service account, credentials. */
export const startService = async (start: ServiceStart): Promise<ServiceSide> => {
  const { title, folder, client, program, dataDir, engines, seeded, poolAmount = poolAmountUsual } = start;
  const admin = randomBytes(32).toString('hex');
  const env = { SERVICE_CP_ADMIN_TOKEN: admin, SERVICE_DATA_DIR: dataDir, SERVICE_PORT: '0', ...engines };
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
  const standing = adminRequests(tokens, pool);
  return {
    title,
    server,
    pool,
    answers: await observeAnswers(server.port, tokens),
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
  const post = (path: string, body: object) => call(port, { method: 'POST', path, token: admin, body });
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

const observeAnswers = async (port: number, { admin, bearer }: Tokens): Promise<Answers> => {
  const path = `/admin/v1/tenants/${tenant}`;
  const wish = { subject: 'nightly-report', role: 'reader', ttl_secs: 3600 };
  const mint = await call(port, { method: 'POST', path: `${path}/tokens`, token: bearer, body: wish });
  const credential = credentialSchema.parse(mint.body);
  return {
    mint,
    authenticate: await call(port, {
      method: 'POST',
      path: `${path}/authenticate`,
      token: admin,
      body: credential,
    }),
    get: await call(port, { method: 'GET', path, token: admin }),
    list: await call(port, { method: 'GET', path: `${path}/users`, token: admin }),
    revoke: await call(port, {
      method: 'DELETE',
      path: `${path}/tokens/${credential.username}`,
      token: bearer,
    }),
  };
};
