import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { setCommonHeaders, stateOf } from './answer.ts';
import type { Api } from './api.ts';
import { actorOf, type Authenticate } from './authentication.ts';
import { border, type BorderNeeds } from './border.ts';
import { handlerOf } from './handler.ts';
import { RequestRefused, statusOfCode } from './problem.ts';
import { causeOf } from './request.ts';
import type { Services } from './services.ts';
import { forgetShown } from './web/cookies.ts';
import { errorPages } from './web/errors.tsx';

type Mounting = BorderNeeds & {
  readonly services: Services;
  readonly apis: readonly (Api & { readonly authenticate: Authenticate })[];
  /** Pages, documents and health, each a router of its own. */
  readonly others: readonly Router[];
};

const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');

/** Counts a request that was refused to whoever asked, or to nobody known; what else was thrown is none of it. */
const noteRefused = (ctx: Context, { refusedRequests }: Services, error: unknown): void => {
  if (!(error instanceof RequestRefused)) return;
  const { code } = error;
  if (statusOfCode(code) !== 401 && statusOfCode(code) !== 403) return;
  const { caller, route = 'unmatched', address } = stateOf(ctx);
  const who = caller === undefined ? 'anonymous' : actorOf(caller);
  refusedRequests.note({ caller: who, code, route, address });
};

/**
 * Authentication comes before anything else, so that a stranger learns nothing about what exists. The route is looked
 * for all the same, for the log and the metrics alone.
 */
const authentication =
  ({ apis, services }: Mounting, templateOf: (path: string) => string | undefined): Middleware =>
  async (ctx, next) => {
    const { path } = ctx;
    const api = apis.find(({ prefixes }) => prefixes.some((prefix) => isBelow(path, prefix)));
    if (api === undefined) return next();
    const state = stateOf(ctx);
    try {
      const caller = await api.authenticate(ctx.req);
      state.caller = caller;
      if (caller.token !== undefined) state.token = caller.token;
      state.givenBy = caller.givenBy;
      services.count({ what: 'authentication', result: 'ok' });
      if (caller.kind === 'api_key')
        services.keyUse.note(caller.key, () => causeOf(ctx.req, state, actorOf(caller)));
    } catch (error) {
      const template = templateOf(path);
      if (template !== undefined) state.route = template;
      if (error instanceof RequestRefused && statusOfCode(error.code) === 401) {
        const result = error.code.endsWith('.missing') ? 'missing' : 'invalid';
        services.count({ what: 'authentication', result });
      }
      if (api.keepsRefused === true) noteRefused(ctx, services, error);
      throw error;
    }
    if (api.keepsRefused !== true) return next();
    try {
      await next();
    } catch (error) {
      noteRefused(ctx, services, error);
      throw error;
    }
  };

/** What no router answered: 405 where the path is known under another method, else 404. */
const unmatched =
  (routers: readonly Router[], templateOf: (path: string) => string | undefined): Middleware =>
  (ctx) => {
    const template = templateOf(ctx.path);
    if (template !== undefined) stateOf(ctx).route = template;
    const methods = new Set(
      routers.flatMap((router) => router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods)),
    );
    // A path that is known under this very method is one whose handler found nothing to answer.
    if (methods.size === 0 || methods.has(ctx.method)) {
      throw new RequestRefused('route.unknown', 'There is nothing at this path.');
    }
    const allow = [...methods].toSorted().join(', ');
    throw new RequestRefused('route.method-not-allowed', `This path answers ${allow}.`, {
      headers: { Allow: allow },
    });
  };

/** The Koa application: border, authentication, routes, pages, and the answer for what there is not. */
export const mount = (mounting: Mounting): Koa => {
  const app = new Koa();
  const api = new Router({ strict: true, sensitive: true });
  const templates = new Map<unknown, string>();
  for (const { routes, authenticate } of mounting.apis) {
    for (const route of routes) {
      const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
      templates.set(path, route.path);
      api.register(path, [route.method.toLowerCase()], [handlerOf(route, mounting.services, authenticate)]);
    }
  }
  app.use(border(mounting));
  const templateOf = (path: string): string | undefined =>
    templates.get(api.match(path, 'GET').path[0]?.path);
  app.use(authentication(mounting, templateOf));
  app.use(api.routes() as Middleware);
  app.use(async (ctx, next) => {
    setCommonHeaders(ctx);
    await next();
  });
  app.use(forgetShown);
  app.use(errorPages);
  for (const router of mounting.others) app.use(router.routes() as Middleware);
  app.use(unmatched([api, ...mounting.others], templateOf));
  // What escapes the border is a fault of the connection itself (a client that went away), not of a request.
  app.silent = true;
  return app;
};
