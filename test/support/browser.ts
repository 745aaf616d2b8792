import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { chromium, type Browser, type Page } from 'playwright-core';
import { freshFolder } from './program.ts';

/** Where Debian's package puts it. */
const chromiumPath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Why no browser can be driven here, where none can. */
export const whyNoBrowser = existsSync(chromiumPath) ? undefined : `no Chromium at ${chromiumPath}`;

/** Pictures of the pages that tests have seen; git ignores the folder. */
const screenshots = fileURLToPath(new URL('../../../screenshots/', import.meta.url));

/** The machine's own Chromium with nothing remembered, and nothing that calls home. */
export const launchBrowser = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
    env: { ...process.env, XDG_CONFIG_HOME: freshFolder() },
  });

/** What a page did that it should not have: requests that failed or left the service, script errors, CSP violations. */
export const watchPage = (page: Page, origin: string): readonly string[] => {
  const faults: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:')) faults.push(`left the service: ${url}`);
  });
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  page.on('pageerror', (error) => faults.push(`script error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  return faults;
};

/** Takes a picture of the whole page. */
export const takePicture = async (page: Page, name: string): Promise<void> => {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png`, fullPage: true });
};

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type AxeResult = {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
};

/** Holds a page to having no fault that axe finds; `name` says which page in the failure. */
export const expectAccessible = async (page: Page, name: string): Promise<void> => {
  // Not as a script of the page, which its own policy would forbid.
  await page.evaluate(axe);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResult;
  const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  expect(found, name).to.deep.equal([]);
};
