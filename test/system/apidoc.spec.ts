import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { launchBrowser, takePicture, watchPage, whyNoBrowser } from '../support/browser.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';

describe(`the API reference in a browser${whyNoBrowser === undefined ? '' : ` (skipped: ${whyNoBrowser})`}`, function () {
  this.timeout(60_000);
  const dir = freshFolder();
  let program: Program;
  let browser: Browser;

  before(async function () {
    if (whyNoBrowser !== undefined) this.skip();
    program = await startProgram({ dir });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await program?.stop();
    removeFolder(dir);
  });

  it('needs nothing but the service, authorizes, and makes a real call', async () => {
    const page = await browser.newPage();
    const faults = watchPage(page, program.url);
    await page.goto(`${program.url}/apidoc`, { waitUntil: 'networkidle' });
    await page.getByRole('heading', { name: /Keyledger Admin API/ }).waitFor();

    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.getByLabel('auth-bearer-value').fill(adminToken);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.getByRole('button', { name: 'Close' }).click();

    await page.locator('#operations-Tenants-createTenant .opblock-summary-control').click();
    const operation = page.locator('#operations-Tenants-createTenant');
    await operation.locator('textarea').fill('{"id": "from-the-page"}');
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table tbody .response-col_status').first();
    await answer.waitFor();
    expect(await answer.textContent()).to.contain('201');
    await takePicture(page, 'apidoc');
    expect(faults).to.deep.equal([]);

    const listed = await fetch(`${program.url}/admin/v1/tenants`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    expect(await listed.text()).to.contain('"id":"from-the-page"');
  });

  it('offers the document as JSON and YAML, of the version that runs', async () => {
    const json = await fetch(`${program.url}/apidoc/admin.json`);
    const yaml = await fetch(`${program.url}/apidoc/admin.yaml`);
    const document = (await json.json()) as { openapi: string; info: { version: string } };
    const metrics = await (await fetch(`${program.url}/metrics`)).text();
    expect(document.openapi).to.equal('3.1.0');
    expect(metrics).to.contain(`build_info{version="${document.info.version}"} 1`);
    expect(await yaml.text()).to.contain('openapi: 3.1.0');
  });
});
