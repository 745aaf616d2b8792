import type { Context } from 'koa';
import { signInOperator, signInUser, signOut } from '../../commands/session.ts';
import type { Outcome } from '../../core/command.ts';
import type { Fact } from '../../core/event.ts';
import { findSession, type UserSession } from '../../projections/sessions.ts';
import type { Password } from '../../projections/users.ts';
import { stateOf } from '../answer.ts';
import { RequestRefused } from '../problem.ts';
import { causeOf } from '../request.ts';
import type { Services } from '../services.ts';
import { sessionCookie, setSessionCookie, type SessionOf } from './cookies.ts';

/** Begins, finds and ends the sessions of the web interface. */
export type Sessions = {
  /** The user's session that the browser has; a cookie that is forged, old or another instance's is none. */
  findUser(ctx: Context): Promise<UserSession | undefined>;
  /** Whether the browser has a session of the operator, begun with an admin token that is still a setting. */
  isOperator(ctx: Context): Promise<boolean>;
  beginUser(ctx: Context, workspace: string, user: Password): Promise<void>;
  /** `token` is the admin token that was shown. */
  beginOperator(ctx: Context, token: string): Promise<void>;
  /** Ends the session, here and on every node, and takes the cookie away. */
  end(ctx: Context, of: SessionOf): Promise<void>;
};

/** The sessions; `adminTokens` are those that are settings now. */
export const createSessions = (
  { run, reads, secrets, clock }: Services,
  adminTokens: readonly string[],
): Sessions => {
  const find = async (ctx: Context, of: SessionOf) => {
    const secret = sessionCookie(ctx, of);
    if (secret === undefined || !secrets.isWellFormed('ses_', secret)) return undefined;
    const digest = secrets.digest(secret);
    const session = await findSession(reads, digest, clock());
    if (session === undefined) return undefined;
    const state = stateOf(ctx);
    state.token = secrets.fingerprint(digest);
    state.givenBy = session.given_by;
    return { secret, session };
  };

  /** The token is bound to the session, so that nobody who reads the log can try tokens out. */
  const bound = (secret: string, token: string): string => secrets.digest(`${secret} ${token}`);

  const end = async (ctx: Context, of: SessionOf): Promise<void> => {
    const found = await find(ctx, of);
    if (found === undefined) return;
    const { session } = found;
    const actor = session.kind === 'user' ? `user:${session.workspace_id}/${session.username}` : 'admin';
    await run(signOut, { session_id: session.session_id }, causeOf(ctx.req, stateOf(ctx), actor));
  };

  /** A browser gets a new secret with every sign-in, and the session that it had before ends. */
  const begin = async (
    ctx: Context,
    of: SessionOf,
    start: (ids: {
      session_id: string;
      session_digest: string;
      secret: string;
      atMs: number;
    }) => Promise<Outcome<Fact, 'session.exists'>>,
  ): Promise<void> => {
    await end(ctx, of);
    const secret = secrets.fresh('ses_');
    const state = stateOf(ctx);
    // So that what is done in the session can be told to have begun with this sign-in.
    state.token = secrets.fingerprint(secret.digest);
    // The session before led to its own end, and not to this one.
    state.givenBy = undefined;
    const outcome = await start({
      session_id: secrets.newId(),
      session_digest: secret.digest,
      secret: secret.value,
      atMs: clock(),
    });
    if (!outcome.accepted) throw new RequestRefused(outcome.code, outcome.detail);
    setSessionCookie(ctx, of, secret.value);
  };

  return {
    findUser: async (ctx) => {
      const found = await find(ctx, 'workspace');
      return found?.session.kind === 'user' ? found.session : undefined;
    },
    isOperator: async (ctx) => {
      const found = await find(ctx, 'console');
      if (found?.session.kind !== 'operator') return false;
      const { admin_token_digest } = found.session;
      return adminTokens.some((token) => secrets.isSame(admin_token_digest, bound(found.secret, token)));
    },
    beginUser: (ctx, workspace, { user_id, incarnation, username, role }) =>
      begin(ctx, 'workspace', ({ secret: _secret, ...ids }) => {
        const cause = causeOf(ctx.req, stateOf(ctx), `user:${workspace}/${username}`);
        return run(signInUser, { ...ids, tenant_id: workspace, incarnation, user_id, username, role }, cause);
      }),
    beginOperator: (ctx, token) =>
      begin(ctx, 'console', ({ secret, ...ids }) => {
        const cause = causeOf(ctx.req, stateOf(ctx), 'admin');
        return run(signInOperator, { ...ids, admin_token_digest: bound(secret, token) }, cause);
      }),
    end: async (ctx, of) => {
      await end(ctx, of);
      setSessionCookie(ctx, of, undefined);
    },
  };
};
