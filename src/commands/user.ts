import { accept, command, refuse, type Fold } from '../core/command.ts';
import type { Role } from '../events/fields.ts';
import type { UserFact } from '../events/user.ts';

/** Whether a user of this name is alive in the tenant's incarnation, and which. */
type User =
  { readonly alive: false } | { readonly alive: true; readonly user_id: string; readonly username: string };

type OfTenant = { readonly tenant_id: string; readonly incarnation: string };

/** Asks for a user; `user_id` is fresh, and the password comes hashed. */
export type CreateUser = OfTenant & {
  readonly user_id: string;
  readonly username: string;
  readonly role: Role;
  readonly password_hash: string;
};

/** Asks that a user end. */
export type DeleteUser = OfTenant & { readonly username: string };

/** Names differ by more than case: the stream's name is what makes a username unique in its tenant. */
const stream = (wish: { incarnation: string; username: string }): string =>
  `user-${wish.incarnation}/${wish.username.toLowerCase()}`;

const user: Fold<User, UserFact> = {
  initial: { alive: false },
  on: {
    UserCreated: (_, { user_id, username }) => ({ alive: true, user_id, username }),
    UserDeleted: () => ({ alive: false }),
  },
};

/** Makes a user; `user.exists` where the name is taken, in whatever case. */
export const createUser = command({
  name: 'CreateUser',
  stream,
  startsStream: true,
  fold: user,
  decide: (wish: CreateUser, state) =>
    state.alive
      ? refuse('user.exists', `There is a user ${state.username} in ${wish.tenant_id} already.`)
      : accept({ type: 'UserCreated', data: wish }),
});

/** Ends a user; `user.unknown` where there is none of that name. */
export const deleteUser = command({
  name: 'DeleteUser',
  stream,
  fold: user,
  decide: ({ tenant_id, incarnation, username }: DeleteUser, state) =>
    state.alive
      ? accept({
          type: 'UserDeleted',
          data: { user_id: state.user_id, tenant_id, incarnation, username: state.username },
        })
      : refuse('user.unknown', `There is no user ${username} in ${tenant_id}.`),
});
