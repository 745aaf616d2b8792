import type { Middleware } from 'koa';
import { refusals } from '../../refusals.ts';
import { stateOf } from '../answer.ts';
import { ErrorPage } from '../pages/error-page.tsx';
import type { Who } from '../pages/layout.tsx';
import { sendPage } from '../pages/page.ts';
import { statusOfCode, toRefused } from '../problem.ts';
import type { Caller } from '../route.ts';
import { signedInUser } from './visits.ts';

/** Whoever is signed in, so that the page leads back to where they belong. */
const whoOf = (caller: Caller | undefined): Who | undefined => {
  if (caller?.kind === 'admin') return { kind: 'operator' };
  return caller?.kind === 'user' ? signedInUser(caller.session) : undefined;
};

/** Answers a browser with a page where anything else gets a problem document; the code is the same. */
export const errorPages: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    // A program that takes anything is better served with JSON.
    if (ctx.headerSent || ctx.accepts('json', 'html') !== 'html') throw error;
    const refused = toRefused(error);
    const state = stateOf(ctx);
    const status = statusOfCode(refused.code);
    state.code = refused.code;
    if (refused !== error && status >= 500) state.error = error;
    for (const [name, value] of Object.entries(refused.headers)) ctx.set(name, value);
    const { title } = refusals[refused.code];
    const who = whoOf(state.caller);
    const page = { who, status, title, detail: refused.message, requestId: state.requestId };
    sendPage(ctx, status, <ErrorPage {...page} />);
  }
};
