import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { digest, instant, ofTenant, role } from './fields.ts';

const ofCredential = { username: z.string(), ...ofTenant, service_account_id: z.string() };

/** A service account minted a credential for `subject`; `write_schemas` is there for a scoped writer only. */
export const CredentialMinted = event(
  'CredentialMinted',
  1,
  z.strictObject({
    ...ofCredential,
    subject: z.string(),
    role,
    write_schemas: z.array(z.string()).exactOptional(),
    expires_at: instant,
    password_digest: digest,
  }),
  ['password_digest'],
);

/** A credential was ended before its time. */
export const CredentialRevoked = event('CredentialRevoked', 1, z.strictObject(ofCredential));

/** Everything that can happen to a credential. */
export type CredentialFact = FactOf<typeof CredentialMinted | typeof CredentialRevoked>;
