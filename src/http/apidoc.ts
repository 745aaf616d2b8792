import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from '@koa/router';
import { HttpError, type Context, type Middleware } from 'koa';
import koaMount from 'koa-mount';
import koaStatic from 'koa-static';
import { koaSwagger } from 'koa2-swagger-ui';
import type { ApiDocument } from './openapi.ts';
import { RequestRefused } from './problem.ts';

const require = createRequire(import.meta.url);

const assetsPath = '/apidoc/assets';

const assetsMaxAgeMs = 3_600_000;

/** The page as the library renders it, once: it is constant, and this way its one inline script can be hashed. */
const renderPage = (documents: readonly { url: string; name: string }[]): string => {
  const { version } = require('swagger-ui-dist/package.json') as { version: string };
  const render = koaSwagger({
    title: 'Keyledger API reference',
    routePrefix: false,
    swaggerVersion: version,
    swaggerCdnUrl: assetsPath,
    hideTopbar: documents.length < 2,
    favicon: `${assetsPath}/favicon-32x32.png`,
    swaggerOptions: {
      url: documents[0]?.url ?? '',
      ...(documents.length < 2 ? {} : { urls: [...documents], 'urls.primaryName': documents[0]?.name }),
      layout: documents.length < 2 ? 'BaseLayout' : 'StandaloneLayout',
      persistAuthorization: false,
      displayRequestDuration: true,
      tryItOutEnabled: true,
    },
  });
  const ctx = { path: '/apidoc', type: '', body: '' };
  void render(ctx as unknown as Context, async () => {});
  return (
    ctx.body
      // The library writes its assets as <cdn>/<version>/<file>, asks for a style sheet that the package has under
      // another name, and links a font of a third party.
      .replaceAll(`${assetsPath}/${version}/`, `${assetsPath}/`)
      .replaceAll('swagger-ui.min.css', 'swagger-ui.css')
      .replaceAll(/<link[^>]*fonts\.googleapis\.com[^>]*>/g, '')
  );
};

/** The hashes of the inline scripts, so that no other inline script can run. */
const scriptHashes = (page: string): string =>
  [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)]
    .map(([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`)
    .join(' ');

/** The interactive API reference at `/apidoc`, with every asset its own, and the documents for download. */
export const createApidoc = (documents: { readonly [name: string]: ApiDocument }): Router => {
  const names = Object.keys(documents);
  const page = renderPage(names.map((name) => ({ url: `/apidoc/${name}.json`, name })));
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${scriptHashes(page)}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const router = new Router({ strict: true, sensitive: true });
  router.get('/apidoc', (ctx) => {
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Referrer-Policy', 'same-origin');
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = page;
  });
  for (const [name, { json, yaml }] of Object.entries(documents)) {
    router.get(`/apidoc/${name}.json`, (ctx) => {
      ctx.type = 'application/json; charset=utf-8';
      ctx.body = json;
    });
    router.get(`/apidoc/${name}.yaml`, (ctx) => {
      ctx.type = 'application/yaml; charset=utf-8';
      ctx.body = yaml;
    });
  }
  const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
  const assets = koaMount(
    assetsPath,
    koaStatic(folder, { maxage: assetsMaxAgeMs, index: false }),
  ) as Middleware;
  router.get('/apidoc/assets/*file', async (ctx, next) => {
    try {
      await assets(ctx, next);
    } catch (error) {
      // What the library throws at a path that leads out of its folder is no fault of the service.
      if (!(error instanceof HttpError) || error.status >= 500) throw error;
      throw new RequestRefused('route.unknown', 'There is nothing at this path.');
    }
  });
  return router;
};
