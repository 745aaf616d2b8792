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
  `<a class="skip" href="#operations">Skip to operations</a><nav class="downloads" aria-label="Documents"><a class="home" href="/">Keyledger</a>${apis
    .map(
      ({ name, title }) =>
        `<span>${title}: <a href="/apidoc/${name}.json" download>JSON</a> <a href="/apidoc/${name}.yaml" download>YAML</a></span>`,
    )
    .join('')}</nav>`;

const downloadsStyle =
  '.downloads{display:flex;flex-wrap:wrap;gap:.5rem 2rem;padding:.75rem 1.25rem;font:1rem/1.5 system-ui,sans-serif;background:#fff;color:#1f2433}' +
  '.downloads a{color:#3542a8}.downloads .home{font-weight:700;margin-right:auto}.swagger-ui .topbar .link,.swagger-ui__skip-link{display:none!important}' +
  '.skip:not(:focus){position:absolute;left:-99rem}';

/** The library's colours that have too little contrast (WCAG 2.2 §1.4.3): what stands on them or in them, made darker. */
const contrastStyle = [
  ...Object.entries({
    get: '#1d5fae',
    post: '#11704a',
    patch: '#0c6a62',
    put: '#8a4b00',
    delete: '#b3261e',
  }).map(
    ([method, color]) =>
      `.swagger-ui .opblock.opblock-${method} .opblock-summary-method{background:${color}}`,
  ),
  '.swagger-ui .info .title small{background:#565e6c}.swagger-ui .info .title small.version-stamp{background:#47700a}',
  '.swagger-ui .btn.execute{background:#1d5fae;border-color:#1d5fae}',
  ...Object.entries({
    '.info .url,.swagger-ui .info a,.swagger-ui .link': '#1d5fae',
    '.btn.authorize': '#11704a',
    '.btn.cancel': '#b3261e',
    '.parameter__in': '#565e6c',
    '.json-schema-2020-12-expand-deep-button': '#565e6c',
  }).map(([what, color]) => `html:not(.dark-mode) .swagger-ui ${what}{color:${color}}`),
].join('');

/**
 * What the library leaves out for those who do not see the page: its headings skip a level, and two parts of it stand in
 * no landmark. It makes them anew with each document, so it is looked at whenever something changes.
 */
const nameParts = `function () {
  var set = function (selector, name, value) {
    document.querySelectorAll(selector).forEach(function (part) {
      if (part.getAttribute(name) !== value) part.setAttribute(name, value);
    });
  };
  var mend = function () {
    set('.opblock-tag, .models > h4', 'aria-level', '2');
    set('.information-container, .schemes-server-container', 'role', 'region');
    set('.information-container', 'aria-label', 'About this API');
    set('.schemes-server-container', 'aria-label', 'Authorization');
  };
  new MutationObserver(mend).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });
  mend();
}`;

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
    customCSS: downloadsStyle + contrastStyle,
    swaggerOptions: {
      url: urls[0]?.url ?? '',
      urls,
      'urls.primaryName': urls[0]?.name,
      layout: 'StandaloneLayout',
      persistAuthorization: false,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      onComplete: nameParts,
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
      .replace('<div id="swagger-ui"></div>', `${downloads(apis)}<div id="swagger-ui"></div>`)
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
