import type { Answer, Ask, Client } from './client.ts';
import { createClient } from './client.ts';
import {
  expectedOfAccount,
  expectedOfBearer,
  expectedOfCredential,
  newName,
  type Expectation,
  type Ledger,
  type LedgerTenant,
} from './ledger.ts';
import { pick, type Random } from './random.ts';
import { within } from './waiting.ts';

/** A request that is not answered by then hangs, in milliseconds. */
const answerMsMax = 15_000;

/** Acts choose among this many newest things, so that a crash meets the life and the end of one close together. */
const recent = 200;

/** As many failures are kept to be looked at. */
const failuresKept = 50;

/** How often each act is drawn, against the others. */
export type Mix = Readonly<Record<keyof typeof acts, number>>;

/** The usual mix: mostly minting, and everything that ends something. */
export const usualMix: Mix = {
  createTenant: 3,
  deleteTenant: 1,
  createAccount: 10,
  rotate: 8,
  deleteAccount: 4,
  mint: 50,
  revoke: 14,
  lookUp: 10,
  createUser: 0,
};

/** What a load met. */
export type LoadReport = {
  /** How often each status was answered. */
  readonly statuses: Map<number, number>;
  readonly problems: string[];
  /** The first answers of 500 and above. */
  readonly failures: Answer[];
  /** Changes that were answered with 2xx. */
  acknowledged: number;
};

type Doing = {
  readonly ledger: Ledger;
  readonly random: Random;
  readonly report: LoadReport;
  /** Sends, and answers `undefined` where the connection failed. */
  readonly send: (method: string, path: string, ask?: Ask) => Promise<Answer | undefined>;
};

/** Says that an answer is none that the ledger allows; refusals that tell of trouble in the service are not judged. */
const judge = (
  { report }: Doing,
  what: string,
  { status, text }: Answer,
  before: Expectation,
  after: Expectation,
) => {
  if (status >= 500) return;
  const works = status < 300;
  if (before === 'refused' && works) report.problems.push(`${what} worked after it had ended`);
  if (after === 'works' && !works) report.problems.push(`${what} was refused: ${status} ${text}`);
};

const aliveTenant = ({ ledger, random }: Doing): LedgerTenant | undefined =>
  pick(
    random,
    ledger.tenants.slice(-recent).filter(({ life }) => life === 'alive'),
  );

const aliveAccount = ({ ledger, random }: Doing) =>
  pick(
    random,
    ledger.accounts.slice(-recent).filter((account) => expectedOfBearer(account) === 'works'),
  );

const acts = {
  createTenant: async ({ ledger, send, report }: Doing) => {
    const tenant: LedgerTenant = { id: newName(ledger, 'tenant'), life: 'asked' };
    ledger.tenants.push(tenant);
    const answer = await send('POST', '/admin/v1/tenants', { body: { id: tenant.id } });
    if (answer?.status === 201) tenant.life = 'alive';
    else if (answer !== undefined && answer.status < 500)
      report.problems.push(`${tenant.id}: ${answer.text}`);
  },

  deleteTenant: async (doing: Doing) => {
    // One is left to go on with.
    const tenant =
      doing.ledger.tenants.filter(({ life }) => life === 'alive').length > 2 ? aliveTenant(doing) : undefined;
    if (tenant === undefined) return;
    tenant.life = 'ending';
    const answer = await doing.send('DELETE', `/admin/v1/tenants/${tenant.id}`);
    if (answer?.status === 204) tenant.life = 'ended';
  },

  createAccount: async (doing: Doing) => {
    const tenant = aliveTenant(doing);
    if (tenant === undefined) return;
    const { ledger, send } = doing;
    const name = newName(ledger, 'account');
    ledger.unanswered.add(name);
    const body = { name, tenant_id: tenant.id, max_role: 'admin', max_ttl_secs: 86_400 };
    const answer = await send('POST', '/admin/v1/service-accounts', { body });
    if (answer === undefined) return;
    judge(doing, name, answer, 'either', tenant.life === 'alive' ? 'works' : 'either');
    if (answer.status !== 201) return;
    ledger.unanswered.delete(name);
    const { id, bearer } = answer.body as { id: string; bearer: string };
    ledger.accounts.push({
      id,
      name,
      tenant,
      life: 'alive',
      bearer,
      rotating: false,
      rotatedAway: [],
      checked: false,
    });
  },

  rotate: async (doing: Doing) => {
    const account = aliveAccount(doing);
    if (account?.bearer === undefined) return;
    account.rotating = true;
    account.checked = false;
    const answer = await doing.send('POST', `/admin/v1/service-accounts/${account.id}/rotate`);
    if (answer === undefined) return;
    judge(doing, `rotating ${account.id}`, answer, 'either', expectedOfAccount(account));
    if (answer.status !== 200) return;
    account.rotatedAway.push(account.bearer);
    account.bearer = (answer.body as { bearer: string }).bearer;
    account.rotating = false;
  },

  deleteAccount: async (doing: Doing) => {
    const account = aliveAccount(doing);
    if (account === undefined) return;
    account.life = 'ending';
    account.checked = false;
    const answer = await doing.send('DELETE', `/admin/v1/service-accounts/${account.id}`);
    if (answer?.status === 204) account.life = 'ended';
  },

  mint: async (doing: Doing) => {
    const account = aliveAccount(doing);
    if (account?.bearer === undefined) return;
    const { ledger, send } = doing;
    const subject = newName(ledger, 'subject');
    const token = account.bearer;
    ledger.unanswered.add(subject);
    const body = { subject, role: 'reader', ttl_secs: 86_400 };
    const answer = await send('POST', `/admin/v1/tenants/${account.tenant.id}/tokens`, { token, body });
    if (answer === undefined) return;
    const after = token === account.bearer ? expectedOfBearer(account) : 'either';
    judge(doing, `minting by ${account.id}`, answer, 'either', after);
    if (answer.status !== 201) return;
    ledger.unanswered.delete(subject);
    const { username, password } = answer.body as { username: string; password: string };
    ledger.credentials.push({ username, password, subject, account, life: 'alive', checked: false });
  },

  revoke: async (doing: Doing) => {
    const { ledger, random, send } = doing;
    const credential = pick(
      random,
      ledger.credentials.slice(-recent).filter((one) => expectedOfCredential(one) === 'works'),
    );
    if (credential === undefined) return;
    const { account, username } = credential;
    credential.life = 'ending';
    credential.checked = false;
    const answer = await send('DELETE', `/admin/v1/tenants/${account.tenant.id}/tokens/${username}`);
    if (answer === undefined) return;
    const { life } = account.tenant;
    judge(doing, `revoking ${username}`, answer, 'either', life === 'alive' ? 'works' : 'either');
    if (answer.status === 204) credential.life = 'ended';
  },

  lookUp: async (doing: Doing) => {
    const { ledger, random, send, report } = doing;
    const credential = pick(random, ledger.credentials.slice(-recent));
    if (credential === undefined) return;
    const { username, password, account } = credential;
    const before = expectedOfCredential(credential);
    const path = `/admin/v1/tenants/${account.tenant.id}/authenticate`;
    const answer = await send('POST', path, { body: { username, password } });
    if (answer === undefined || answer.status >= 500) return;
    const { active } = answer.body as { active?: unknown };
    if (before === 'refused' && active !== false) report.problems.push(`${username} works after its end`);
    if (expectedOfCredential(credential) === 'works' && active !== true)
      report.problems.push(`${username} does not work: ${answer.status} ${answer.text}`);
  },

  createUser: async (doing: Doing) => {
    const tenant = aliveTenant(doing);
    if (tenant === undefined) return;
    const { ledger, send } = doing;
    const username = newName(ledger, 'user');
    const password = `correct horse ${username}`;
    const user = { username, password, tenant, life: 'asked', checked: false } as Ledger['users'][number];
    ledger.users.push(user);
    const answer = await send('POST', `/admin/v1/tenants/${tenant.id}/users`, {
      body: { username, password, role: 'reader' },
    });
    if (answer === undefined) return;
    judge(doing, `creating ${username}`, answer, 'either', tenant.life === 'alive' ? 'works' : 'either');
    if (answer.status === 201) user.life = 'alive';
  },
} satisfies Record<string, (doing: Doing) => Promise<void>>;

const draw = (random: Random, mix: Mix): keyof typeof acts => {
  const weights = Object.entries(mix) as [keyof typeof acts, number][];
  let left = random() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [act, weight] of weights) if ((left -= weight) < 0) return act;
  return 'mint';
};

/** What drives a load. */
export type LoadOptions = {
  readonly url: string;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly clients?: number;
  readonly mix?: Mix;
  /** Asked before each request; a client also ends at its first failed connection. */
  readonly isOver: () => boolean;
};

/** Clients that do one random act after the other and write into the ledger what was asked and what was answered. */
export const runLoad = async (options: LoadOptions): Promise<LoadReport> => {
  const { url, ledger, random, clients = 16, mix = usualMix, isOver } = options;
  const client: Client = createClient(url);
  const report: LoadReport = { statuses: new Map(), problems: [], failures: [], acknowledged: 0 };

  const oneClient = async (): Promise<void> => {
    const connection = { isLost: false };
    const send: Doing['send'] = async (method, path, ask) => {
      const what = `${method} ${path}`;
      const asked = client(method, path, ask).catch(() => undefined);
      const answer = await within(what, answerMsMax, asked).catch(
        () => void report.problems.push(`${what} hung`),
      );
      if (answer === undefined) connection.isLost = true;
      else {
        report.statuses.set(answer.status, (report.statuses.get(answer.status) ?? 0) + 1);
        if (answer.status >= 500 && report.failures.length < failuresKept) report.failures.push(answer);
        if (answer.status < 300 && !path.endsWith('/authenticate')) report.acknowledged += 1;
      }
      return answer ?? undefined;
    };
    while (!connection.isLost && !isOver()) await acts[draw(random, mix)]({ ledger, random, report, send });
  };
  await Promise.all(Array.from({ length: clients }, oneClient));
  return report;
};

/** Something to begin with: tenants, and accounts in each. Throws where the program refuses. */
export const seedLedger = async (url: string, ledger: Ledger, random: Random): Promise<void> => {
  for (const [act, times] of [
    ['createTenant', 3],
    ['createAccount', 9],
    ['mint', 12],
  ] as const) {
    let left = times;
    const mix: Mix = {
      ...usualMix,
      ...Object.fromEntries(Object.keys(usualMix).map((key) => [key, 0])),
      [act]: 1,
    };
    const { problems, acknowledged } = await runLoad({
      url,
      ledger,
      random,
      mix,
      clients: 1,
      isOver: () => left-- <= 0,
    });
    if (problems.length > 0 || acknowledged < times) throw new Error(`No seed: ${problems.join('; ')}`);
  }
};
