import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import compress from 'koa-compress';

const require = createRequire(import.meta.url);

/** The compiler copies no style sheets, so they are read where they were written. */
const ownFolder = new URL('../../../../src/http/pages/assets/', import.meta.url);

const maxAgeSecs = 31_536_000;

/** Below this a body does not get smaller by it. */
const compressBytesMin = 512;

type Asset = { readonly type: string; readonly body: Buffer; readonly url: string };

/** A new content is a new URL, so a browser may keep each for ever and never shows an old style on a new page. */
const asset = (name: string, type: string, path: string | URL): Asset => {
  const body = readFileSync(path);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  return { type, body, url: `/assets/${hash}/${name}` };
};

const library = asset('pico.min.css', 'text/css', require.resolve('@picocss/pico/css/pico.min.css'));
const style = asset('keyledger.css', 'text/css', new URL('keyledger.css', ownFolder));
const script = asset('keyledger.js', 'text/javascript', new URL('keyledger.js', ownFolder));

/** What a page links, in the order in which styles override each other. The URLs change with the contents alone. */
export const assetUrls = { styles: [library.url, style.url], script: script.url } as const;

/** The style sheets and the script of the pages, from memory, under names that change with their contents. */
export const createAssets = (): Router => {
  const router = new Router({ strict: true, sensitive: true });
  const compressed = compress({ threshold: compressBytesMin }) as Middleware;
  for (const { url, type, body } of [library, style, script]) {
    router.get(url, compressed, (ctx) => {
      ctx.set('Cache-Control', `public, max-age=${maxAgeSecs}, immutable`);
      ctx.type = `${type}; charset=utf-8`;
      ctx.body = body;
    });
  }
  return router;
};
