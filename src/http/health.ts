import { Router } from '@koa/router';
import type { Health } from '../core/ports.ts';

/** `/healthz`, `/readyz` and `/metrics`, which need no token. */
export const createHealth = (needs: {
  readonly readiness: () => Health;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}): Router => {
  const router = new Router({ strict: true, sensitive: true });
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'up' };
  });
  router.get('/readyz', (ctx) => {
    const { ready, ...why } = needs.readiness();
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ready' : 'not ready', ...why };
    ctx.set('Cache-Control', 'no-store');
  });
  router.get('/metrics', async (ctx) => {
    const { contentType, text } = await needs.metrics();
    ctx.type = contentType;
    ctx.body = text;
  });
  return router;
};
