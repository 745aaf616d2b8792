import { createApiKey, noteApiKeyUse, revokeApiKey, rollApiKey } from '../../src/commands/api-key.ts';
import { mintCredential, revokeCredential, type Minter } from '../../src/commands/credential.ts';
import { agentCommands, workflowCommands } from '../../src/commands/resource.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  rotateBearer,
} from '../../src/commands/service-account.ts';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { createUser, deleteUser } from '../../src/commands/user.ts';
import { createSecrets } from '../../src/secrets/tokens.ts';
import type { LogWriter } from './log-writer.ts';

/** How many of a workspace's credentials may still be revoked; older ones are left alone. */
const revocableMax = 200;
/** Accounts below this number are not deleted, so that there is always one that mints. */
const accountsMin = 4;
const ttlSecs = 86_400;
const overlapSecs = 3_600;
/** How much of a key the service keeps to tell it by, in characters. */
const prefixChars = 10;

/** As long as an argon2id PHC string of the service; nobody signs in with it. */
const passwordHash = `$argon2id$v=19$m=19456,t=2,p=1$${'s'.repeat(22)}$${'h'.repeat(43)}`;

const operator = { actor: 'admin', role: 'admin' } as const;

const secrets = createSecrets();

/** A tenant's life, with what there is in it to change; of each list the first stays as long as the tenant. */
export type Workspace = {
  readonly tenant_id: string;
  readonly incarnation: string;
  readonly accounts: Minter[];
  readonly minted: { readonly username: string; readonly stream: string }[];
  readonly users: string[];
  readonly agents: string[];
  readonly workflows: string[];
  readonly keys: string[];
  usersEver: number;
};

/** Where acts are written, and what they are chosen by: a number from 0 up to 1. */
export type Stage = Pick<LogWriter, 'write' | 'forget' | 'nowMs'> & { readonly chance: () => number };

/** Something that happens in a workspace; nothing where there is nothing for it to happen to. */
export type Act = (stage: Stage, workspace: Workspace) => void;

const anyOf = <T>({ chance }: Stage, list: readonly T[]): T | undefined =>
  list[Math.floor(chance() * list.length)];

const takeAny = <T>({ chance }: Stage, list: T[]): T | undefined =>
  list.length < 2 ? undefined : list.splice(1 + Math.floor(chance() * (list.length - 1)), 1)[0];

const ofTenant = ({ tenant_id, incarnation }: Workspace) => ({ tenant_id, incarnation });

/** Makes a tenant under this id for the `life`-th time. */
export const createWorkspace = ({ write }: Stage, tenant_id: string, life: number): Workspace => {
  write(createTenant, { tenant_id });
  return {
    tenant_id,
    incarnation: `${tenant_id}~${life}`,
    accounts: [],
    minted: [],
    users: [],
    agents: [],
    workflows: [],
    keys: [],
    usersEver: 0,
  };
};

/** Ends a tenant with all that it has. */
export const deleteWorkspace: Act = ({ write, forget }, { tenant_id, minted }) => {
  write(deleteTenant, { tenant_id });
  for (const { stream } of minted) forget(stream);
};

/** Makes a service account that mints. */
export const createAccount: Act = ({ write }, it) => {
  const account = { ...ofTenant(it), service_account_id: secrets.newId('sa_'), max_ttl_secs: ttlSecs };
  const bearer_digest = secrets.fresh('sab_').digest;
  const minter = { ...account, max_role: 'writer' } as const;
  write(createServiceAccount, { ...minter, name: 'nightly', bearer_digest });
  it.accounts.push(minter);
};

/** Gives an account a new bearer; the one before works an hour longer. */
export const rotateAccount: Act = (stage, { accounts }) => {
  const account = anyOf(stage, accounts);
  if (account === undefined) return;
  const { service_account_id } = account;
  const bearer_digest = secrets.fresh('sab_').digest;
  const wish = { service_account_id, bearer_digest, grace_secs: overlapSecs, atMs: stage.nowMs() };
  stage.write(rotateBearer, wish);
};

/** Ends the newest account, with what it minted or without. */
export const deleteAccount: Act = ({ write, chance }, { accounts }) => {
  const account = accounts.length > accountsMin ? accounts.pop() : undefined;
  if (account === undefined) return;
  const { service_account_id } = account;
  write(deleteServiceAccount, { service_account_id, credentials: chance() < 0.5 ? 'revoke' : 'keep' });
};

/** Mints a credential for a day, by any of the accounts. */
export const mint: Act = (stage, { accounts, minted }) => {
  const minter = anyOf(stage, accounts);
  if (minter === undefined) return;
  const username = secrets.newId('cred_');
  const password_digest = secrets.fresh('tk_').digest;
  const wish = { username, password_digest, subject: 'nightly-report', role: 'reader' } as const;
  const stream = stage.write(mintCredential, { ...wish, ttl_secs: ttlSecs, minter, atMs: stage.nowMs() });
  minted.push({ username, stream });
  const oldest = minted.length > revocableMax ? minted.shift() : undefined;
  if (oldest !== undefined) stage.forget(oldest.stream);
};

/** Ends one of the newest credentials. */
export const revoke: Act = (stage, it) => {
  const credential = takeAny(stage, it.minted);
  if (credential === undefined) return;
  stage.forget(stage.write(revokeCredential, { ...ofTenant(it), username: credential.username }));
};

/** Makes a user of a name that was never taken. */
export const addUser: Act = ({ write }, it) => {
  it.usersEver += 1;
  const username = `user-${it.usersEver}`;
  const wish = { user_id: secrets.newId(), username, role: 'reader', password_hash: passwordHash } as const;
  write(createUser, { ...ofTenant(it), ...wish });
  it.users.push(username);
};

/** Ends a user. */
export const removeUser: Act = (stage, it) => {
  const username = takeAny(stage, it.users);
  if (username !== undefined) stage.write(deleteUser, { ...ofTenant(it), username });
};

const kinds = [
  [agentCommands, 'agents', 'agent_'],
  [workflowCommands, 'workflows', 'workflow_'],
] as const;

const defaults = { name: '', description: '', metadata: {} };

const contentOf = ({ chance }: Stage) => ({
  name: 'Order desk',
  description: `Answers questions about orders, version ${Math.floor(chance() * 1e9)}.`,
  metadata: { owner: 'operations', priority: Math.floor(chance() * 10) },
});

/** Makes an agent and a workflow. */
export const addResources: Act = (stage, it) => {
  for (const [{ create }, list, prefix] of kinds) {
    const id = secrets.newId(prefix);
    stage.write(create, { ...ofTenant(it), id, content: contentOf(stage) });
    it[list].push(id);
  }
};

/** Changes an agent and a workflow. */
export const changeResources: Act = (stage, it) => {
  for (const [{ change }, list] of kinds) {
    const id = anyOf(stage, it[list]);
    if (id !== undefined) stage.write(change, { ...ofTenant(it), id, patch: contentOf(stage), defaults });
  }
};

/** Ends an agent and a workflow. */
export const removeResources: Act = (stage, it) => {
  for (const [commands, list] of kinds) {
    const id = takeAny(stage, it[list]);
    if (id !== undefined) stage.write(commands.delete, { ...ofTenant(it), id });
  }
};

const freshKey = () => {
  const { value, digest } = secrets.fresh('svc_');
  return { key_digest: digest, prefix: value.slice(0, prefixChars) };
};

/** Makes an API key that does not expire. */
export const addKey: Act = ({ write, nowMs }, it) => {
  const api_key_id = secrets.newId('key_');
  const wish = { api_key_id, name: 'orders', role: 'writer', expires_at: null, ...freshKey() } as const;
  write(createApiKey, { ...ofTenant(it), ...wish, by: operator, atMs: nowMs() });
  it.keys.push(api_key_id);
};

/** Gives a key a new secret; the one before works an hour longer. */
export const rollKey: Act = (stage, it) => {
  const api_key_id = anyOf(stage, it.keys);
  if (api_key_id === undefined) return;
  const wish = { ...freshKey(), overlap_secs: overlapSecs, by: operator, atMs: stage.nowMs() };
  stage.write(rollApiKey, { ...ofTenant(it), api_key_id, ...wish });
};

/** States that a key was in use, unless that was stated a few minutes ago. */
export const useKey: Act = (stage, it) => {
  const api_key_id = anyOf(stage, it.keys);
  if (api_key_id === undefined) return;
  stage.write(noteApiKeyUse, { ...ofTenant(it), api_key_id, atMs: stage.nowMs() });
};

/** Ends an API key. */
export const removeKey: Act = (stage, it) => {
  const api_key_id = takeAny(stage, it.keys);
  if (api_key_id !== undefined) stage.write(revokeApiKey, { ...ofTenant(it), api_key_id, by: operator });
};
