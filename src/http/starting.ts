import Koa, { type Middleware } from 'koa';
import { setCommonHeaders } from './answer.ts';
import { border, type BorderNeeds } from './border.ts';
import { createHealth } from './health.ts';
import { RequestRefused } from './problem.ts';

/** How long a client should wait for a start, in seconds. */
const retryAfterSecs = 2;

/**
 * What answers until the stores are open: the process is up, it is not ready, and everything else is to come back.
 * `reason` says what the start waits for.
 */
export const mountStarting = (needs: BorderNeeds & { readonly reason: () => string }): Koa => {
  const app = new Koa();
  const health = createHealth({
    readiness: () => ({ ready: false, reason: needs.reason() }),
    metrics: async () => ({ contentType: 'text/plain; charset=utf-8', text: '' }),
  });
  app.use(border(needs));
  app.use(async (ctx, next) => {
    setCommonHeaders(ctx);
    await next();
  });
  app.use(health.routes() as Middleware);
  app.use(() => {
    throw new RequestRefused('service.unavailable', 'The service is starting.', {
      headers: { 'Retry-After': String(retryAfterSecs) },
    });
  });
  app.silent = true;
  return app;
};
