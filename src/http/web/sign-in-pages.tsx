import { Router } from '@koa/router';
import type { Context } from 'koa';
import type { JSX } from 'preact';
import { stateOf } from '../answer.ts';
import { sendPage } from '../pages/page.ts';
import { workspacePath } from '../pages/layout.tsx';
import { ConsoleSignInPage, SignInPage } from '../pages/sign-in.tsx';
import { RequestRefused } from '../problem.ts';
import type { Services } from '../services.ts';
import type { SignInThrottle, Try } from '../sign-in-throttle.ts';
import { verifyUser } from '../verify-user.ts';
import { goTo, nextOf, ownForm, type Web, type WebNeeds } from './web.ts';

/** The account that all tries of the admin token are counted under; no workspace's user has such a name. */
const consoleAccount = 'console';

/** Answers a form that was refused with the form again. */
const sendRefused = (
  ctx: Context,
  code: 'sign-in.failed' | 'sign-in.too-many',
  page: JSX.Element,
  headers: Readonly<Record<string, string>>,
): void => {
  stateOf(ctx).code = code;
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value);
  sendPage(ctx, code === 'sign-in.failed' ? 401 : 429, page);
};

/** Looks at a password, if it may be looked at now; answers after how many seconds it may where it may not. */
const tryOnce = async <T,>(
  throttle: SignInThrottle,
  ctx: Context,
  account: string,
  look: () => Promise<T | undefined>,
): Promise<{ readonly waitSecs: number } | { readonly found: T | undefined }> => {
  const attempt: Try | { readonly waitSecs: number } = throttle.begin(stateOf(ctx).address, account);
  if ('waitSecs' in attempt) return attempt;
  try {
    const found = await look();
    if (found === undefined) attempt.failed();
    else attempt.succeeded();
    return { found };
  } catch (error) {
    // Nobody knows whether the password was right: there was no room for it, or a store was away.
    attempt.abandoned();
    throw error;
  }
};

/** A sign-in: what is looked at, what a success does, and the form again where it was none. */
type SignIn<T> = {
  readonly to: 'workspace' | 'console';
  /** What failures are counted under, beside the address. */
  readonly account: string;
  readonly look: () => Promise<T | undefined>;
  readonly begin: (found: T) => Promise<void>;
  /** Where a success leads. */
  readonly next: string;
  readonly again: (refusal: { readonly error?: string; readonly retryAfterSecs?: number }) => JSX.Element;
  readonly refused: string;
};

/** Signing in to a workspace and to the console, and out of them. */
export const createSignInPages = (web: Web, { services, throttle, adminTokens }: WebNeeds): Router => {
  const router = new Router({ strict: true, sensitive: true });
  const { sessions } = web;

  const signIn = async <T,>(ctx: Context, it: SignIn<T>): Promise<void> => {
    const { to, account, look, begin, next, again, refused } = it;
    const result = await tryOnce(throttle, ctx, account, look);
    if ('waitSecs' in result) {
      const { waitSecs } = result;
      services.count({ what: 'sign-in', to, result: 'too-many' });
      const headers = { 'Retry-After': String(waitSecs) };
      return sendRefused(ctx, 'sign-in.too-many', again({ retryAfterSecs: waitSecs }), headers);
    }
    const { found } = result;
    services.count({ what: 'sign-in', to, result: found === undefined ? 'failed' : 'ok' });
    if (found === undefined) {
      const headers = { 'WWW-Authenticate': `Session realm="${to}"` };
      return sendRefused(ctx, 'sign-in.failed', again({ error: refused }), headers);
    }
    await begin(found);
    return goTo(ctx, next);
  };

  router.get('/', async (ctx) => {
    const session = await sessions.findUser(ctx);
    goTo(ctx, session === undefined ? '/sign-in' : workspacePath(session.workspace_id));
  });

  router.get('/sign-in', (ctx) => {
    const next = nextOf(textOf(ctx.query['next']), '/w/');
    sendPage(ctx, 200, <SignInPage next={next} workspace={next?.split('/', 3)[2]} />);
  });

  router.post('/sign-in', async (ctx) => {
    const { workspace = '', username = '', password = '', next } = await ownForm(ctx);
    const back = nextOf(next, '/w/');
    await signIn(ctx, {
      to: 'workspace',
      account: `${workspace}/${username}`,
      look: () => verifyUser(workspace, username, password, services),
      begin: (user) => sessions.beginUser(ctx, workspace, user),
      next: back !== undefined && isIn(back, workspace) ? back : workspacePath(workspace),
      again: (refusal) => <SignInPage workspace={workspace} username={username} next={back} {...refusal} />,
      refused: 'Workspace, username or password is not right.',
    });
  });

  router.post('/sign-out', async (ctx) => {
    await ownForm(ctx);
    await sessions.end(ctx, 'workspace');
    goTo(ctx, '/sign-in');
  });

  const isConfigured = adminTokens.length > 0;

  router.get('/console/sign-in', (ctx) => {
    const next = nextOf(textOf(ctx.query['next']), '/console');
    sendPage(ctx, 200, <ConsoleSignInPage next={next} notConfigured={!isConfigured} />);
  });

  router.post('/console/sign-in', async (ctx) => {
    const { token = '', next } = await ownForm(ctx);
    if (!isConfigured) throw new RequestRefused('control-plane.not-configured', 'No admin token is set.');
    const back = nextOf(next, '/console');
    await signIn(ctx, {
      to: 'console',
      account: consoleAccount,
      look: async () => adminTokenOf(token, adminTokens, services),
      begin: (known) => sessions.beginOperator(ctx, known),
      next: back ?? '/console',
      again: (refusal) => <ConsoleSignInPage next={back} {...refusal} />,
      refused: 'The token is not right.',
    });
  });

  router.post('/console/sign-out', async (ctx) => {
    await ownForm(ctx);
    await sessions.end(ctx, 'console');
    goTo(ctx, '/console/sign-in');
  });

  return router;
};

const textOf = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

const isIn = (path: string, workspace: string): boolean =>
  path === workspacePath(workspace) || path.startsWith(`${workspacePath(workspace)}/`);

/** The admin token, where it is one; every one is compared, each in constant time. */
const adminTokenOf = (
  token: string,
  adminTokens: readonly string[],
  { secrets }: Services,
): string | undefined => {
  const digest = secrets.digest(token);
  return adminTokens.filter((known) => secrets.isSame(secrets.digest(known), digest))[0];
};
