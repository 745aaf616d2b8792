import type { Context, Middleware } from 'koa';
import { sessionSecs } from '../../commands/session.ts';
import { isSecure } from '../client-address.ts';

/** Whose session a cookie holds. Both can be there: an operator may be a user of a workspace too. */
export type SessionOf = 'workspace' | 'console';

/** How long a new secret may wait in the browser for the page that shows it, in seconds. */
const shownWithinSecs = 60;

/**
 * Behind TLS the browser takes the cookie from this very host alone, for its whole life (RFC 6265bis §4.1.3.2), so that
 * no neighbouring host can plant one.
 */
const nameOf = (ctx: Context, of: SessionOf): string =>
  `${isSecure(ctx.req) ? '__Host-' : ''}keyledger-${of}`;

const shownName = 'keyledger-shown-once';

/** There from the page of a secret until the next page. */
const leftName = 'keyledger-left';

type Rule = { readonly path: string; readonly maxAgeSecs: number; readonly sameSite: 'lax' | 'strict' };

const set = (ctx: Context, name: string, value: string, { path, maxAgeSecs, sameSite }: Rule): void => {
  const secure = isSecure(ctx.req);
  // A proxy ends TLS: the library would take the connection to be unsafe.
  ctx.cookies.secure = secure;
  ctx.cookies.set(name, value, {
    path,
    maxAge: maxAgeSecs * 1000,
    sameSite,
    secure,
    httpOnly: true,
    overwrite: true,
  });
};

/** The session's secret that the browser sent, if any. */
export const sessionCookie = (ctx: Context, of: SessionOf): string | undefined =>
  ctx.cookies.get(nameOf(ctx, of));

/** Gives the browser a session; without a secret takes it away. */
export const setSessionCookie = (ctx: Context, of: SessionOf, secret: string | undefined): void =>
  set(ctx, nameOf(ctx, of), secret ?? '', {
    path: '/',
    maxAgeSecs: secret === undefined ? 0 : sessionSecs,
    sameSite: 'lax',
  });

/**
 * Hands a new secret to the page at `path`, that is about to be asked for and shows it. The service keeps nothing: what
 * any node has stored is the digest, so the browser that may see it carries it there, and nowhere else.
 */
export const handOver = (ctx: Context, path: string, secret: string): void =>
  set(ctx, shownName, secret, { path, maxAgeSecs: shownWithinSecs, sameSite: 'strict' });

/**
 * The secret that was handed to the page at this request's path, if it is of what the page shows; it is taken from the
 * browser with the answer. A neighbouring host could have planted another one.
 */
export const takeHandedOver = async (
  {
    ctx,
    ownerOf,
  }: { readonly ctx: Context; readonly ownerOf: (secret: string) => Promise<string | undefined> },
  id: string,
): Promise<string | undefined> => {
  // A question for the headers alone shows nothing, and must not take it away.
  const secret = ctx.method === 'GET' ? ctx.cookies.get(shownName) : undefined;
  if (secret === undefined) return undefined;
  set(ctx, shownName, '', { path: ctx.path, maxAgeSecs: 0, sameSite: 'strict' });
  if ((await ownerOf(secret)) !== id) return undefined;
  set(ctx, leftName, '1', { path: '/', maxAgeSecs: sessionSecs, sameSite: 'strict' });
  return secret;
};

/**
 * Takes away what the page of a secret left in the browser, with the next page. A browser may keep whole pages to go
 * back to, though they are not to be stored; one that was shown under cookies which changed since is not kept
 * (Chromium's rule for pages with `no-store`).
 */
export const forgetShown: Middleware = async (ctx, next) => {
  // The page's own style and script come before it is left.
  if (ctx.cookies.get(leftName) !== undefined && !ctx.path.startsWith('/assets/'))
    set(ctx, leftName, '', { path: '/', maxAgeSecs: 0, sameSite: 'strict' });
  await next();
};
