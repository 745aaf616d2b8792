import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { assetUrls } from '../../../src/http/pages/assets.ts';
import { pages, servePages, type ServedPages } from '../../support/pages.tsx';

const pageBytesMax = 100_000;

const scriptBytesMax = 3_000;

type Transferred = {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it was on the wire, still compressed. */
  readonly body: Buffer;
};

/** Gets what a browser would, and keeps it as it came: `fetch` would undo the compression that is to be weighed. */
const transfer = (url: string, encoding = 'gzip'): Promise<Transferred> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers: { 'Accept-Encoding': encoding }, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });

describe('the assets of the pages', () => {
  let served: ServedPages;
  before(async () => (served = await servePages()));
  after(() => served.stop());

  it('may be kept for ever, since their contents name them', async () => {
    for (const url of [...assetUrls.styles, assetUrls.script]) {
      expect(url).to.match(/^\/assets\/[0-9a-f]{16}\/[a-z.]+$/);
      const { status, headers } = await transfer(served.url + url);
      expect(status).to.equal(200);
      expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
      expect(headers['content-type']).to.equal(
        url.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
      );
    }
    const another = assetUrls.script.replace(/[0-9a-f]{16}/, '0'.repeat(16));
    expect((await transfer(served.url + another)).status).to.equal(404);
  });

  it('are the same compressed and not', async () => {
    for (const url of [...assetUrls.styles, assetUrls.script]) {
      const small = await transfer(served.url + url);
      const large = await transfer(served.url + url, 'identity');
      expect(small.headers['content-encoding']).to.equal('gzip');
      expect(small.headers['vary']).to.equal('Accept-Encoding');
      expect(large.headers['content-encoding']).to.equal(undefined);
      expect(gunzipSync(small.body).equals(large.body)).to.equal(true);
    }
  });

  it('have one small script that stores nothing', async () => {
    const { body } = await transfer(served.url + assetUrls.script, 'identity');
    expect(body.length).to.be.lessThan(scriptBytesMax);
    expect(body.toString()).to.not.match(/localStorage|sessionStorage|indexedDB|cookie/);
  });

  it('weigh with any page less than 100 kB on the wire', async () => {
    for (const name of Object.keys(pages)) {
      const page = await transfer(`${served.url}/pages/${name}`);
      const linked = [...page.body.toString().matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)];
      expect(linked).to.have.length(3);
      const assets = await Promise.all(linked.map(([, path]) => transfer(`${served.url}${path}`)));
      const bytes = [page, ...assets].reduce((sum, { body }) => sum + body.length, 0);
      expect(bytes, name).to.be.lessThan(pageBytesMax);
    }
  });
});

describe('the answer with a page', () => {
  it('forbids what the page does not need, and to keep it', async () => {
    const served = await servePages();
    const { headers } = await transfer(`${served.url}/pages/api-key-created`);
    await served.stop();
    expect(headers['content-security-policy']).to.equal(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; " +
        "base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers['cache-control']).to.equal('no-store');
    expect(headers['referrer-policy']).to.equal('same-origin');
    expect(headers['cross-origin-opener-policy']).to.equal('same-origin');
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    // A length that depends on a secret beside what an attacker chooses tells the secret (BREACH).
    expect(headers['content-encoding']).to.equal(undefined);
  });
});
