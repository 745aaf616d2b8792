import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { expectAccessible, launchBrowser, takePicture, watchPage, whyNoBrowser } from '../support/browser.ts';
import { pages, secret, servePages, type ServedPages } from '../support/pages.tsx';

const looks = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 375, height: 667 } },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 375, height: 667 } },
} as const;

describe(`the pages in a browser${whyNoBrowser === undefined ? '' : ` (skipped: ${whyNoBrowser})`}`, function () {
  this.timeout(240_000);
  let served: ServedPages;
  let url: string;
  let browser: Browser;
  before(async function () {
    if (whyNoBrowser !== undefined) this.skip();
    served = await servePages();
    ({ url } = served);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await served?.stop();
  });

  for (const [look, { colorScheme, viewport }] of Object.entries(looks)) {
    it(`have no fault of accessibility, no fault at all, and fit: ${look}`, async () => {
      const context = await browser.newContext({ colorScheme, viewport, reducedMotion: 'reduce' });
      const page = await context.newPage();
      const faults = watchPage(page, url);
      for (const name of Object.keys(pages)) {
        await page.goto(`${url}/pages/${name}`);
        const menu = page.locator('[data-menu]');
        if ((await menu.count()) > 0 && name === 'home') await menu.locator('summary').click();
        await expectAccessible(page, name);
        const overflow = (await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )) as number;
        expect(overflow, `${name} scrolls sideways`).to.equal(0);
        await takePicture(page, `${look}-${name}`);
      }
      await context.close();
      expect(faults).to.deep.equal([]);
    });
  }

  it('close the menu on Escape and on a click outside', async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/pages/home`);
    const summary = page.locator('[data-menu] summary');
    const signOut = page.getByRole('button', { name: 'Sign out' });
    await summary.click();
    await signOut.waitFor({ state: 'visible' });
    await page.keyboard.press('Escape');
    await signOut.waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.tagName')).to.equal('SUMMARY');
    await summary.click();
    await signOut.waitFor({ state: 'visible' });
    await page.getByRole('heading', { level: 1 }).click();
    await signOut.waitFor({ state: 'hidden' });
    await page.close();
  });

  it('copy a secret, and have none left when they are left', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await page.goto(`${url}/pages/api-key-created`);
    await page.getByRole('button', { name: 'Copy the API key' }).click();
    await page.locator('#announce').getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(secret);
    expect(await page.content()).to.contain(secret);
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
    expect(await page.content()).to.not.contain(secret);
    await context.close();
  });

  it('send a form once, however often it is clicked', async () => {
    const page = await browser.newPage();
    let sent = 0;
    await page.route('**/revoke', async (route) => {
      sent += 1;
      // Nothing comes of it (204), so that the page stays and could be clicked again.
      await route.fulfill({ status: 204 });
    });
    await page.goto(`${url}/pages/api-key-revoke`);
    const button = page.getByRole('button', { name: 'Revoke this key' });
    await Promise.all([page.waitForResponse('**/revoke'), button.dblclick()]);
    await button.click({ force: true });
    expect(sent).to.equal(1);
    await page.close();
  });

  it('ask for a date only where one is wanted, and go to the faults of a form', async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/pages/api-key-new`);
    const date = page.locator('#expires_date');
    await date.waitFor({ state: 'hidden' });
    await page.getByLabel('Custom date').first().check();
    await date.waitFor({ state: 'visible' });
    await page.getByLabel('30 days').check();
    await date.waitFor({ state: 'hidden' });
    await page.goto(`${url}/pages/api-key-new-wrong`);
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).to.equal('alert');
    await page.getByRole('link', { name: 'Give the key a name.' }).click();
    await page.keyboard.type('CI');
    expect(await page.locator('#name').inputValue()).to.equal('CI');
    await page.close();
  });

  it('work without a script: nothing is hidden but what only a script could do', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${url}/pages/api-key-new`);
    expect(await page.locator('#expires_date').isVisible()).to.equal(true);
    await page.locator('[data-menu] summary').click();
    expect(await page.getByRole('button', { name: 'Sign out' }).isVisible()).to.equal(true);
    await page.goto(`${url}/pages/api-key-created`);
    expect(await page.locator('#secret').textContent()).to.equal(secret);
    expect(await page.locator('[data-copy]').first().isVisible()).to.equal(false);
    await context.close();
  });
});
