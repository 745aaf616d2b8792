import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from '@koa/router';
import { HttpError, type Context, type Middleware } from 'koa';
import compress from 'koa-compress';
import koaMount from 'koa-mount';
import koaStatic from 'koa-static';
import { koaSwagger } from 'koa2-swagger-ui';
import type { ApiDocument } from './openapi.ts';
import { RequestRefused } from './problem.ts';

const require = createRequire(import.meta.url);

const assetsPath = '/apidoc/assets';

const assetsMaxAgeMs = 3_600_000;

/** An API as the page offers it: `name` is how its documents are called in paths, `title` how people call it. */
type Described = { readonly name: string; readonly title: string; readonly document: ApiDocument };

/** The bar above the reference: where the documents are. All text here is this program's own. */
const downloads = (apis: readonly Described[]): string =>
  `<nav class="downloads" aria-label="Documents"><a class="home" href="/">Keyledger</a>${apis
    .map(
      ({ name, title }) =>
        `<span>${title}: <a href="/apidoc/${name}.json" download>JSON</a> <a href="/apidoc/${name}.yaml" download>YAML</a></span>`,
    )
    .join('')}</nav>`;

const downloadsStyle =
  '.downloads{display:flex;flex-wrap:wrap;gap:.5rem 2rem;padding:.75rem 1.25rem;font:1rem/1.5 system-ui,sans-serif;background:#fff;color:#1f2433}' +
  '.downloads a{color:#3542a8}.downloads .home{font-weight:700;margin-right:auto}.swagger-ui .topbar .link{display:none}';

/** The page as the library renders it, once: it is constant, and this way its one inline script can be hashed. */
const renderPage = (apis: readonly Described[]): string => {
  const { version } = require('swagger-ui-dist/package.json') as { version: string };
  const urls = apis.map(({ name, title }) => ({ url: `/apidoc/${name}.json`, name: title }));
  const render = koaSwagger({
    title: 'Keyledger API reference',
    routePrefix: false,
    swaggerVersion: version,
    swaggerCdnUrl: assetsPath,
    favicon: `${assetsPath}/favicon-32x32.png`,
    customCSS: downloadsStyle,
    swaggerOptions: {
      url: urls[0]?.url ?? '',
      urls,
      'urls.primaryName': urls[0]?.name,
      layout: 'StandaloneLayout',
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
      .replace('<div id="swagger-ui">', `${downloads(apis)}<div id="swagger-ui">`)
  );
};

/** The hashes of the inline scripts, so that no other inline script can run. */
const scriptHashes = (page: string): string =>
  [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)]
    .map(([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`)
    .join(' ');

/** The interactive API reference at `/apidoc`, with every asset its own, and the documents for download. */
export const createApidoc = (apis: readonly Described[]): Router => {
  const page = renderPage(apis);
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
  for (const {
    name,
    document: { json, yaml },
  } of apis) {
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
  const compressed = compress() as Middleware;
  router.get('/apidoc/assets/*file', compressed, async (ctx, next) => {
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
