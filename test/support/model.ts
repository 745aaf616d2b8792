import { expect } from 'chai';
import type { Answer, Client } from './client.ts';
import { roles, type Act, type Wish, type WishOf } from './wishes.ts';

/** A clock that only a test moves. */
export type ModelClock = { nowMs: number };

type Role = (typeof roles)[number];

type User = { readonly username: string; readonly password: string; readonly role: Role };

/** One life of a tenant. */
type Life = { readonly users: Map<string, User>; endedAtMs?: number };

type Account = {
  readonly id: string;
  readonly tenant: string;
  readonly life: Life;
  readonly max_role: Role;
  readonly max_ttl_secs: number;
  readonly bearers: { readonly value: string; untilMs: number }[];
  endedAtMs?: number;
  mintedEndedAtMs?: number;
};

type Credential = {
  readonly username: string;
  readonly password: string;
  readonly account: Account;
  readonly role: Role;
  readonly expiresMs: number;
  endedAtMs?: number;
};

/** The Admin API in memory: what must be true after the wishes that were granted. */
export type Model = {
  readonly clock: ModelClock;
  /** Before every tenant's id, so that many models share one service. */
  readonly prefix: string;
  readonly lives: Map<string, Life>;
  readonly accounts: Account[];
  readonly credentials: Credential[];
};

/** A model of nothing. */
export const createModel = (prefix: string, clock: ModelClock): Model => ({
  clock,
  prefix,
  lives: new Map(),
  accounts: [],
  credentials: [],
});

const nameOf = ({ prefix }: Model, tenant: number): string => `${prefix}${tenant}`;

const one = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];

const answered = (answer: Answer, status: number, code?: string): void => {
  const body = answer.body as { code?: string } | undefined;
  expect([answer.status, body?.code], answer.text).to.deep.equal([status, code]);
};

const isAlive = ({ clock }: Model, account: Account, bearer: { readonly untilMs: number }): boolean =>
  account.endedAtMs === undefined && account.life.endedAtMs === undefined && clock.nowMs < bearer.untilMs;

/** How a credential stands: revoked for ever where something ended it before it expired. */
const statusOf = ({ clock }: Model, { account, expiresMs, endedAtMs }: Credential): string => {
  const ends = [endedAtMs, account.mintedEndedAtMs, account.life.endedAtMs];
  const end = Math.min(...ends.map((at) => at ?? Number.POSITIVE_INFINITY));
  if (end < expiresMs) return 'revoked';
  return expiresMs <= clock.nowMs ? 'expired' : 'active';
};

const spelled = (user: number, at: number): string => (at % 2 === 0 ? `User-${user}` : `uSER-${user}`);

const passwordOf = (password: number): string => `password-${password}`;

type Perform<A extends Act> = (model: Model, client: Client, wish: WishOf<A>) => Promise<void>;

const performs: { readonly [A in Act]: Perform<A> } = {
  createTenant: async (model, client, { tenant }) => {
    const id = nameOf(model, tenant);
    const answer = await client('POST', '/admin/v1/tenants', { body: { id } });
    if (model.lives.has(id)) return answered(answer, 409, 'tenant.exists');
    answered(answer, 201);
    expect(answer.body).to.deep.equal({ id, created_at: new Date(model.clock.nowMs).toISOString() });
    model.lives.set(id, { users: new Map() });
  },
  deleteTenant: async (model, client, { tenant }) => {
    const id = nameOf(model, tenant);
    answered(await client('DELETE', `/admin/v1/tenants/${id}`), 204);
    const life = model.lives.get(id);
    if (life !== undefined) life.endedAtMs = model.clock.nowMs;
    model.lives.delete(id);
  },
  createUser: async (model, client, { tenant, user, password, role }) => {
    const id = nameOf(model, tenant);
    const made = { username: spelled(user, password), password: passwordOf(password), role };
    const answer = await client('POST', `/admin/v1/tenants/${id}/users`, { body: made });
    const life = model.lives.get(id);
    if (life === undefined) return answered(answer, 404, 'tenant.unknown');
    if (life.users.has(`user-${user}`)) return answered(answer, 409, 'user.exists');
    answered(answer, 201);
    life.users.set(`user-${user}`, made);
  },
  deleteUser: async (model, client, { tenant, user }) => {
    const id = nameOf(model, tenant);
    const answer = await client('DELETE', `/admin/v1/tenants/${id}/users/USER-${user}`);
    const life = model.lives.get(id);
    if (life === undefined) return answered(answer, 404, 'tenant.unknown');
    if (!life.users.delete(`user-${user}`)) return answered(answer, 404, 'user.unknown');
    answered(answer, 204);
  },
  signIn: async (model, client, { tenant, user, password }) => {
    const id = nameOf(model, tenant);
    const pair = { username: `user-${user}`, password: passwordOf(password) };
    const answer = await client('POST', `/admin/v1/tenants/${id}/authenticate`, { body: pair });
    answered(answer, 200);
    const known = model.lives.get(id)?.users.get(pair.username);
    expect(answer.body).to.deep.equal(
      known?.password === pair.password
        ? { active: true, kind: 'user', username: known.username, role: known.role }
        : { active: false },
    );
  },
  createAccount: async (model, client, { tenant, max_role, max_ttl_secs }) => {
    const tenant_id = nameOf(model, tenant);
    const body = { name: 'robot', tenant_id, max_role, max_ttl_secs };
    const answer = await client('POST', '/admin/v1/service-accounts', { body });
    const life = model.lives.get(tenant_id);
    if (life === undefined) return answered(answer, 404, 'tenant.unknown');
    answered(answer, 201);
    const { id, bearer } = answer.body as { id: string; bearer: string };
    const bearers = [{ value: bearer, untilMs: Number.POSITIVE_INFINITY }];
    model.accounts.push({ id, tenant: tenant_id, life, max_role, max_ttl_secs, bearers });
  },
  rotate: async (model, client, { account: at, grace_secs }) => {
    const account = one(model.accounts, at);
    if (account === undefined) return;
    const path = `/admin/v1/service-accounts/${account.id}/rotate`;
    const answer = await client('POST', path, { body: { grace_secs } });
    if (account.endedAtMs !== undefined || account.life.endedAtMs !== undefined)
      return answered(answer, 404, 'service-account.unknown');
    answered(answer, 200);
    const endMs = model.clock.nowMs + grace_secs * 1_000;
    for (const bearer of account.bearers) bearer.untilMs = Math.min(bearer.untilMs, endMs);
    const { bearer } = answer.body as { bearer: string };
    account.bearers.push({ value: bearer, untilMs: Number.POSITIVE_INFINITY });
  },
  deleteAccount: async (model, client, { account: at, credentials }) => {
    const account = one(model.accounts, at);
    if (account === undefined) return;
    const query = credentials === undefined ? '' : `?credentials=${credentials}`;
    answered(await client('DELETE', `/admin/v1/service-accounts/${account.id}${query}`), 204);
    account.endedAtMs ??= model.clock.nowMs;
    if (credentials !== 'keep') account.mintedEndedAtMs ??= model.clock.nowMs;
  },
  mint: async (model, client, { account: at, bearer: which, elsewhere, role, ttl_secs }) => {
    const account = one(model.accounts, at);
    const bearer = account === undefined ? undefined : one(account.bearers.toReversed(), which);
    if (account === undefined || bearer === undefined) return;
    const tenant = elsewhere === null ? account.tenant : nameOf(model, elsewhere);
    const body = { subject: 'somebody', role, ttl_secs };
    const path = `/admin/v1/tenants/${tenant}/tokens`;
    const answer = await client('POST', path, { token: bearer.value, body });
    if (!isAlive(model, account, bearer)) return answered(answer, 401, 'authentication.invalid');
    if (tenant !== account.tenant) return answered(answer, 403, 'authorization.denied');
    if (roles.indexOf(role) > roles.indexOf(account.max_role))
      return answered(answer, 403, 'credential.role-above-max');
    if (ttl_secs > account.max_ttl_secs) return answered(answer, 400, 'credential.ttl-above-max');
    answered(answer, 201);
    const { username, password, ...rest } = answer.body as { username: string; password: string };
    const expiresMs = model.clock.nowMs + ttl_secs * 1_000;
    const expires_at = new Date(expiresMs).toISOString();
    expect(rest).to.deep.equal({ tenant, role, expires_at, service_account_id: account.id });
    model.credentials.push({ username, password, account, role, expiresMs });
  },
  revoke: async (model, client, { credential: at, by, elsewhere }) => {
    const credential = one(model.credentials, at);
    if (credential === undefined) return;
    const asking = by === null ? undefined : one(model.accounts, by);
    const bearer = asking?.bearers.at(-1);
    const tenant = elsewhere === null ? credential.account.tenant : nameOf(model, elsewhere);
    const path = `/admin/v1/tenants/${tenant}/tokens/${credential.username}`;
    const answer = await client('DELETE', path, bearer === undefined ? {} : { token: bearer.value });
    if (asking !== undefined && bearer !== undefined) {
      if (!isAlive(model, asking, bearer)) return answered(answer, 401, 'authentication.invalid');
      if (tenant !== asking.tenant) return answered(answer, 403, 'authorization.denied');
    }
    const life = model.lives.get(tenant);
    if (life === undefined) return answered(answer, 404, 'tenant.unknown');
    if (life !== credential.account.life) return answered(answer, 404, 'credential.unknown');
    if (asking !== undefined && asking !== credential.account)
      return answered(answer, 403, 'credential.not-yours');
    answered(answer, 204);
    credential.endedAtMs ??= model.clock.nowMs;
  },
  lookUp: async (model, client, { credential: at, elsewhere }) => {
    const credential = one(model.credentials, at);
    if (credential === undefined) return;
    const { username, password, account, role, expiresMs } = credential;
    const tenant = elsewhere === null ? account.tenant : nameOf(model, elsewhere);
    const path = `/admin/v1/tenants/${tenant}/authenticate`;
    const answer = await client('POST', path, { body: { username, password } });
    answered(answer, 200);
    const isTaken = model.lives.get(tenant) === account.life && statusOf(model, credential) === 'active';
    const expires_at = new Date(expiresMs).toISOString();
    const taken = { active: true, kind: 'credential', username, role, expires_at };
    expect(answer.body).to.deep.equal(
      isTaken ? { ...taken, service_account_id: account.id } : { active: false },
    );
  },
  useBearer: async (model, client, { account: at, bearer: which }) => {
    const account = one(model.accounts, at);
    const bearer = account === undefined ? undefined : one(account.bearers, which);
    if (account === undefined || bearer === undefined) return;
    const answer = await client('GET', `/admin/v1/tenants/${account.tenant}/tokens`, { token: bearer.value });
    if (!isAlive(model, account, bearer)) return answered(answer, 401, 'authentication.invalid');
    answered(answer, 200);
    expectTokens(model, answer, (credential) => credential.account === account);
  },
  list: async (model, client, { tenant }) => {
    const id = nameOf(model, tenant);
    const life = model.lives.get(id);
    const get = (rest: string): Promise<Answer> => client('GET', `/admin/v1/tenants/${id}${rest}`);
    const [found, tokens, users] = [await get(''), await get('/tokens'), await get('/users')];
    for (const answer of [found, tokens, users]) {
      if (life === undefined) answered(answer, 404, 'tenant.unknown');
      else answered(answer, 200);
    }
    if (life === undefined) return;
    expectTokens(model, tokens, (credential) => credential.account.life === life);
    const listed = (users.body as User[]).map(({ username, role }) => [username, role]);
    expect(listed).to.deep.equal([...life.users.values()].map(({ username, role }) => [username, role]));
  },
  pass: async ({ clock }, _, { ms }) => {
    clock.nowMs += ms;
  },
};

const expectTokens = (model: Model, answer: Answer, which: (credential: Credential) => boolean): void => {
  const listed = (answer.body as { username: string; status: string }[]).map((token) => [
    token.username,
    token.status,
  ]);
  const known = model.credentials.filter(which);
  expect(listed).to.deep.equal(known.map((credential) => [credential.username, statusOf(model, credential)]));
};

/** Asks the service, holds its answer to what the model says, and moves the model on. */
export const perform = (model: Model, client: Client, wish: Wish): Promise<void> =>
  (performs[wish.act] as Perform<Act>)(model, client, wish);

/** Holds everything that can be asked to what the model says. */
export const performAll = async (model: Model, client: Client): Promise<void> => {
  for (const tenant of [0, 1, 2]) await performs.list(model, client, { tenant });
  for (const at of model.credentials.keys())
    await performs.lookUp(model, client, { credential: at, elsewhere: null });
  for (const [account, { bearers }] of model.accounts.entries())
    for (const bearer of bearers.keys()) await performs.useBearer(model, client, { account, bearer });
};
