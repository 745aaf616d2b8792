import type { ReadModels } from '../core/ports.ts';
import type { Role } from '../events/fields.ts';
import { projection } from './define.ts';
import { findEnd, tombstone } from './revocations.ts';

/** A user as clients see it: the documents of this read model are answered as they are, so nothing secret is in them. */
export type User = {
  readonly id: string;
  readonly tenant_id: string;
  readonly username: string;
  readonly role: Role;
  readonly created_at: string;
};

/** What signing a user in needs. `password_hash` is an argon2id PHC string. */
export type Password = {
  readonly user_id: string;
  readonly incarnation: string;
  readonly username: string;
  readonly role: Role;
  readonly password_hash: string;
};

/** A user's place in both read models: names differ by more than case. */
const idOf = (incarnation: string, username: string): string => `${incarnation}/${username.toLowerCase()}`;

/** The users, listed by the tenant's incarnation. */
export const users = projection<User>({
  name: 'users',
  version: 1,
  kind: 'stream',
  group: (_, id) => id.slice(0, id.indexOf('/')),
  on: {
    UserCreated: ({ data, time }) => [
      {
        id: idOf(data.incarnation, data.username),
        to: () => ({
          id: data.user_id,
          tenant_id: data.tenant_id,
          username: data.username,
          role: data.role,
          created_at: time,
        }),
      },
    ],
    UserDeleted: ({ data }) => [{ id: idOf(data.incarnation, data.username), to: () => undefined }],
  },
});

/** The password hashes, apart from what is listed. */
export const passwords = projection<Password>({
  name: 'passwords',
  version: 1,
  kind: 'stream',
  on: {
    UserCreated: ({ data }) => [
      {
        id: idOf(data.incarnation, data.username),
        to: () => ({
          user_id: data.user_id,
          incarnation: data.incarnation,
          username: data.username,
          role: data.role,
          password_hash: data.password_hash,
        }),
      },
    ],
    UserDeleted: ({ data }) => [{ id: idOf(data.incarnation, data.username), to: () => undefined }],
  },
});

/** The user of this name, in whatever case, if one is alive in this incarnation of the tenant. */
export const findUser = async (
  reads: ReadModels,
  incarnation: string,
  username: string,
): Promise<User | undefined> => {
  const user = await reads.documents<User>('users').get(idOf(incarnation, username));
  if (user === undefined) return undefined;
  const ends = [tombstone.user(user.id), tombstone.tenant(incarnation)];
  return (await findEnd(reads, ends)) === undefined ? user : undefined;
};

/** What signing in under this name needs, if the user is alive. */
export const findPassword = async (
  reads: ReadModels,
  incarnation: string,
  username: string,
): Promise<Password | undefined> => {
  const password = await reads.documents<Password>('passwords').get(idOf(incarnation, username));
  if (password === undefined) return undefined;
  const ends = [tombstone.user(password.user_id), tombstone.tenant(incarnation)];
  return (await findEnd(reads, ends)) === undefined ? password : undefined;
};
