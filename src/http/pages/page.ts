import type { Context } from 'koa';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** Nothing inline and nothing of a third party: a name that slipped through as HTML could still do nothing. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Answers with a page. It is never stored, by a browser or between: it shows what one person may see, and perhaps a
 * secret that is shown once.
 */
export const sendPage = (ctx: Context, status: number, node: VNode): void => {
  ctx.status = status;
  ctx.set('Content-Security-Policy', policy);
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = `<!doctype html>${renderToString(node)}`;
};
