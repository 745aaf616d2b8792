import { expect } from 'chai';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { ApiKeysPage, type ApiKeyRecord } from '../../../src/http/pages/api-keys.tsx';
import { errorOf } from '../../../src/http/pages/fields.tsx';
import { distanceText, instantText } from '../../../src/http/pages/time.tsx';
import { timePlus } from '../../support/examples.ts';
import { dayMs, formErrors, here, hostilePages, key, pages, secret } from '../../support/pages.tsx';

const hourMs = 3_600_000;

/** The start tags of a page, outside of which nothing can run or style. */
const tagsOf = (html: string): readonly string[] =>
  html.match(/<[a-z][^\s>]*(?:\s+[^\s=>]+(?:="[^"]*")?)*\s*\/?>/g) ?? [];

const nearOf = (record: ApiKeyRecord): boolean =>
  renderToString(<ApiKeysPage {...here} keys={[record]} />).includes('class="time near"');

describe('the pages', () => {
  it('show what looks like HTML as text', () => {
    for (const page of hostilePages) {
      const html = renderToString(page);
      expect(html).to.not.contain('<img');
      expect(html).to.contain('&lt;img src=x onerror=alert(1)>&quot;');
    }
  });

  it('have nothing inline: no style, no handler, no script but one with an address', () => {
    for (const page of [...Object.values(pages), ...hostilePages]) {
      const html = renderToString(page);
      expect(html).to.not.match(/<style/i);
      // Values are taken out, so that only the names of attributes are left.
      for (const tag of tagsOf(html))
        expect(tag.replaceAll(/"[^"]*"/g, '""')).to.not.match(/\s(style|on\w+)=/i);
      for (const script of html.match(/<script[^>]*>/g) ?? []) expect(script).to.match(/ src="\/assets\//);
      expect(html).to.not.match(/href="javascript:/i);
    }
  });

  it('have one main heading, a title of their own, a language, and a way past the navigation', () => {
    for (const page of Object.values(pages)) {
      const html = renderToString(page);
      expect(html.match(/<h1[\s>]/g)).to.have.length(1);
      expect(html).to.match(/<title>[^<]+ · Keyledger<\/title>/);
      expect(html).to.match(/^<html lang="en">/);
      expect(html).to.contain('href="#content"').and.to.contain('<main id="content"');
    }
  });

  it('tie each fault to its field, by a description there and a link in the summary', () => {
    const html = renderToString(pages['api-key-new-wrong'] as VNode);
    for (const { pointer, detail } of formErrors) {
      const name = pointer.slice(1);
      expect(html).to.match(new RegExp(`id="${name}-error"[^>]*><span class="sr">Error: </span>${detail}`));
      expect(html).to.contain(`<a href="#${name}">${detail}</a>`);
      expect(html).to.match(new RegExp(`<(input|select)[^>]* id="${name}"`));
      expect(html).to.match(new RegExp(`aria-describedby="[^"]*\\b${name}-error"[^>]* aria-invalid="true"`));
    }
    expect(renderToString(pages['api-key-new'] as VNode)).to.not.contain('aria-invalid');
  });

  it('show a secret on the one page that is for it, and there in what the script empties', () => {
    for (const [name, page] of Object.entries(pages)) {
      const html = renderToString(page);
      const shown = html.split(secret).length - 1;
      expect(shown, name).to.equal(name === 'api-key-created' ? 2 : 0);
      const emptied = [...html.matchAll(/<code[^>]* data-secret[^>]*>([^<]*)</g)].map(([, text]) => text);
      expect(
        emptied.filter((text) => text?.includes(secret)),
        name,
      ).to.have.length(shown);
    }
  });

  it('offer to roll or revoke a key that works, and no other', () => {
    const html = renderToString(pages['api-keys'] as VNode);
    expect(html.match(/\/api-keys\/[^"]+\/revoke"/g)).to.have.length(3);
    expect(html.match(/\/api-keys\/[^"]+\/roll"/g)).to.have.length(3);
  });

  it('send a form nowhere but to the service, and by POST unless it only asks the console for what it shows', () => {
    const asks = / method="get" action="\/console[/"]/;
    for (const page of Object.values(pages)) {
      const html = renderToString(page);
      for (const [tag = '', inside = ''] of html.matchAll(/<form[^>]*>(.*?)<\/form>/gs)) {
        const [start = ''] = tag.match(/<form[^>]*>/) ?? [];
        if (asks.test(start)) expect(inside).to.not.contain('type="password"');
        else expect(start).to.match(/ method="post" action="\/[a-z]/);
      }
    }
  });
});

describe('times on pages', () => {
  it('are read in UTC', () =>
    expect(instantText('2026-11-21T15:04:59.999Z')).to.equal('21 Nov 2026, 15:04 UTC'));

  it('are rounded down in the largest unit that fits', () => {
    expect(distanceText(3 * dayMs + hourMs)).to.equal('in 3 days');
    expect(distanceText(-5 * 60_000)).to.equal('5 minutes ago');
    expect(distanceText(-hourMs)).to.equal('1 hour ago');
    expect(distanceText(-59_999)).to.equal('just now');
    expect(distanceText(1)).to.equal('in less than a minute');
    expect(distanceText(800 * dayMs)).to.equal('in 2 years');
  });

  it('point out an expiry within seven days, of a key that works', () => {
    expect(nearOf({ ...key, expires_at: timePlus(7 * dayMs) })).to.equal(true);
    expect(nearOf({ ...key, expires_at: timePlus(7 * dayMs + 1) })).to.equal(false);
    expect(nearOf({ ...key, expires_at: timePlus(-1) })).to.equal(false);
    expect(nearOf({ ...key, expires_at: timePlus(dayMs), status: 'revoked' })).to.equal(false);
  });
});

describe('the faults of a field', () => {
  it('are those whose pointer names it', () => {
    expect(errorOf(formErrors, 'name')).to.equal('Give the key a name.');
    expect(errorOf(formErrors, 'overlap_secs')).to.equal(undefined);
  });
});
