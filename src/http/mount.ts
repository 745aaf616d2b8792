import { Router } from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { setCommonHeaders, stateOf } from './answer.ts';
import type { Authenticate } from './authentication.ts';
import { border, type BorderNeeds } from './border.ts';
import { handlerOf } from './handler.ts';
import { RequestRefused } from './problem.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';

type Mounting = BorderNeeds & {
  readonly services: Services;
  readonly authenticate: Authenticate;
  readonly routes: readonly Route[];
  /** Pages, documents and health, each a router of its own. */
  readonly others: readonly Router[];
};

const adminPrefix = '/admin/v1';

const isAdminPath = (path: string): boolean => path === adminPrefix || path.startsWith(`${adminPrefix}/`);

/**
 * Authentication comes before anything else, so that a stranger learns nothing about what exists. The route is looked
 * for all the same, for the log and the metrics alone.
 */
const authentication =
  ({ authenticate, services }: Mounting, templateOf: (path: string) => string | undefined): Middleware =>
  async (ctx, next) => {
    if (isAdminPath(ctx.path)) {
      try {
        stateOf(ctx).caller = await authenticate(ctx.req);
        services.count({ what: 'authentication', result: 'ok' });
      } catch (error) {
        const template = templateOf(ctx.path);
        if (template !== undefined) stateOf(ctx).route = template;
        const code = error instanceof RequestRefused ? error.code : undefined;
        if (code === 'authentication.missing') services.count({ what: 'authentication', result: 'missing' });
        if (code === 'authentication.invalid') services.count({ what: 'authentication', result: 'invalid' });
        throw error;
      }
    }
    await next();
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
  for (const route of mounting.routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    templates.set(path, route.path);
    api.register(
      path,
      [route.method.toLowerCase()],
      [handlerOf(route, mounting.services, mounting.authenticate)],
    );
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
  for (const router of mounting.others) app.use(router.routes() as Middleware);
  app.use(unmatched([api, ...mounting.others], templateOf));
  // What escapes the border is a fault of the connection itself (a client that went away), not of a request.
  app.silent = true;
  return app;
};
