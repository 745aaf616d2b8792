import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { launchBrowser, whyNoBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { until } from '../support/waiting.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The README's shell blocks, in order: the start, the tests, then the tour. */
const shellBlocks = (): readonly string[] =>
  [...readFileSync(`${root}README.md`, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block.trim(),
  );

describe('the README', function () {
  this.timeout(60_000);
  const dirs: string[] = [];
  const fresh = (): string => {
    const dir = freshFolder();
    dirs.push(dir);
    return dir;
  };
  after(() => dirs.forEach(removeFolder));

  it('has exactly two commands to set up, each of one line', () => {
    const [start, test] = shellBlocks();
    expect(start).to.match(/^npm ci && SERVICE_CP_ADMIN_TOKEN=\S+ npm start$/);
    expect(test).to.equal('npm ci && npm test');
  });

  /** Starts the service by the README's own command, but on a port and a folder of its own; ends it after the work. */
  const started = async (work: (port: number) => Promise<void>): Promise<void> => {
    const [start = ''] = shellBlocks();
    const port = await freePort();
    // What is installed is installed; the port is another, so that a service that runs here is left alone.
    const command = start.replace(/^npm ci && /, '');
    const service = spawn('bash', ['-c', `exec env ${command}`], {
      cwd: root,
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, SERVICE_PORT: String(port), SERVICE_DATA_DIR: fresh() },
    });
    const exited = once(service, 'exit');
    try {
      await until(
        'the service is ready',
        async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true,
      );
      await work(port);
    } finally {
      process.kill(-(service.pid ?? 0), 'SIGTERM');
      await exited;
    }
  };

  it('has a tour whose every command works as printed', () =>
    started(async (port) => {
      const [, , ...tour] = shellBlocks();
      const script = ['set -euo pipefail', ...tour].join('\n').replaceAll(':8080', `:${port}`);
      const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
        cwd: fresh(),
        encoding: 'utf8',
      });
      expect(stderr).to.equal('');
      expect(status).to.equal(0);
      expect(stdout)
        .to.match(/"id":"acme"/)
        .and.match(/"bearer":"sab_\w+"/)
        .and.match(/"password":"tk_\w+"/);
      expect(stdout).to.match(
        /"active":true,"kind":"credential"[\s\S]*^204$[\s\S]*"active":false[\s\S]*"status":"revoked"[\s\S]*^204$[\s\S]*"username":"alice"/m,
      );
    }));

  it('leads to a working API key in the browser, by the words that it prints', async function () {
    if (whyNoBrowser !== undefined) this.skip();
    const steps = readFileSync(`${root}README.md`, 'utf8').match(
      /^1\. Open the operator console[\s\S]*?\n\n/m,
    )?.[0];
    const words = [
      'Create tenant',
      'Users',
      'Create user',
      'API Keys',
      'Create New API Key',
      'Create API Key',
    ];
    for (const word of words) expect(steps?.toLowerCase()).to.contain(`**${word.toLowerCase()}**`);
    const token = /SERVICE_CP_ADMIN_TOKEN=(\S+)/.exec(shellBlocks()[0] ?? '')?.[1] ?? '';
    await started(async (port) => {
      const browser = await launchBrowser();
      try {
        const page = await browser.newPage();
        const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
        const follow = (name: string) => page.getByRole('link', { name, exact: true }).first().click();
        const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
        await page.goto(`http://127.0.0.1:${port}/console`);
        await fill('Admin token', token);
        await press('Sign in');
        await page.getByRole('textbox').first().fill('acme');
        await press('Create tenant');
        await follow('Users');
        await follow('Create user');
        await fill('Username', 'alice');
        await fill('Password', 'eight or more');
        await page.getByRole('radio', { name: 'Admin' }).check();
        await press('Create user');
        await page.goto(`http://127.0.0.1:${port}/`);
        await fill('Workspace', 'acme');
        await fill('Username', 'alice');
        await fill('Password', 'eight or more');
        await press('Sign in');
        await page.locator('[data-menu] summary').click();
        await page.locator('[data-menu]').getByRole('link', { name: 'API Keys' }).click();
        await follow('Create New API Key');
        await fill('Name', 'my program');
        await press('Create API Key');
        const line = page.locator('pre', { hasText: 'curl' }).first();
        const { stdout } = spawnSync('bash', ['-c', `${await line.textContent()} -sS`], { encoding: 'utf8' });
        expect(stdout).to.equal('[]');
      } finally {
        await browser.close();
      }
    });
  });
});
