import { accept, command, refuse, type Fold } from '../core/command.ts';
import type { Role } from '../events/fields.ts';
import type { SessionFact } from '../events/session.ts';

/** How long a session lasts at most, in seconds: half a day. */
export const sessionSecs = 43_200;

type Session =
  { readonly status: 'none' | 'ended' } | { readonly status: 'open'; readonly tenant_id?: string };

/** Begins a session for a user whose password was right at `atMs`; of its secret only the digest comes here. */
export type SignInUser = {
  readonly session_id: string;
  readonly session_digest: string;
  readonly tenant_id: string;
  readonly incarnation: string;
  readonly user_id: string;
  readonly username: string;
  readonly role: Role;
  readonly atMs: number;
};

/** Begins a session of the operator, who showed the admin token of this digest at `atMs`. */
export type SignInOperator = {
  readonly session_id: string;
  readonly session_digest: string;
  readonly admin_token_digest: string;
  readonly atMs: number;
};

/** Ends a session. */
export type SignOut = { readonly session_id: string };

const stream = (wish: { session_id: string }): string => `session-${wish.session_id}`;

const session: Fold<Session, SessionFact> = {
  initial: { status: 'none' },
  on: {
    UserSignedIn: (_, { tenant_id }) => ({ status: 'open', tenant_id }),
    OperatorSignedIn: () => ({ status: 'open' }),
    SignedOut: () => ({ status: 'ended' }),
  },
};

const expiry = (atMs: number): string => new Date(atMs + sessionSecs * 1000).toISOString();

const taken = () => refuse('session.exists', 'The generated id is taken.');

/** Begins a session in the web interface of a workspace. */
export const signInUser = command({
  name: 'SignInUser',
  stream,
  startsStream: true,
  fold: session,
  decide: ({ atMs, ...wish }: SignInUser, { status }) =>
    status === 'none'
      ? accept({ type: 'UserSignedIn', data: { ...wish, expires_at: expiry(atMs) } })
      : taken(),
});

/** Begins a session in the operator's console. */
export const signInOperator = command({
  name: 'SignInOperator',
  stream,
  startsStream: true,
  fold: session,
  decide: ({ atMs, ...wish }: SignInOperator, { status }) =>
    status === 'none'
      ? accept({ type: 'OperatorSignedIn', data: { ...wish, expires_at: expiry(atMs) } })
      : taken(),
});

/** Ends a session; one that is not there, or has ended, has ended already. */
export const signOut = command({
  name: 'SignOut',
  stream,
  fold: session,
  decide: ({ session_id }: SignOut, state) => {
    if (state.status !== 'open') return accept();
    const { tenant_id } = state;
    return accept({
      type: 'SignedOut',
      data: { session_id, ...(tenant_id === undefined ? {} : { tenant_id }) },
    });
  },
});
