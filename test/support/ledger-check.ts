import { createClient, type Client } from './client.ts';
import {
  expectedOfAccount,
  expectedOfBearer,
  expectedOfCredential,
  expectedOfUser,
  type Expectation,
  type Ledger,
  type LedgerAccount,
  type LedgerCredential,
  type LedgerTenant,
} from './ledger.ts';
import { pick, type Random } from './random.ts';
import { forEach } from './waiting.ts';

/** Requests that the check has under way at once. */
const width = 16;

/** Things that were looked up before and have not changed since: so many of them are looked up again. */
const againMax = 40;

/** A user's look-up costs a hash: so many of them are looked up. */
const usersMax = 12;

type Checking = {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly problems: string[];
  readonly random: Random;
  readonly all: boolean;
};

/** All of them, or those that changed since they were checked, and some of the others. */
const chosen = <T extends { readonly checked: boolean }>(
  things: readonly T[],
  { random, all }: Pick<Checking, 'random' | 'all'>,
): ReadonlySet<T> => {
  if (all) return new Set(things);
  const again = Array.from({ length: againMax }, () => pick(random, things));
  return new Set([...things.filter(({ checked }) => !checked), ...again.filter((one) => one !== undefined)]);
};

/** Says where what is found is not what must be; answers what is found. */
const compare = (problems: string[], what: string, expectation: Expectation, works: boolean): boolean => {
  if (expectation === 'works' && !works) problems.push(`${what} is lost`);
  if (expectation === 'refused' && works) problems.push(`${what} works again after its end`);
  return works;
};

/** An end or a beginning whose answer never came has happened or not; from now on it must stay as it is found. */
const settle = (thing: { life: LedgerTenant['life'] }, isThere: boolean): void => {
  if (thing.life === 'asked' || thing.life === 'ending') thing.life = isThere ? 'alive' : 'ended';
};

const checkTenants = async ({ client, ledger, problems }: Checking): Promise<void> => {
  const listed = (await client('GET', '/admin/v1/tenants')).body as readonly { id: string }[];
  const ids = new Set(listed.map(({ id }) => id));
  if (ids.size !== listed.length) problems.push('a tenant is listed twice');
  await forEach(ledger.tenants, width, async (tenant) => {
    const { status } = await client('GET', `/admin/v1/tenants/${tenant.id}`);
    const expectation = { asked: 'either', alive: 'works', ending: 'either', ended: 'refused' } as const;
    const isThere = compare(problems, tenant.id, expectation[tenant.life], status === 200);
    if (ids.delete(tenant.id) !== isThere)
      problems.push(`${tenant.id} answers ${status} but is listed otherwise`);
    settle(tenant, isThere);
  });
  for (const id of ids) problems.push(`${id} was never asked for`);
};

const groupBy = <K, T>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> => {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
};

const bearerWorks = async (client: Client, token: string): Promise<boolean> => {
  const { status } = await client('GET', '/admin/v1/capabilities', { token });
  if (status !== 200 && status !== 401) throw new Error(`A bearer was answered ${status}.`);
  return status === 200;
};

const checkAccount = async (
  { client, problems }: Checking,
  account: LedgerAccount,
  isListed: boolean,
): Promise<void> => {
  const { status } = await client('GET', `/admin/v1/service-accounts/${account.id}`);
  const isThere = compare(problems, account.id, expectedOfAccount(account), status === 200);
  if (isListed !== isThere) problems.push(`${account.id} answers ${status} but is listed otherwise`);
  settle(account, isThere);
  account.checked = true;
  for (const old of account.rotatedAway.slice(-3))
    if (await bearerWorks(client, old)) problems.push(`a rotated-away bearer of ${account.id} works`);
  if (account.bearer === undefined) return;
  const works = await bearerWorks(client, account.bearer);
  compare(problems, `the bearer of ${account.id}`, expectedOfBearer(account), works);
  if (account.rotating && !works) {
    account.rotatedAway.push(account.bearer);
    account.bearer = undefined;
  }
  // Without the newest bearer nobody can tell any more what its answer would have been.
  account.rotating = account.bearer === undefined;
};

const checkAccounts = async (checking: Checking): Promise<void> => {
  const { client, ledger, problems } = checking;
  const listed = (await client('GET', '/admin/v1/service-accounts')).body as readonly {
    id: string;
    name: string;
  }[];
  const byId = new Map(listed.map((one) => [one.id, one]));
  const names = new Set(listed.map(({ name }) => name));
  if (byId.size !== listed.length || names.size !== listed.length) problems.push('an account is there twice');
  const looked = chosen(ledger.accounts, checking);
  await forEach(ledger.accounts, width, async (account) => {
    const isListed = byId.delete(account.id);
    if (looked.has(account)) await checkAccount(checking, account, isListed);
    else compare(problems, `the list's ${account.id}`, expectedOfAccount(account), isListed);
  });
  for (const { id, name } of byId.values()) {
    if (!ledger.unanswered.has(name)) problems.push(`${name} was never asked for, or is there twice`);
    const { status } = await client('GET', `/admin/v1/service-accounts/${id}`);
    if (status !== 200) problems.push(`${name}, asked for without an answer, is half there: ${status}`);
    // Nobody knows its bearer. It goes, so that a later check finds it no more.
    const gone = await client('DELETE', `/admin/v1/service-accounts/${id}`);
    if (gone.status !== 204) problems.push(`${name} can't be deleted: ${gone.text}`);
  }
};

const credentialWorks = async (
  client: Client,
  tenant: string,
  { username, password }: { username: string; password: string },
): Promise<boolean> => {
  const { status, body, text } = await client('POST', `/admin/v1/tenants/${tenant}/authenticate`, {
    body: { username, password },
  });
  if (status !== 200) throw new Error(`A look-up was answered ${status}: ${text}`);
  return (body as { active: boolean }).active;
};

type Listed = { readonly username: string; readonly subject: string; readonly status: string };

/** A credential that was minted without an answer: whole, and revocable like any other. */
const checkUnanswered = async (
  { client, ledger, problems }: Checking,
  tenant: string,
  { username, subject, status }: Listed,
): Promise<void> => {
  if (!ledger.unanswered.has(subject)) problems.push(`${subject} was never asked for, or is there twice`);
  if (await credentialWorks(client, tenant, { username, password: 'tk_unknown' }))
    problems.push(`${username} works with any password`);
  if (status === 'revoked') return;
  const gone = await client('DELETE', `/admin/v1/tenants/${tenant}/tokens/${username}`);
  if (gone.status !== 204) problems.push(`${username} is half there: ${gone.text}`);
};

const checkListedCredentials = async (checking: Checking): Promise<void> => {
  const { client, ledger, problems } = checking;
  const known = groupBy(ledger.credentials, ({ account }) => account.tenant);
  await forEach(ledger.tenants, 4, async (tenant) => {
    if (tenant.life !== 'alive') return;
    const { status, body } = await client('GET', `/admin/v1/tenants/${tenant.id}/tokens`);
    if (status !== 200)
      return void problems.push(`the credentials of ${tenant.id} can't be listed: ${status}`);
    const listed = body as readonly Listed[];
    const byUsername = new Map(listed.map((one) => [one.username, one]));
    const subjects = new Set(listed.map(({ subject }) => subject));
    if (byUsername.size !== listed.length || subjects.size !== listed.length)
      problems.push(`a credential of ${tenant.id} is there twice`);
    for (const credential of known.get(tenant) ?? []) {
      const found = byUsername.get(credential.username);
      byUsername.delete(credential.username);
      if (found === undefined) problems.push(`${credential.username} is not listed`);
      else
        compare(
          problems,
          `the list's ${credential.username}`,
          expectedOfCredential(credential),
          found.status === 'active',
        );
    }
    for (const one of byUsername.values()) await checkUnanswered(checking, tenant.id, one);
  });
};

const checkCredential = async (
  { client, problems }: Checking,
  credential: LedgerCredential,
): Promise<void> => {
  const { account, username } = credential;
  const works = await credentialWorks(client, account.tenant.id, credential);
  compare(problems, username, expectedOfCredential(credential), works);
  // What it hangs from has been settled before, so what is still open is its own end.
  settle(credential, works);
  credential.checked = true;
};

const checkUsers = async ({ client, ledger, problems }: Checking): Promise<void> => {
  const known = groupBy(ledger.users, ({ tenant }) => tenant);
  for (const [tenant, users] of known) {
    if (tenant.life !== 'alive') continue;
    const { status, body } = await client('GET', `/admin/v1/tenants/${tenant.id}/users`);
    if (status !== 200) problems.push(`the users of ${tenant.id} can't be listed: ${status}`);
    if (status !== 200) continue;
    const listed = new Set((body as readonly { username: string }[]).map(({ username }) => username));
    for (const user of users)
      settle(user, compare(problems, user.username, expectedOfUser(user), listed.has(user.username)));
  }
  const some = ledger.users.filter(({ checked }) => !checked).slice(-usersMax);
  await forEach(some, 2, async (user) => {
    const works = await credentialWorks(client, user.tenant.id, user);
    compare(problems, `signing in as ${user.username}`, expectedOfUser(user), works);
    user.checked = true;
  });
};

/**
 * Every way in which the program does not hold what the ledger says, seen over HTTP; none where all is well. What was
 * asked and not answered is settled: as it is found now it must stay. Accounts and credentials that were checked before
 * and have not changed are all listed, and looked up only in part, unless `all` is set.
 */
export const checkLedger = async (
  url: string,
  ledger: Ledger,
  { random, all = false }: { readonly random: Random; readonly all?: boolean },
): Promise<readonly string[]> => {
  const checking: Checking = { client: createClient(url), ledger, problems: [], random, all };
  await checkTenants(checking);
  await checkAccounts(checking);
  const looked = chosen(ledger.credentials, checking);
  await forEach(looked, width, (credential) => checkCredential(checking, credential));
  await checkListedCredentials(checking);
  await checkUsers(checking);
  return checking.problems;
};
