import type { Projection } from '../core/projection.ts';
import { codec } from '../events/index.ts';
import { credentials } from './credentials.ts';
import { revocations } from './revocations.ts';
import { bearers, serviceAccounts } from './service-accounts.ts';
import { tenants } from './tenants.ts';
import { passwords, users } from './users.ts';

/** Every read model. An engine that projects in a thread of its own loads this module there. */
export const projections: readonly Projection[] = [
  revocations,
  tenants,
  users,
  passwords,
  serviceAccounts,
  bearers,
  credentials,
];

/** How that engine reads the log. */
export const { decode } = codec;
