import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { expectAccessible, launchBrowser, takePicture, watchPage, whyNoBrowser } from '../support/browser.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { arrangeWorkspaces, type Workspace } from '../support/workspace.ts';

const authorize = async (page: Page, field: string, secret: string): Promise<void> => {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.getByLabel(field).fill(secret);
  await page.getByRole('button', { name: 'Apply credentials' }).click();
  await page.getByRole('button', { name: 'Close' }).click();
};

/** Opens an operation, sends what `fill` puts in, and answers the status that the page shows. */
const execute = async (
  page: Page,
  operation: string,
  fill: (at: ReturnType<Page['locator']>) => Promise<void>,
): Promise<string | null> => {
  const at = page.locator(`#operations-${operation}`);
  await at.locator('.opblock-summary-control').click();
  await fill(at);
  await at.getByRole('button', { name: 'Execute' }).click();
  const answer = at.locator('.live-responses-table tbody .response-col_status').first();
  await answer.waitFor();
  return answer.textContent();
};

describe(`the API reference in a browser${whyNoBrowser === undefined ? '' : ` (skipped: ${whyNoBrowser})`}`, function () {
  this.timeout(60_000);
  const dir = freshFolder();
  let program: Program;
  let browser: Browser;
  let acme: Workspace | undefined;

  before(async function () {
    if (whyNoBrowser !== undefined) this.skip();
    [acme] = await arrangeWorkspaces(dir, ['acme']);
    program = await startProgram({ dir });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await program?.stop();
    removeFolder(dir);
  });

  const open = async (api: 'Workspace API' | 'Admin API', context: Pick<Browser, 'newPage'> = browser) => {
    const page = await context.newPage();
    const faults = watchPage(page, program.url);
    await page.goto(`${program.url}/apidoc`, { waitUntil: 'networkidle' });
    await page.getByLabel('Select a definition').selectOption({ label: api });
    await page.getByRole('heading', { name: `Keyledger ${api}` }).waitFor();
    return { page, faults };
  };

  it('needs nothing but the service, authorizes as the operator, and makes a real call', async () => {
    const { page, faults } = await open('Admin API');
    await authorize(page, 'auth-bearer-value', adminToken);
    const status = await execute(page, 'Tenants-createTenant', (at) =>
      at.locator('textarea').fill('{"id": "from-the-page"}'),
    );
    expect(status).to.contain('201');
    await takePicture(page, 'apidoc-admin');
    expect(faults).to.deep.equal([]);

    const listed = await fetch(`${program.url}/admin/v1/tenants`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    expect(await listed.text()).to.contain('"id":"from-the-page"');
  });

  it('shows the workspace API first, authorizes with an API key, and makes a real call', async () => {
    const { page, faults } = await open('Workspace API');
    const key = acme?.writer.key ?? '';
    await authorize(page, 'Value:', key);
    const status = await execute(page, 'Agents-createAgent', async (at) => {
      await at.getByPlaceholder('workspace_id').fill('acme');
      await at.locator('textarea').fill('{"name": "From the page"}');
    });
    expect(status).to.contain('201');
    await takePicture(page, 'apidoc-workspace');
    expect(faults).to.deep.equal([]);

    const listed = await fetch(`${program.url}/api/acme/agents`, { headers: { 'X-API-Key': key } });
    expect(await listed.text()).to.contain('"name":"From the page"');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no fault of accessibility, but in what an opened operation shows: ${colorScheme}`, async () => {
      const context = await browser.newContext({ colorScheme });
      for (const api of ['Workspace API', 'Admin API'] as const) {
        const { page, faults } = await open(api, context);
        await page.locator('#operations .opblock-tag[aria-level="2"]').first().waitFor();
        await expectAccessible(page, api);
        expect(faults).to.deep.equal([]);
      }
      await context.close();
    });
  }

  for (const name of ['admin', 'workspace']) {
    it(`offers the document of the ${name} API as JSON and YAML, of the version that runs`, async () => {
      const page = await (await fetch(`${program.url}/apidoc`)).text();
      expect(page).to.contain(`href="/apidoc/${name}.json"`).and.to.contain(`href="/apidoc/${name}.yaml"`);
      const json = await fetch(`${program.url}/apidoc/${name}.json`);
      const yaml = await fetch(`${program.url}/apidoc/${name}.yaml`);
      const document = (await json.json()) as { openapi: string; info: { version: string } };
      const metrics = await (await fetch(`${program.url}/metrics`)).text();
      expect(document.openapi).to.equal('3.1.0');
      expect(metrics).to.contain(`build_info{version="${document.info.version}"} 1`);
      expect(await yaml.text()).to.contain('openapi: 3.1.0');
    });
  }
});
