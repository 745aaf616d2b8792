import type { Projection } from '../core/projection.ts';
import { codec } from '../events/index.ts';
import { activity } from './activity.ts';
import { apiKeys, apiKeySecrets, apiKeyUses } from './api-keys.ts';
import { credentials } from './credentials.ts';
import { grants } from './grants.ts';
import { agents, threads, workflows } from './resources.ts';
import { revocations } from './revocations.ts';
import { bearers, serviceAccounts } from './service-accounts.ts';
import { sessions } from './sessions.ts';
import { incarnations, tenants } from './tenants.ts';
import { passwords, users } from './users.ts';

/** Every read model. An engine that projects in a thread of its own loads this module there. */
export const projections: readonly Projection[] = [
  revocations,
  tenants,
  incarnations,
  users,
  passwords,
  serviceAccounts,
  bearers,
  credentials,
  apiKeys,
  apiKeySecrets,
  apiKeyUses,
  grants,
  sessions,
  agents,
  threads,
  workflows,
  activity,
];

/** How that engine reads the log. */
export const { decode } = codec;
