import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { ofTenant, role } from './fields.ts';

const ofUser = { user_id: z.uuid(), ...ofTenant, username: z.string() };

/** A user was made. `password_hash` is an argon2id PHC string. */
export const UserCreated = event(
  'UserCreated',
  1,
  z.strictObject({ ...ofUser, role, password_hash: z.string() }),
  ['password_hash'],
);

/** A user ended; the same name made again is another user. */
export const UserDeleted = event('UserDeleted', 1, z.strictObject(ofUser));

/** Everything that can happen to a user. */
export type UserFact = FactOf<typeof UserCreated | typeof UserDeleted>;
