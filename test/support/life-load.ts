import type { Client } from './client.ts';
import { createConnection, type Connection } from './connection.ts';
import {
  bearerSecret,
  begunToEnd,
  createWorld,
  credentialSecret,
  lookUp,
  readyTenant,
  timed,
  type Account,
  type Server,
  type Tenant,
  type World,
} from './life-world.ts';
import type { Life } from './lives.ts';
import { pick, type Random } from './random.ts';

/** The most accounts that a tenant has at once. */
const accountsMax = 3;

/** Half of all look-ups are of secrets that end, the other half of these, the newest. */
const newestMax = 100;

/** How often each act is drawn, of a hundred. */
const mix = { look: 52, mint: 24, revoke: 14, rotate: 4, create: 3, remove: 2, recreate: 1 } as const;

type Act = (world: World, client: Client) => Promise<void>;

const anAccount = (world: World): Account | undefined =>
  pick(world.random, readyTenant(world)?.accounts ?? []);

const takeAway = (account: Account): void => {
  account.tenant.accounts = account.tenant.accounts.filter((one) => one !== account);
};

const look: Act = async (world, client) => {
  const { random, ending, secrets } = world;
  const secret = pick(random, random() < 0.5 ? ending : secrets.slice(-newestMax));
  if (secret !== undefined) await lookUp(world, client, secret);
};

const create: Act = async (world, client) => {
  const tenant = readyTenant(world);
  if (tenant === undefined || tenant.accounts.length >= accountsMax) return;
  const { life } = tenant;
  const body = { name: 'robot', tenant_id: tenant.id, max_role: 'reader', max_ttl_secs: 86_400 };
  const ask = () => client('POST', '/admin/v1/service-accounts', { body });
  const { answer, span } = await timed(world, ask, 201, 404);
  // Where the tenant began to end meanwhile, nobody can tell in which of its lives the account is.
  if (answer?.status !== 201 || tenant.isBusy || tenant.life !== life) return;
  const given = answer.body as { id: string; bearer: string };
  const self = { ends: [] };
  const secret = bearerSecret(world, given, span, [life, self]);
  tenant.accounts.push({ ...given, tenant, life, self, minted: { ends: [] }, secret });
};

const mint: Act = async (world, client) => {
  const account = anAccount(world);
  if (account === undefined) return create(world, client);
  const { bearer: token, secret, tenant } = account;
  const body = { subject: 'load', role: 'reader', ttl_secs: 86_400 };
  const ask = () => client('POST', `/admin/v1/tenants/${tenant.id}/tokens`, { token, body });
  const { answer, span } = await timed(world, ask, 201, 401);
  if (answer === undefined) return;
  // To mint is to have one's bearer looked up.
  secret.lookUps.push({ ...span, taken: answer.status === 201 });
  if (answer.status !== 201) return;
  const given = answer.body as { username: string; password: string };
  const { username } = given;
  world.credentials.push({ username, account, secret: credentialSecret(world, account, span, given) });
};

const revoke: Act = async (world, client) => {
  const credential = pick(world.random, world.credentials.slice(-newestMax));
  if (credential === undefined) return;
  const { username, account, secret } = credential;
  begunToEnd(world, secret);
  const ask = world.random() < 0.5 ? { token: account.bearer } : {};
  const path = `/admin/v1/tenants/${account.tenant.id}/tokens/${username}`;
  const { answer, span } = await timed(world, () => client('DELETE', path, ask), 204, 401, 404);
  if (answer === undefined || answer.status === 204) secret.ends.push(span);
};

const rotate: Act = async (world, client) => {
  const account = anAccount(world);
  if (account === undefined) return;
  takeAway(account);
  const { id, secret, life, self, tenant } = account;
  begunToEnd(world, secret);
  const ask = () => client('POST', `/admin/v1/service-accounts/${id}/rotate`);
  const { answer, span } = await timed(world, ask, 200, 404);
  if (answer === undefined || answer.status === 200) secret.ends.push(span);
  if (answer?.status !== 200) return;
  const given = answer.body as { id: string; bearer: string };
  account.bearer = given.bearer;
  account.secret = bearerSecret(world, given, span, [life, self]);
  if (!tenant.isBusy && tenant.life === life) tenant.accounts.push(account);
};

const remove: Act = async (world, client) => {
  const account = anAccount(world);
  if (account === undefined) return;
  takeAway(account);
  const keeps = world.random() < 0.3;
  begunToEnd(world, account.secret);
  begunToEnd(world, world.credentials.findLast((one) => one.account === account)?.secret);
  const path = `/admin/v1/service-accounts/${account.id}${keeps ? '?credentials=keep' : ''}`;
  const { span } = await timed(world, () => client('DELETE', path), 204);
  account.self.ends.push(span);
  if (!keeps) account.minted.ends.push(span);
};

const begin = async (world: World, client: Client, tenant: Tenant): Promise<void> => {
  const ask = () => client('POST', '/admin/v1/tenants', { body: { id: tenant.id } });
  // A conflict after an answer that was lost is that answer.
  while ((await timed(world, ask, 201, 409)).answer === undefined);
  tenant.life = { ends: [] };
  tenant.isBusy = false;
};

const recreate: Act = async (world, client) => {
  const tenant = readyTenant(world);
  if (tenant === undefined) return;
  tenant.isBusy = true;
  for (const { secret } of tenant.accounts) begunToEnd(world, secret);
  begunToEnd(world, world.credentials.findLast((one) => one.account.tenant === tenant)?.secret);
  tenant.accounts = [];
  const ask = () => client('DELETE', `/admin/v1/tenants/${tenant.id}`);
  for (;;) {
    const { answer, span } = await timed(world, ask, 204);
    tenant.life.ends.push(span);
    if (answer !== undefined) break;
  }
  await begin(world, client, tenant);
};

const acts: Readonly<Record<keyof typeof mix, Act>> = {
  look,
  mint,
  revoke,
  rotate,
  create,
  remove,
  recreate,
};

const deck = (Object.keys(mix) as (keyof typeof mix)[]).flatMap((act) =>
  Array<Act>(mix[act]).fill(acts[act]),
);

/** Gives work a connection of its own, and another one where the program has come back at another address. */
const withClient = async ({ server }: World, work: (client: Client) => Promise<void>): Promise<void> => {
  let url = server.url();
  let connection: Connection = createConnection(url);
  const client: Client = (...ask) => {
    if (server.url() !== url) {
      connection.close();
      url = server.url();
      connection = createConnection(url);
    }
    return connection(...ask);
  };
  try {
    await work(client);
  } finally {
    connection.close();
  }
};

/** A load that keeps the life of every secret that it was given. */
export type LifeLoad = {
  /** Runs acts on this many clients at once until so many were done. */
  run(clients: number, operations: number): Promise<void>;
  /** Looks every secret up once more. */
  sweep(): Promise<void>;
  lives(): readonly Life[];
  /** Answers that nothing explains: a 500, or a status that the act can't have. */
  readonly oddities: readonly string[];
  done(): number;
};

/** Starts nothing yet; `random` draws the acts. */
export const createLifeLoad = (server: Server, random: Random): LifeLoad => {
  const world = createWorld(server, random);
  const beginAll = (client: Client): Promise<void[]> =>
    Promise.all(world.tenants.filter(({ isBusy }) => isBusy).map((tenant) => begin(world, client, tenant)));
  return {
    run: async (clients, operations) => {
      await withClient(world, async (client) => void (await beginAll(client)));
      const work = async (client: Client): Promise<void> => {
        while (world.operations < operations) {
          world.operations += 1;
          await (pick(random, deck) ?? look)(world, client);
        }
      };
      await Promise.all(Array.from({ length: clients }, () => withClient(world, work)));
    },
    sweep: () =>
      withClient(world, async (client) => {
        for (const secret of world.secrets) await lookUp(world, client, secret);
      }),
    lives: () =>
      world.secrets.map(({ what, made, ends, hangsFrom, lookUps }) => ({
        what,
        made,
        ends: [...ends, ...hangsFrom.flatMap((mortal) => mortal.ends)],
        lookUps,
      })),
    oddities: world.oddities,
    done: () => world.operations,
  };
};
