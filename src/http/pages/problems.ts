import { Router } from '@koa/router';
import { refusals, type RefusalCode } from '../../refusals.ts';
import { slugOf, statusOfCode, RequestRefused } from '../problem.ts';

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

const style =
  ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}main{max-width:42rem;margin:2rem auto;padding:0 1rem}dt{font-weight:600}';

/** All text here is this program's own, from `refusals`; none of it comes from a request. */
const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>${title}</title><style>${style}</style></head><body><main>${content}</main></body></html>`;

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const problemPage = (code: RefusalCode): string => {
  const { title, help } = refusals[code];
  return page(
    title,
    `<h1>${escaped(title)}</h1><dl><dt>Code</dt><dd><code>${code}</code></dd><dt>Status</dt><dd>${statusOfCode(code)}</dd>` +
      `<dt>What to do</dt><dd>${escaped(help)}</dd></dl><p><a href="/problems">All problems</a></p>`,
  );
};

/** The pages that the `type` of every problem document points at. */
export const createProblemPages = (): Router => {
  const codes = Object.keys(refusals) as RefusalCode[];
  const pages = new Map(codes.map((code) => [slugOf(code), problemPage(code)]));
  const items = codes.map(
    (code) => `<li><a href="/problems/${slugOf(code)}">${escaped(refusals[code].title)}</a></li>`,
  );
  const index = page('Problems', `<h1>Problems</h1><ul>${items.join('')}</ul>`);
  const router = new Router({ strict: true, sensitive: true });
  router.get('/problems', (ctx) => {
    ctx.set('Content-Security-Policy', policy);
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = index;
  });
  router.get('/problems/:slug', (ctx) => {
    const found = pages.get(String(ctx.params['slug']));
    if (found === undefined) throw new RequestRefused('route.unknown', 'There is no problem of this name.');
    ctx.set('Content-Security-Policy', policy);
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = found;
  });
  return router;
};
