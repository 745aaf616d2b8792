import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectAccessible, launchBrowser, takePicture, watchPage, whyNoBrowser } from '../support/browser.ts';
import { adminToken, verifierToken } from '../support/program.ts';
import { serving } from '../support/serving.ts';
import { makeKeyByForm, person, signedIn } from '../support/web.ts';

/** How long the command that a page shows may take, in milliseconds. */
const commandTimeoutMs = 15_000;

const bearerForm = /sab_\w{49}/;
const alice = person('unused', { role: 'writer' });

/** Every sentence of the activity that is shown, the newest first. */
const told = (page: Page) => page.locator('.timeline > li > div > p:first-child').allTextContents();

describe(`the operator console in a browser${whyNoBrowser === undefined ? '' : ` (skipped: ${whyNoBrowser})`}`, function () {
  this.timeout(120_000);
  const { client, program } = serving();
  let browser: Browser;
  before(async function () {
    if (whyNoBrowser !== undefined) this.skip();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
  });

  /** What one person does there, with a script and without. */
  const operatorOf = async (context: BrowserContext, hasScript: boolean) => {
    const page = await context.newPage();
    const { url } = program();
    const faults = watchPage(page, url);
    const heading = async (title: string): Promise<void> => {
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      if (!hasScript) return;
      await expectAccessible(page, title);
      await takePicture(page, `console-life-${title.toLowerCase().replaceAll(/\W+/g, '-')}`);
    };
    return {
      page,
      faults,
      heading,
      open: async (path: string, title: string) => {
        await page.goto(`${url}${path}`);
        await heading(title);
      },
      click: async (role: 'link' | 'button', name: string, title: string) => {
        await page.getByRole(role, { name, exact: true }).first().click();
        await heading(title);
      },
      notice: () => page.getByRole('status').first().textContent(),
    };
  };

  const statusOf = async (tenant: string, pair: { readonly username: string; readonly password: string }) => {
    const { username, password } = pair;
    const { body } = await client('POST', `/admin/v1/tenants/${tenant}/authenticate`, {
      token: verifierToken,
      body: { username, password },
    });
    return body.active as boolean;
  };

  const mint = (tenant: string, bearer: string, subject: string) =>
    client('POST', `/admin/v1/tenants/${tenant}/tokens`, {
      token: bearer,
      body: { subject, role: 'reader', ttl_secs: 600 },
    });

  /** The bearer that the page shows with a command that works, and neither a reload nor the way back shows again. */
  const bearerOnce = async ({ page, heading }: Awaited<ReturnType<typeof operatorOf>>): Promise<string> => {
    const bearer = (await page.locator('#secret').textContent()) ?? '';
    expect(bearer).to.match(bearerForm);
    const command = (await page.locator('#command').textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { timeout: commandTimeoutMs });
    expect(JSON.parse(stdout)).to.include({ role: 'reader' }).and.to.have.property('password');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('heading', { level: 1, name: 'Service accounts' }).waitFor();
    await page.goBack();
    await heading('This bearer was shown once');
    expect(await page.content()).to.not.match(bearerForm);
    await page.reload();
    expect(await page.content()).to.not.match(bearerForm);
    return bearer;
  };

  for (const [hasScript, tenant] of [
    [true, 'with-script'],
    [false, 'without-script'],
  ] as const) {
    it(`looks after a tenant for the whole of its life, ${hasScript ? 'with' : 'without'} a script`, async () => {
      const context = await browser.newContext({ javaScriptEnabled: hasScript });
      const operator = await operatorOf(context, hasScript);
      const { page, open, click, heading, notice } = operator;

      await open('/console', 'Operator console');
      await page.getByLabel('Admin token').fill(adminToken);
      await click('button', 'Sign in', 'Tenants');
      await page.getByLabel('ID of the new tenant').fill(tenant);
      await click('button', 'Create tenant', tenant);
      expect(await notice()).to.equal('The tenant is created.');

      await click('link', 'Create user', 'Create user');
      await page.getByLabel('Username').fill(alice.username);
      await page.getByLabel('Password').fill(alice.password);
      await page.getByLabel('Writer').check();
      await click('button', 'Create user', 'Users');
      expect(await page.getByRole('row', { name: 'alice' }).textContent()).to.contain('Writer');
      expect(await statusOf(tenant, alice)).to.equal(true);

      await page.getByRole('link', { name: 'Overview' }).click();
      await click('link', 'Create service account', 'Create service account');
      expect(await page.getByLabel('Tenant').inputValue()).to.equal(tenant);
      await page.getByLabel('Name').fill('Deploys');
      await click('button', 'Create service account', 'The new bearer of Deploys');
      const first = await bearerOnce(operator);
      const minted = await mint(tenant, first, 'build 42');
      expect(minted.status, minted.text).to.equal(201);

      await open(`/console/tenants/${tenant}/credentials`, 'Credentials');
      const build = page.getByRole('row', { name: 'build 42' });
      expect(await build.textContent())
        .to.contain('Active')
        .and.to.contain('Deploys');
      expect(await page.content()).to.not.contain(minted.body.password);
      expect(await statusOf(tenant, minted.body)).to.equal(true);
      await build.getByRole('link', { name: 'Revoke' }).click();
      await heading('Revoke credential');
      expect(await page.locator('main').textContent()).to.contain('build 42');
      await click('button', 'Revoke this credential', 'Credentials');
      expect(await notice()).to.contain('revoked');
      expect(await build.textContent()).to.contain('Revoked');
      expect(await statusOf(tenant, minted.body)).to.equal(false);

      await click('link', 'Service accounts', 'Service accounts');
      await page.getByRole('row', { name: 'Deploys' }).first().getByRole('link', { name: 'Rotate' }).click();
      await heading('Rotate bearer');
      await page.getByLabel('The present bearer stops working').selectOption('0');
      await click('button', 'Rotate this bearer', 'The new bearer of Deploys');
      const second = await bearerOnce(operator);
      expect((await mint(tenant, first, 'late')).status).to.equal(401);
      const last = await mint(tenant, second, 'build 43');
      expect(last.status, last.text).to.equal(201);

      const user = await signedIn(() => program().url, { ...alice, workspace: tenant });
      const { key } = await makeKeyByForm(user, tenant, { name: 'Reports' });
      const callWith = () => client('GET', '/workflows', { token: null, headers: { 'X-API-Key': key } });
      expect((await callWith()).status).to.equal(200);
      await open(`/console/tenants/${tenant}/api-keys`, 'API keys');
      await page.getByRole('row', { name: 'Reports' }).getByRole('link', { name: 'Revoke' }).click();
      await heading('Revoke API key');
      expect(await page.locator('main').textContent()).to.contain('Reports');
      await click('button', 'Revoke this key', 'API keys');
      expect((await callWith()).body.code).to.equal('api-key.revoked');

      await open('/console/service-accounts', 'Service accounts');
      await page
        .getByRole('row', { name: `Deploys` })
        .filter({ hasText: tenant })
        .getByRole('link', { name: 'Delete' })
        .click();
      await heading('Delete service account');
      await click('button', 'Delete this service account', 'Service accounts');
      expect(await notice()).to.contain('deleted');
      expect((await mint(tenant, second, 'late')).status).to.equal(401);
      expect(await statusOf(tenant, last.body)).to.equal(false);

      await open(`/console/tenants/${tenant}/users`, 'Users');
      await page.getByRole('link', { name: 'Delete alice' }).click();
      await heading('Delete user');
      await click('button', 'Delete this user', 'Users');
      expect(await statusOf(tenant, alice)).to.equal(false);
      expect((await user.get(`/w/${tenant}`)).location).to.match(/^\/sign-in/);

      await click('link', 'Activity', 'Activity');
      expect((await told(page)).map((sentence) => sentence.replaceAll(/ \(.*/g, ''))).to.deep.equal([
        'Deleted user alice',
        'Deleted service account Deploys and revoked what it minted',
        'Revoked API key Reports',
        'Created API key Reports',
        'alice signed in',
        'Minted a credential for build 43',
        'Minted a credential for first try',
        'Rotated the bearer of service account Deploys',
        'Revoked the credential of build 42',
        'Minted a credential for build 42',
        'Minted a credential for first try',
        'Created service account Deploys',
        'Created user alice as writer',
        'Created the tenant',
      ]);
      await page.locator('details summary', { hasText: 'Details of UserCreated' }).click();
      expect(await page.locator('details[open] pre').textContent()).to.contain('"username": "alice"');
      expect(await page.content()).to.not.match(/digest|hash|argon2/);

      await page.getByRole('link', { name: 'Overview' }).click();
      await click('link', 'Delete tenant', `Delete tenant ${tenant}`);
      await page.getByLabel(`Type “${tenant}” to confirm`).fill(tenant);
      await click('button', 'Delete this tenant', 'Activity');
      expect(await notice()).to.contain('The tenant is deleted');
      expect((await told(page))[0]).to.equal('Deleted the tenant, with everything in it');
      await page.locator('main').getByRole('link', { name: 'Tenants' }).click();
      await heading('Tenants');
      expect(await page.locator('main').textContent()).to.not.contain(tenant);

      await page.locator('[data-menu] summary').click();
      await click('button', 'Sign out', 'Operator console');
      await open('/console', 'Operator console');
      expect(operator.faults).to.deep.equal([]);
      await context.close();
    });
  }
});
