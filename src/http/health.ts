import { Router } from '@koa/router';

/** Whether the service can take traffic, and if not, why. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** `/healthz`, `/readyz` and `/metrics`, which need no token. */
export const createHealth = (needs: {
  readonly readiness: () => Readiness;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}): Router => {
  const router = new Router({ strict: true, sensitive: true });
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'up' };
  });
  router.get('/readyz', (ctx) => {
    const readiness = needs.readiness();
    ctx.status = readiness.ready ? 200 : 503;
    ctx.body = readiness.ready ? { status: 'ready' } : { status: 'not ready', reason: readiness.reason };
    ctx.set('Cache-Control', 'no-store');
  });
  router.get('/metrics', async (ctx) => {
    const { contentType, text } = await needs.metrics();
    ctx.type = contentType;
    ctx.body = text;
  });
  return router;
};
