import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { digest, ends, ofTenant, role } from './fields.ts';

const ofAccount = { service_account_id: z.string(), ...ofTenant };

/** A service account was made, with the first generation of its bearer. */
export const ServiceAccountCreated = event(
  'ServiceAccountCreated',
  1,
  z.strictObject({
    ...ofAccount,
    name: z.string(),
    max_role: role,
    max_ttl_secs: z.int(),
    bearer_digest: digest,
  }),
  ['bearer_digest'],
);

/** A new generation of the bearer took over; `ends` says until when each earlier one that still worked may work. */
export const ServiceAccountBearerRotated = event(
  'ServiceAccountBearerRotated',
  1,
  z.strictObject({
    ...ofAccount,
    generation: z.int(),
    bearer_digest: digest,
    grace_secs: z.int(),
    ends,
  }),
  ['bearer_digest'],
);

/** A service account ended, and its bearers; `credentials` says whether what it minted ended with it. */
export const ServiceAccountDeleted = event(
  'ServiceAccountDeleted',
  1,
  z.strictObject({ ...ofAccount, credentials: z.enum(['revoke', 'keep']) }),
);

/** Everything that can happen to a service account. */
export type ServiceAccountFact = FactOf<
  typeof ServiceAccountCreated | typeof ServiceAccountBearerRotated | typeof ServiceAccountDeleted
>;
