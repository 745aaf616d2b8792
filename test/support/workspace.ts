import { createApiKey } from '../../src/commands/api-key.ts';
import { createTenant } from '../../src/commands/tenant.ts';
import { readConfig } from '../../src/config.ts';
import { createRun, type Run } from '../../src/core/run.ts';
import type { Clock, EventStore, ReadModels } from '../../src/core/ports.ts';
import { codec } from '../../src/events/index.ts';
import { roles, type Role } from '../../src/http/schemas.ts';
import { decode, projections } from '../../src/projections/index.ts';
import { createSecrets } from '../../src/secrets/tokens.ts';
import { openStores } from '../../src/stores/index.ts';
import { createClient, type Answer, type Ask, type Client } from './client.ts';
import { engineSettings } from './engines.ts';
import { cause } from './examples.ts';
import { projectionsModule } from './joined.ts';
import { freshFolder, removeFolder, startProgram, type Program } from './program.ts';
import { until } from './waiting.ts';
import { link } from '../../src/proofs/event-hash.ts';

/** An API key as it was given out. */
export type Key = { readonly id: string; readonly key: string };

/** A workspace with a key of each role; those of a reader and a writer were made by an admin's. */
export type Workspace = { readonly id: string } & { readonly [role in Role]: Key };

/** The parts of a service that is not running yet, over the engines of its folder. */
export type Parts = { readonly run: Run; readonly reads: ReadModels; readonly events: EventStore };

const nothing = (): void => {};

/** Does something to a folder's engines while no program has them open; the clock is that of what is recorded. */
export const beforehand = async <T>(
  dir: string,
  work: (parts: Parts) => Promise<T>,
  clock: Clock = Date.now,
): Promise<T> => {
  const { config } = readConfig({ SERVICE_DATA_DIR: dir, ...(await engineSettings(dir)) });
  const stores = await openStores({
    eventStore: config.event_store,
    readModels: config.read_models,
    dir,
    projections,
    decode,
    projectionsModule,
    onFatal: (error) => {
      throw error;
    },
    observe: new Proxy({}, { get: () => nothing }),
    waiting: nothing,
  });
  try {
    await until('the stores are ready', () => stores.health().ready);
    const secrets = createSecrets();
    const run = createRun({
      events: stores.events,
      readModels: stores.readModels,
      link,
      codec,
      clock,
      newId: () => secrets.newId(),
      observer: { decided: nothing, conflicted: nothing },
    });
    return await work({ run, reads: stores.readModels, events: stores.events });
  } finally {
    await stores.close();
  }
};

/** Makes a key without a request, for a tenant's first life: over HTTP it takes a key, or a user, to make one. */
export const makeKey = async ({ run }: Parts, tenant_id: string, role: Role, atMs: number): Promise<Key> => {
  const secrets = createSecrets();
  const { value: key, digest: key_digest } = secrets.fresh('svc_');
  const id = secrets.newId('key_');
  const wish = {
    api_key_id: id,
    tenant_id,
    incarnation: `${tenant_id}~1`,
    name: `the first ${role}`,
    role,
    expires_at: null,
    key_digest,
    prefix: key.slice(0, 10),
    by: { actor: `user:${tenant_id}/founder`, role: 'admin' as const },
    atMs,
  };
  const outcome = await run(createApiKey, wish, cause);
  if (!outcome.accepted) throw new Error(`No key: ${outcome.code}.`);
  return { id, key };
};

/** Makes tenants in a fresh folder, each with a key of each role. */
export const arrangeWorkspaces = async (
  dir: string,
  ids: readonly string[],
  clock: Clock = Date.now,
): Promise<readonly Workspace[]> =>
  beforehand(
    dir,
    async (parts) => {
      const made: Workspace[] = [];
      for (const id of ids) {
        await parts.run(createTenant, { tenant_id: id, incarnation: `${id}~1` }, cause);
        const keys = new Map<Role, Key>();
        for (const role of roles) keys.set(role, await makeKey(parts, id, role, clock()));
        made.push({ id, ...(Object.fromEntries(keys) as Record<Role, Key>) });
      }
      return made;
    },
    clock,
  );

/** A client that calls with an API key and no token. */
export const withKey = (client: Client, { key }: { readonly key: string }): Client => {
  return (method, path, { headers = {}, ...ask }: Ask = {}) =>
    client(method, path, { token: null, ...ask, headers: { 'X-API-Key': key, ...headers } });
};

/** A program that serves workspaces while a suite's tests run. */
export type ServingWorkspaces = {
  /** Calls as the operator unless told otherwise. */
  readonly client: Client;
  /** Calls with the workspace's key of this role. */
  as(id: string, role?: Role): Client;
  /** There from the suite's first test on. */
  workspace(id: string): Workspace;
  program(): Program;
};

/** Starts the program on a fresh folder with these workspaces, and ends it and the folder after the suite's tests. */
export const servingWorkspaces = (
  ids: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ServingWorkspaces => {
  let dir: string;
  let running: Program | undefined;
  let workspaces: readonly Workspace[] = [];
  before(async () => {
    dir = freshFolder();
    workspaces = await arrangeWorkspaces(dir, ids);
    running = await startProgram({ dir, env });
  });
  after(async () => {
    await running?.kill();
    removeFolder(dir);
  });
  const program = (): Program => {
    if (running === undefined) throw new Error('The program has not started.');
    return running;
  };
  const client: Client = (...ask) => createClient(program().url)(...ask);
  const workspace = (id: string): Workspace => {
    const found = workspaces.find((one) => one.id === id);
    if (found === undefined) throw new Error(`There is no workspace ${id}.`);
    return found;
  };
  const as: ServingWorkspaces['as'] =
    (id, role = 'admin') =>
    (...ask) =>
      withKey(client, workspace(id)[role])(...ask);
  return { client, as, workspace, program };
};

/** An API key as the API answers it where it is made or rolled. */
export type MadeKey = Key & { readonly [member: string]: unknown };

/** Makes a key over HTTP, a reader's that never expires unless told otherwise. */
export const makeKeyOver = async (admin: Client, workspace: string, wish: object = {}): Promise<MadeKey> => {
  const answer = await admin('POST', `/api/${workspace}/api-keys`, { body: { name: 'made', ...wish } });
  return bodyOf<MadeKey>(answer, 201);
};

/** The body of an answer that has to be of this status. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- A test says what it expects to read.
export const bodyOf = <T>({ status, text, body }: Answer, expected = 200): T => {
  if (status !== expected) throw new Error(`Answered ${status}, not ${expected}: ${text}`);
  return body as T;
};
