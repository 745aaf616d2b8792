import { z } from 'zod';
import type { Client } from '../client-process.ts';
import type { Requests } from '../job.ts';
import type { AdminOperation, WorkspaceOperation } from '../operations.ts';

/** The tenant that every request to the Admin API names. */
export const tenant = 'bench';

/** The workspace that the API key is of: a tenant of its own, so that nothing else is listed with its agents. */
export const workspace = 'bench-workspace';

/** A minted credential, as far as the benchmark uses it. */
export const credentialSchema = z.object({ username: z.string(), password: z.string() });
export type Credential = Readonly<z.infer<typeof credentialSchema>>;

/** The tokens that the requests carry. */
export type Tokens = { readonly admin: string; readonly bearer: string };

const prepareConnections = 32;
const prepareSecondsMax = 60;
const json = { 'Content-Type': 'application/json' };
const path = `/admin/v1/tenants/${tenant}`;

/** The requests to the Admin API; revoke takes each of `credentials` once, authenticate takes them in turn. */
export const adminRequests = (
  tokens: Tokens,
  credentials: readonly Credential[],
): Record<AdminOperation, Requests> => {
  const admin = { Authorization: `Bearer ${tokens.admin}` };
  const bearer = { Authorization: `Bearer ${tokens.bearer}` };
  const wish = { subject: 'nightly-report', role: 'reader', ttl_secs: 3600 };
  return {
    mint: {
      method: 'POST',
      paths: [`${path}/tokens`],
      headers: { ...bearer, ...json },
      bodies: [JSON.stringify(wish)],
    },
    authenticate: {
      method: 'POST',
      paths: [`${path}/authenticate`],
      headers: { ...admin, ...json },
      bodies: credentials.map(({ username, password }) => JSON.stringify({ username, password })),
    },
    get: { method: 'GET', paths: [path], headers: admin, bodies: [] },
    list: { method: 'GET', paths: [`${path}/users`], headers: admin, bodies: [] },
    revoke: {
      method: 'DELETE',
      paths: credentials.map(({ username }) => `${path}/tokens/${username}`),
      headers: bearer,
      bodies: [],
    },
  };
};

/** The requests to the workspace API. */
export const workspaceRequests = (apiKey: string): Record<WorkspaceOperation, Requests> => {
  const key = { 'X-API-Key': apiKey };
  const wish = { name: 'Nightly report', description: 'Gathers the figures of the day.' };
  return {
    agents: { method: 'GET', paths: [`/api/${workspace}/agents`], headers: key, bodies: [] },
    workflow: {
      method: 'POST',
      paths: ['/workflows'],
      headers: { ...key, ...json },
      bodies: [JSON.stringify(wish)],
    },
  };
};

/** Sends a minting request `amount` times, unmeasured, and answers what was minted. Throws where one fails. */
export const mintAll = async (
  client: Client,
  port: number,
  requests: Requests,
  amount: number,
): Promise<readonly string[]> => {
  const result = await client.run({
    port,
    requests,
    connections: prepareConnections,
    warmupSeconds: 0,
    seconds: prepareSecondsMax,
    requestsMax: amount,
    collect: true,
  });
  const { failures, faults, bodies } = result;
  if (bodies.length < amount || Object.keys(failures).length > 0 || faults.length > 0) {
    throw new Error(
      `minting ${amount} beforehand failed: ${JSON.stringify({ minted: bodies.length, failures, faults })}`,
    );
  }
  return bodies;
};
