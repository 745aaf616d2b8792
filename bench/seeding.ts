import { v7 } from 'uuid';
import { createServiceAccount } from '../src/commands/service-account.ts';
import { createTenant } from '../src/commands/tenant.ts';
import { mintCredential, type Minter } from '../src/commands/credential.ts';
import { createClock } from '../src/core/clock.ts';
import type { Cause } from '../src/core/event.ts';
import type { EventStore, ReadModels } from '../src/core/ports.ts';
import { createRun, type Run } from '../src/core/run.ts';
import { codec } from '../src/events/index.ts';
import { createSecrets } from '../src/secrets/tokens.ts';
import { tenant, type Credential } from './sides/requests.ts';

/** How many mints are in flight: enough to fill the engine's transactions. */
const lanes = 512;
/** How many credentials are printed, evenly spread over all, so that authenticate meets a store it can't cache. */
const printedAmount = 20_000;
const ttlSeconds = 86_400;

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
  if (!outcome.accepted) throw new Error(`minting was refused: ${outcome.detail}`);
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

/** Fills a store with a tenant and its credentials by the service's own commands; answers some of these, spread over all. */
export const seed = (
  engine: { readonly events: EventStore; readonly readModels: Pick<ReadModels, 'settle'> },
  amount: number,
): Promise<readonly Credential[]> => {
  const observer = { decided: () => undefined, conflicted: () => undefined };
  return fill(createRun({ ...engine, codec, clock, newId: v7, observer }), amount);
};
