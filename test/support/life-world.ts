import type { Answer, Client } from './client.ts';
import { unanswered, type LookUp, type Span } from './lives.ts';
import { pick, type Random } from './random.ts';

/** How a load reaches the program, which can be away for a while. */
export type Server = {
  url(): string;
  /** Resolves when the program serves (again). */
  up(): Promise<void>;
};

/** What can end: a tenant's life, an account, all that an account minted, or one secret. */
export type Mortal = { readonly ends: Span[] };

/** A secret, with all that was seen of it. */
export type Secret = Mortal & {
  readonly what: string;
  readonly made: Span;
  readonly hangsFrom: readonly Mortal[];
  readonly lookUps: LookUp[];
  /** Whether the service takes it now; absent where its answer says nothing about that. */
  readonly look: (client: Client) => Promise<boolean | undefined>;
};

export type Credential = { readonly username: string; readonly account: Account; readonly secret: Secret };

export type Account = {
  readonly id: string;
  readonly tenant: Tenant;
  readonly life: Mortal;
  readonly self: Mortal;
  readonly minted: Mortal;
  bearer: string;
  secret: Secret;
};

export type Tenant = { readonly id: string; life: Mortal; accounts: Account[]; isBusy: boolean };

/** What a load has made, and what it saw. */
export type World = {
  readonly server: Server;
  readonly random: Random;
  readonly tenants: readonly Tenant[];
  readonly secrets: Secret[];
  readonly credentials: Credential[];
  /** The secrets that somebody began to end last. */
  readonly ending: Secret[];
  /** Answers that nothing explains: a 500, or a status that the act can't have. */
  readonly oddities: string[];
  operations: number;
};

/** The tenants of a load. */
const tenantCount = 3;

/** The most secrets that are kept as those that end. */
const endingMax = 16;

/** Nothing yet: each tenant waits to be made. */
export const createWorld = (server: Server, random: Random): World => ({
  server,
  random,
  tenants: Array.from({ length: tenantCount }, (_, at) => ({
    id: `tenant-${at}`,
    life: { ends: [] },
    accounts: [],
    isBusy: true,
  })),
  secrets: [],
  credentials: [],
  ending: [],
  oddities: [],
  operations: 0,
});

/** A request and its span; without an answer, or with a 503, nobody knows what became of it. */
export const timed = async (
  { server, oddities }: World,
  ask: () => Promise<Answer>,
  ...expected: readonly number[]
): Promise<{ readonly span: Span; readonly answer?: Answer }> => {
  const start = performance.now();
  try {
    const answer = await ask();
    if (answer.status === 503) return { span: { start, end: unanswered } };
    if (!expected.includes(answer.status)) oddities.push(`${answer.status} ${answer.text}`);
    return { span: { start, end: performance.now() }, answer };
  } catch {
    await server.up();
    return { span: { start, end: unanswered } };
  }
};

/** Looks a secret up, and keeps what was answered. */
export const lookUp = async ({ server }: World, client: Client, secret: Secret): Promise<void> => {
  const start = performance.now();
  try {
    const taken = await secret.look(client);
    if (taken !== undefined) secret.lookUps.push({ start, end: performance.now(), taken });
  } catch {
    await server.up();
  }
};

const remember = (world: World, secret: Omit<Secret, 'ends' | 'lookUps'>): Secret => {
  const remembered = { ...secret, ends: [], lookUps: [] };
  world.secrets.push(remembered);
  return remembered;
};

/** Keeps a bearer that was given out. */
export const bearerSecret = (
  world: World,
  { id, bearer }: { readonly id: string; readonly bearer: string },
  made: Span,
  hangsFrom: readonly Mortal[],
): Secret =>
  remember(world, {
    what: `a bearer of ${id}`,
    made,
    hangsFrom,
    look: async (client) => {
      const { status } = await client('GET', '/admin/v1/capabilities', { token: bearer });
      return status === 200 ? true : status === 401 ? false : undefined;
    },
  });

/** Keeps a credential that was minted. */
export const credentialSecret = (
  world: World,
  { tenant, life, minted }: Account,
  made: Span,
  { username, password }: { readonly username: string; readonly password: string },
): Secret =>
  remember(world, {
    what: username,
    made,
    hangsFrom: [life, minted],
    look: async (client) => {
      const path = `/admin/v1/tenants/${tenant.id}/authenticate`;
      const { status, body } = await client('POST', path, { body: { username, password } });
      return status === 200 ? (body as { active: boolean }).active : undefined;
    },
  });

/** Tells that somebody begins to end a secret: such are looked up most. */
export const begunToEnd = ({ ending }: World, secret: Secret | undefined): void => {
  if (secret === undefined) return;
  ending.push(secret);
  if (ending.length > endingMax) ending.shift();
};

/** A tenant that nobody is just making or ending. */
export const readyTenant = ({ tenants, random }: World): Tenant | undefined =>
  pick(
    random,
    tenants.filter(({ isBusy }) => !isBusy),
  );
