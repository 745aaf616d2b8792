import { v7 } from 'uuid';
import { createApiKey } from '../src/commands/api-key.ts';
import { agentCommands } from '../src/commands/resource.ts';
import { createServiceAccount } from '../src/commands/service-account.ts';
import { createTenant } from '../src/commands/tenant.ts';
import { mintCredential, type Minter } from '../src/commands/credential.ts';
import { createClock } from '../src/core/clock.ts';
import type { Outcome } from '../src/core/command.ts';
import type { Cause, Fact } from '../src/core/event.ts';
import type { EventStore, ReadModels } from '../src/core/ports.ts';
import { createRun, type Run } from '../src/core/run.ts';
import { codec } from '../src/events/index.ts';
import { createSecrets } from '../src/secrets/tokens.ts';
import { tenant, workspace, type Credential } from './sides/requests.ts';
import { link } from '../src/proofs/event-hash.ts';

/** How many mints are in flight: enough to fill the engine's transactions. */
const lanes = 512;
/** How many credentials are printed, evenly spread over all, so that authenticate meets a store it can't cache. */
const printedAmount = 20_000;
const ttlSeconds = 86_400;
const agentsAmount = 20;
/** How much of a key the service keeps to tell it by, in characters. */
const prefixChars = 10;

const secrets = createSecrets();
const clock = createClock();
const cause: Cause = {
  actor: 'system',
  address: null,
  user_agent: null,
  reason: 'benchmark',
  correlation_id: v7(),
  causation_id: null,
};

const createMinter = async (run: Run): Promise<Minter> => {
  const account = {
    service_account_id: secrets.newId('sa_'),
    tenant_id: tenant,
    incarnation: `${tenant}~1`,
    max_role: 'reader',
    max_ttl_secs: ttlSeconds,
  } as const;
  await run(createTenant, { tenant_id: tenant }, cause);
  const bearer_digest = secrets.fresh('sab_').digest;
  await run(createServiceAccount, { ...account, name: 'seed', bearer_digest }, cause);
  return account;
};

const expectAccepted = (outcome: Outcome<Fact, string>): void => {
  if (!outcome.accepted) throw new Error(`filling the store was refused: ${outcome.detail}`);
};

const mintOne = async (run: Run, minter: Minter): Promise<Credential> => {
  const username = secrets.newId('cred_');
  const { value, digest } = secrets.fresh('tk_');
  const wish = {
    username,
    password_digest: digest,
    subject: 'seed',
    role: 'reader',
    ttl_secs: ttlSeconds,
  } as const;
  const outcome = await run(mintCredential, { ...wish, minter, atMs: clock() }, cause);
  expectAccepted(outcome);
  return { username, password: value };
};

const fill = async (run: Run, amount: number): Promise<Credential[]> => {
  const minter = await createMinter(run);
  const every = Math.max(1, Math.floor(amount / printedAmount));
  const printed: Credential[] = [];
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started < amount) {
      const isPrinted = started++ % every === 0;
      const credential = await mintOne(run, minter);
      if (isPrinted) printed.push(credential);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return printed;
};

/** A store that is filled without HTTP. */
type Engine = { readonly events: EventStore; readonly readModels: Pick<ReadModels, 'settle'> };

const runOn = (engine: Engine): Run => {
  const observer = { decided: () => undefined, conflicted: () => undefined };
  return createRun({ ...engine, link, codec, clock, newId: v7, observer });
};

/** Fills a store with a tenant and its credentials by the service's own commands; answers some of these, spread over all. */
export const seed = (engine: Engine, amount: number): Promise<readonly Credential[]> =>
  fill(runOn(engine), amount);

/** Makes a workspace with 20 agents, and a key for it that may write; answers the key. */
export const seedWorkspace = async (engine: Engine): Promise<string> => {
  const run = runOn(engine);
  const ofWorkspace = { tenant_id: workspace, incarnation: `${workspace}~1` };
  const { value, digest: key_digest } = secrets.fresh('svc_');
  const key = {
    ...ofWorkspace,
    api_key_id: secrets.newId('key_'),
    name: 'bench',
    role: 'writer',
    expires_at: null,
    key_digest,
    prefix: value.slice(0, prefixChars),
    by: { actor: cause.actor, role: 'admin' },
    atMs: clock(),
  } as const;
  expectAccepted(await run(createTenant, { tenant_id: workspace }, cause));
  expectAccepted(await run(createApiKey, key, cause));
  for (let i = 0; i < agentsAmount; i++) {
    const content = { name: `Agent ${i}`, description: 'Answers questions about orders.', metadata: {} };
    const wish = { ...ofWorkspace, id: secrets.newId('agent_'), content };
    expectAccepted(await run(agentCommands.create, wish, cause));
  }
  return value;
};
