import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectAccessible, launchBrowser, takePicture, watchPage, whyNoBrowser } from '../support/browser.ts';
import { arrangeAccount, mint } from '../support/client.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { adminToken, freshFolder, removeFolder } from '../support/program.ts';
import { serveInProcess, type InProcess } from '../support/serving.ts';

const dayMs = 86_400_000;

/** How long what is arranged lies back; the slider shows all of it. */
const lifeDays = 40;

const password = 'correct horse battery staple';

/** Every sentence that is shown, in its order. */
const told = (page: Page): Promise<string[]> =>
  page.locator('.timeline > li > div > p:first-child').allTextContents();

describe(`what was, in a browser${whyNoBrowser === undefined ? '' : ` (skipped: ${whyNoBrowser})`}`, function () {
  this.timeout(120_000);
  const dir = freshFolder();
  // The browser's cookies live by the machine's clock, so that the service's ends where that is.
  const clock = createHandClock(Date.now() - lifeDays * dayMs);
  let service: InProcess;
  let browser: Browser;

  const makeUser = (tenant: string, username: string) =>
    service.client('POST', `/admin/v1/tenants/${tenant}/users`, {
      body: { username, password, role: 'writer' },
    });

  before(async function () {
    if (whyNoBrowser !== undefined) this.skip();
    service = await serveInProcess(dir, { clock: clock.wallMs });
    const { client } = service;
    await client('POST', '/admin/v1/tenants', { body: { id: 'acme' } });
    await client('POST', '/admin/v1/tenants', { body: { id: 'passed' } });
    await makeUser('acme', 'alice');
    await makeUser('acme', 'bob');
    clock.pass(10 * dayMs);
    const { bearer } = await arrangeAccount(client, 'acme');
    await mint(client, 'acme', bearer, { subject: 'build 42' });
    clock.pass(10 * dayMs);
    const left = { headers: { 'X-Reason': 'He left us.' } };
    await client('DELETE', '/admin/v1/tenants/acme/users/bob', left);
    await client('DELETE', '/admin/v1/tenants/passed');
    clock.pass(20 * dayMs);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    removeFolder(dir);
  });

  /** Somebody who has signed in to the console there. */
  const operatorIn = async (context: BrowserContext) => {
    const page = await context.newPage();
    const faults = watchPage(page, service.url);
    const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.goto(`${service.url}/console/sign-in`);
    await page.getByLabel('Admin token').fill(adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading('Tenants');
    return {
      page,
      faults,
      heading,
      open: async (path: string, name: string) => {
        await page.goto(service.url + path);
        await heading(name);
      },
      main: () => page.locator('main').textContent(),
    };
  };

  for (const hasScript of [true, false]) {
    it(`is looked through and led to, ${hasScript ? 'with' : 'without'} a script`, async () => {
      const context = await browser.newContext({ javaScriptEnabled: hasScript });
      const { page, faults, heading, open } = await operatorIn(context);
      const looksRight = async (name: string): Promise<void> => {
        if (!hasScript) return;
        await expectAccessible(page, name);
        await takePicture(page, `history-${name}`);
      };

      await page.getByRole('link', { name: 'Audit', exact: true }).click();
      await heading('Audit log');
      expect(await told(page))
        .to.include('Deleted user bob')
        .and.to.include('Created user alice as writer');
      await page.getByText('Filter', { exact: true }).click();
      await page.getByLabel('Type').selectOption('UserDeleted');
      await page.getByLabel('Tenant').fill('acme');
      await page.getByRole('button', { name: 'Show events' }).click();
      await page.waitForURL(/type=UserDeleted/);
      expect(await told(page)).to.deep.equal(['Deleted user bob']);
      await looksRight('events');

      await page.getByRole('link', { name: /^Event / }).click();
      await heading('UserDeleted');
      const event = await page.locator('main').textContent();
      expect(event).to.contain('“He left us.”').and.to.contain('This is all that the request did.');
      await looksRight('event');
      await page.getByRole('link', { name: 'as it was then' }).click();
      await heading('acme');
      expect(await page.locator('.past').textContent()).to.contain('As of');
      await looksRight('tenant-then');

      await open('/console/tenants/acme/access', 'Access');
      const bars = page.locator('.chart svg[role=img]');
      const labels = await bars.evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-label')));
      expect(labels.map((label) => label?.split(':')[0])).to.deep.equal([
        'Credential build 42',
        'Service account tester',
        'User bob',
        'User alice',
      ]);
      expect(labels[2]).to.match(/: from .* UTC, until .* UTC$/);
      expect(labels[3]).to.match(/: from .* UTC, no end$/);
      await looksRight('access');
      // Half the life of the log: as wide as half the chart.
      const bob = await bars.nth(2).locator('rect').boundingBox();
      const whole = await bars.nth(2).boundingBox();
      expect((bob?.width ?? 0) / (whole?.width ?? 1)).to.be.closeTo(0.5, 0.02);
      await page.getByLabel('Kind').selectOption('user');
      await page.getByRole('button', { name: 'Show access' }).click();
      await page.waitForURL(/kind=user/);
      expect(await bars.count()).to.equal(2);
      await page.getByRole('link', { name: 'UserDeleted of bob' }).click();
      await heading('UserDeleted');
      expect(faults).to.deep.equal([]);
      await context.close();
    });
  }

  it('is moved through by a slider, which asks when it is let go, and comes back to now at its end', async () => {
    const context = await browser.newContext();
    const { page, faults, open, main } = await operatorIn(context);
    await open('/console/tenants/acme/users', 'Users');
    expect(await main()).to.not.contain('bob');
    await page.getByText('Look at the past').click();
    const slider = page.getByRole('slider', { name: 'Move through time' });
    const dragTo = async (share: number): Promise<void> => {
      const { x = 0, y = 0, width = 0, height = 0 } = (await slider.boundingBox()) ?? {};
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + share * width, y + height / 2, { steps: 5 });
      // It is let go wherever the hand has got to.
      await page.mouse.move(x + share * width, y + 8 * height);
      await page.mouse.up();
    };
    await Promise.all([page.waitForURL(/as_of=\d{4}/), dragTo(0.25)]);
    expect(await main())
      .to.contain('bob')
      .and.to.contain('Nothing can be changed here');
    expect(await page.getByRole('link', { name: 'Delete' }).count()).to.equal(0);
    const chosen = Date.parse(`${await page.getByLabel('Date and time (UTC)').inputValue()}Z`);
    expect((clock.wallMs() - chosen) / dayMs).to.be.closeTo(30, 2);
    await expectAccessible(page, 'users as of then');
    await takePicture(page, 'history-users-then');

    // By the keyboard it moves the field, and asks when it is told to.
    await slider.press('ArrowRight');
    const moved = await page.getByLabel('Date and time (UTC)').inputValue();
    expect(Date.parse(`${moved}Z`)).to.be.above(chosen);
    expect(page.url()).to.not.contain(encodeURIComponent(moved));
    await Promise.all([
      page.waitForURL((url) => url.searchParams.get('as_of') === moved),
      page.getByRole('button', { name: 'Show' }).click(),
    ]);
    expect(await main()).to.contain('bob');

    await Promise.all([page.waitForURL(/as_of=$/), dragTo(1)]);
    expect(await main())
      .to.not.contain('bob')
      .and.to.not.contain('As of');
    expect(faults).to.deep.equal([]);
    await context.close();
  });

  it('is asked for by a field without a script, where what was deleted is still there', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const { page, faults, heading, main } = await operatorIn(context);
    expect(await main()).to.not.contain('passed');
    await page.getByText('Look at the past').click();
    expect(await page.getByRole('slider').isVisible()).to.equal(false);
    const then = new Date(clock.wallMs() - 25 * dayMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
    await page.getByLabel('Date and time (UTC)').fill(then);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(/as_of=/);
    expect(await page.getByRole('button', { name: 'Create tenant' }).count()).to.equal(0);
    await page.getByRole('link', { name: 'passed', exact: true }).click();
    await heading('passed');
    await page.getByRole('link', { name: 'Tenants', exact: true }).first().click();
    await page.getByRole('link', { name: 'acme', exact: true }).click();
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await heading('Users');
    expect(await main())
      .to.contain('bob')
      .and.to.contain('As of');
    await page.getByRole('link', { name: 'Back to now' }).click();
    await heading('Users');
    expect(await main())
      .to.contain('alice')
      .and.to.not.contain('bob');
    expect(faults).to.deep.equal([]);
    await context.close();
  });
});
