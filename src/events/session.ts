import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { digest, instant, ofTenant, role } from './fields.ts';

const ofSession = { session_id: z.string() };

/** A user signed in to the web interface. */
export const UserSignedIn = event(
  'UserSignedIn',
  1,
  z.strictObject({
    ...ofSession,
    ...ofTenant,
    user_id: z.uuid(),
    username: z.string(),
    role,
    session_digest: digest,
    expires_at: instant,
  }),
  ['session_digest'],
);

/** The operator signed in to the console; the session lasts only as long as that admin token is a setting. */
export const OperatorSignedIn = event(
  'OperatorSignedIn',
  1,
  z.strictObject({ ...ofSession, session_digest: digest, admin_token_digest: digest, expires_at: instant }),
  ['session_digest', 'admin_token_digest'],
);

/** A session was ended by who had begun it; of a user's, the tenant is named. */
export const SignedOut = event(
  'SignedOut',
  1,
  z.strictObject({ ...ofSession, tenant_id: z.string().exactOptional() }),
);

/** Everything that can happen to a session. */
export type SessionFact = FactOf<typeof UserSignedIn | typeof OperatorSignedIn | typeof SignedOut>;
