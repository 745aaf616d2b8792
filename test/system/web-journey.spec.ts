import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { expectAccessible, launchBrowser, takePicture, watchPage, whyNoBrowser } from '../support/browser.ts';
import { createClient, type Client } from '../support/client.ts';
import { dayMs } from '../support/pages.tsx';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { until } from '../support/waiting.ts';
import { arrangePerson, person, type Person } from '../support/web.ts';
import { withKey } from '../support/workspace.ts';

const hostile = '<b onclick=alert(1)>Billing</b> & "co"';

/** The most presses of Tab that any control of a page is away. */
const tabsMax = 40;

/** Holds a page to having no fault of accessibility, and takes a picture of it. `judge` is where scripts run. */
const look = async (page: Page, judge: Page, name: string): Promise<void> => {
  await takePicture(page, name);
  // Where scripts are off axe can't run: it looks at the same page, as it stands, where only its own script runs.
  if (judge !== page) await judge.setContent(await page.content());
  await expectAccessible(judge, name);
};

/** The words of a command line, as a shell would take them that knows no more than single quotes. */
const wordsOf = (command: string): readonly string[] =>
  (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll(/^'|'$/g, ''));

/** Runs a command that a page shows, without a shell; answers what it wrote. */
const runShown = async (command: string): Promise<string> => {
  const [program = '', ...args] = wordsOf(command);
  expect(program).to.equal('curl');
  return (await promisify(execFile)('curl', ['-sS', '--max-time', '10', ...args])).stdout;
};

const signInOn = async (page: Page, { workspace, username, password }: Person): Promise<void> => {
  await page.getByLabel('Workspace').fill(workspace);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

const openMenu = (page: Page): Promise<void> => page.locator('[data-menu] summary').click();

const title = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** Creates a key on the page of the form, and answers it as the page shows it. */
const createKey = async (page: Page, name: string): Promise<string> => {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create API Key' }).click();
  await title(page, 'Your new API key');
  return (await page.locator('#secret').textContent()) ?? '';
};

/** The text of a key's row in the list, of which there is one with that prefix. */
const rowOf = (page: Page, key: string) => page.getByRole('row').filter({ hasText: key.slice(0, 10) });

/** Watches that a key comes nowhere after the page that showed it: no answer, address, cookie or storage. */
const watchFor = (context: BrowserContext, page: Page, key: string) => {
  const answers: Promise<string>[] = [];
  const addresses: string[] = [];
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'document') return;
    // A redirect has no body.
    answers.push(response.text().catch(() => ''));
    addresses.push(response.url(), JSON.stringify(response.headers()));
  });
  return async (where: string): Promise<void> => {
    const texts = await Promise.all(answers);
    const cookies = JSON.stringify(await context.cookies());
    const kept = (await page.evaluate(
      'JSON.stringify([history.state, { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.title])',
    )) as string;
    for (const text of [...texts, ...addresses, cookies, kept, await page.content()])
      expect(text.includes(key), `${where}: ${text.slice(0, 200)}`).to.equal(false);
  };
};

/** A Chromium that keeps whole pages to go back to, as a person's does; tests' browsers do not. */
const launchWithPageCache = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    env: { ...process.env, XDG_CONFIG_HOME: freshFolder() },
  });

const goBackTo = async (page: Page, path: string): Promise<void> => {
  // What comes out of the cache is there without being loaded, so that there is no load to wait for.
  await page.goBack({ waitUntil: 'commit' });
  await until(`the browser is back at ${path}`, async () => {
    const at = await page.evaluate('document.readyState + location.pathname').catch(() => undefined);
    return at === `complete${path}`;
  });
};

describe(`the web interface in a browser${whyNoBrowser === undefined ? '' : ` (skipped: ${whyNoBrowser})`}`, function () {
  this.timeout(60_000);
  const dir = freshFolder();
  let program: Program;
  let client: Client;
  let browser: Browser;
  let url: string;

  before(async function () {
    if (whyNoBrowser !== undefined) this.skip();
    program = await startProgram({ dir });
    ({ url } = program);
    client = createClient(url);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await program?.kill();
    removeFolder(dir);
  });

  const statusOf = async (workspace: string, key: string): Promise<unknown> => {
    const { status, body } = await withKey(client, { key })('GET', `/api/${workspace}/agents`);
    return status === 200 ? 200 : [status, body.code];
  };

  for (const javaScript of [true, false]) {
    const how = javaScript ? 'with JavaScript' : 'without JavaScript';
    const workspace = javaScript ? 'scripted' : 'plain';
    const who = person(workspace, { role: 'writer' });
    const base = `/w/${workspace}`;

    describe(how, () => {
      let context: BrowserContext;
      let page: Page;
      let judge: Page;
      before(async () => {
        await arrangePerson(client, who);
        context = await browser.newContext({
          javaScriptEnabled: javaScript,
          reducedMotion: 'reduce',
          permissions: ['clipboard-read', 'clipboard-write'],
        });
        page = await context.newPage();
        judge = javaScript ? page : await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
        if (javaScript) return;
        await judge.route('**/*.js', (route) => route.abort());
        await judge.goto(`${url}/sign-in`);
      });
      after(async () => {
        await context?.close();
        if (judge !== page) await judge?.context().close();
      });

      const see = (name: string): Promise<void> => look(page, judge, `web-${workspace}-${name}`);
      let key: string;
      let expectNoKey: (where: string) => Promise<void>;
      let faults: readonly string[];

      it('says that a sign-in failed, tied to the fields, and keeps no password', async () => {
        await page.goto(`${url}${base}/agents`);
        await title(page, 'Sign in');
        await see('sign-in');
        expect(await page.getByLabel('Workspace').inputValue()).to.equal(workspace);
        await signInOn(page, { ...who, password: 'a wrong password' });
        const alert = page.getByRole('alert');
        await alert.waitFor();
        const id = await alert.getAttribute('id');
        expect(await alert.textContent()).to.contain('Workspace, username or password is not right.');
        for (const label of ['Workspace', 'Username', 'Password']) {
          const field = page.getByLabel(label);
          expect(await field.getAttribute('aria-describedby'), label).to.equal(id);
          expect(await field.getAttribute('aria-invalid'), label).to.equal('true');
        }
        expect(await page.getByLabel('Username').inputValue()).to.equal(who.username);
        expect(await page.getByLabel('Password').inputValue()).to.equal('');
        expect(await page.content()).to.not.contain('a wrong password');
        await see('sign-in-failed');
      });

      it('comes to the page that was asked for once the password is right', async () => {
        faults = watchPage(page, url);
        await page.getByLabel('Password').fill(who.password);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await title(page, 'Agents');
        expect(page.url()).to.equal(`${url}${base}/agents`);
        expect(await page.content()).to.not.contain(who.password);
        await see('agents-empty');
        await page.getByRole('link', { name: 'Keyledger', exact: true }).click();
        await title(page, workspace);
        await page.getByRole('heading', { name: 'Create your first API key' }).waitFor();
        await see('home-empty');
      });

      it('goes from the user’s menu to the API keys, of which there are none', async () => {
        await openMenu(page);
        await see('menu');
        await page.locator('[data-menu]').getByRole('link', { name: 'API Keys' }).click();
        await title(page, 'API Keys');
        await page.getByRole('heading', { name: 'No API keys yet' }).waitFor();
        expect(await page.locator('#command').textContent()).to.equal(
          `curl -H "X-API-Key: $KEY" ${url}/api/${workspace}/agents`,
        );
        await see('keys-empty');
      });

      it('makes a key up to the user’s own role, and shows it once with its warning', async () => {
        await page.getByRole('link', { name: 'Create New API Key' }).click();
        await title(page, 'Create New API Key');
        expect(await page.locator('input[name=role]').evaluateAll((all) => all.length)).to.equal(2);
        await page.getByLabel('Writer').check();
        await page.locator('input[name=expires][value=date]').check();
        const day = new Date(Date.now() + 3 * dayMs).toISOString().slice(0, 10);
        await page.locator('#expires_date').fill(day);
        await see('key-new');
        key = await createKey(page, hostile);
        expect(key).to.match(/^svc_\w{49}$/);
        await page.getByText("It is not stored and can't be shown again.").waitFor();
        expect(await page.locator('main').innerText()).to.contain(hostile);
        await see('key-created');
      });

      it('copies the key where a script may', async () => {
        const copy = page.getByRole('button', { name: 'Copy the API key' });
        expect(await copy.isVisible()).to.equal(javaScript);
        if (!javaScript) return;
        await copy.click();
        await page.locator('#announce').getByText('Copied').waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(key);
      });

      it('shows a command that works as it stands', async () => {
        const shown = (await page.locator('#command').textContent()) ?? '';
        expect(shown).to.contain(key);
        expect(await runShown(shown)).to.equal('[]');
      });

      it('shows the key never again: not on reload, back, forward, in the list, nor anywhere it could be kept', async () => {
        expect(JSON.stringify(await context.cookies())).to.not.contain(key);
        expectNoKey = watchFor(context, page, key);
        await page.reload();
        await title(page, 'This key was shown once');
        await expectNoKey('after a reload');
        await see('key-shown-once');
        await page.goBack();
        await expectNoKey('one page back');
        await page.goForward();
        await title(page, 'This key was shown once');
        await expectNoKey('forward again');
        await page.getByRole('link', { name: 'API Keys' }).first().click();
        await title(page, 'API Keys');
        await expectNoKey('in the list');
        await page.goBack();
        await title(page, 'This key was shown once');
        await expectNoKey('back from the list');
        await page.goto(`${url}${base}/api-keys`);
      });

      it('lists what is known of the key, and when it was used', async () => {
        const row = rowOf(page, key);
        const cell = (label: string): Promise<string> => row.locator(`td[data-label="${label}"]`).innerText();
        await until('the use is noted', async () => {
          await page.reload();
          return /ago|just now/.test(await cell('Last used'));
        });
        expect(await row.getByRole('rowheader').innerText()).to.equal(hostile);
        expect(await cell('Key')).to.equal(`${key.slice(0, 10)}…`);
        expect(await cell('Status')).to.equal('Active');
        expect(await cell('Role')).to.equal('Writer');
        expect(await cell('Created by')).to.equal(who.username);
        expect(await cell('Created')).to.contain(String(new Date().getUTCFullYear()));
        expect(await cell('Expires')).to.contain('Expires in 3 days');
        expect(await row.locator('td[data-label="Expires"] .near').count()).to.equal(1);
        await expectNoKey('in the list of keys that were used');
        await see('keys');
      });

      it('shows what the API created', async () => {
        const api = withKey(client, { key });
        for (const [kind, text] of Object.entries({ agents: 'name', threads: 'title', workflows: 'name' })) {
          const body = { [text]: `<i>${kind}</i> of the API`, metadata: { tier: 'gold' } };
          expect((await api('POST', `/api/${workspace}/${kind}`, { body })).status).to.equal(201);
        }
        await page.goto(`${url}${base}`);
        for (const kind of ['agents', 'threads', 'workflows'])
          await page.getByRole('link', { name: `<i>${kind}</i> of the API` }).waitFor();
        await see('home');
        for (const [kind, heading] of Object.entries({
          agents: 'Agents',
          threads: 'Threads',
          workflows: 'Workflows',
        })) {
          await page.getByRole('navigation').getByRole('link', { name: heading }).click();
          await title(page, heading);
          await see(kind);
          await page.getByRole('link', { name: `<i>${kind}</i> of the API` }).click();
          await title(page, `<i>${kind}</i> of the API`);
          await page.getByText('gold').waitFor();
          await see(`${kind}-one`);
        }
        await expectNoKey('on the pages of resources');
      });

      it('rolls a key: with an overlap both work, at once only the new one', async () => {
        const roll = async (overlap: string | undefined, of: string): Promise<string> => {
          await page.goto(`${url}${base}/api-keys`);
          await rowOf(page, of).getByRole('link', { name: /^Roll/ }).click();
          await title(page, 'Roll API key');
          if (overlap !== undefined)
            await page.getByLabel('The present key stops working').selectOption({ label: overlap });
          await see(overlap === undefined ? 'key-roll' : 'key-roll-at-once');
          await page.getByRole('button', { name: 'Roll this key' }).click();
          await title(page, 'Your new API key');
          return (await page.locator('#secret').textContent()) ?? '';
        };
        const second = await roll(undefined, key);
        expect(second)
          .to.match(/^svc_\w{49}$/)
          .and.not.equal(key);
        expect([await statusOf(workspace, key), await statusOf(workspace, second)]).to.deep.equal([200, 200]);
        await page.reload();
        await title(page, 'This key was shown once');
        const third = await roll('At once', second);
        expect(await statusOf(workspace, third)).to.equal(200);
        expect(await statusOf(workspace, second)).to.deep.equal([401, 'api-key.revoked']);
        await expectNoKey('after the key was rolled');
        expect(await page.content()).to.not.contain(second);
        key = third;
        await page.getByRole('link', { name: 'Done' }).click();
        await title(page, 'API Keys');
        await watchFor(context, page, third)('in the list after the key was rolled');
      });

      it('revokes a key once it is confirmed, and it works no more', async () => {
        await rowOf(page, key)
          .getByRole('link', { name: /^Revoke/ })
          .click();
        await title(page, 'Revoke API key');
        await see('key-revoke');
        await page.getByRole('link', { name: 'Cancel' }).click();
        await title(page, 'API Keys');
        expect(await statusOf(workspace, key)).to.equal(200);
        await rowOf(page, key)
          .getByRole('link', { name: /^Revoke/ })
          .click();
        await page.getByRole('button', { name: 'Revoke this key' }).click();
        await page.getByRole('status').getByText('The key is revoked.').waitFor();
        expect(await statusOf(workspace, key)).to.deep.equal([401, 'api-key.revoked']);
        expect(await rowOf(page, key).innerText()).to.contain('Revoked');
        expect(await rowOf(page, key).getByRole('link').count()).to.equal(0);
        await see('keys-revoked');
      });

      it('signs out: back shows nothing of it, and its pages ask for a sign-in and are come back to', async () => {
        await openMenu(page);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await title(page, 'Sign in');
        expect(await context.cookies()).to.deep.equal([]);
        await page.goBack();
        await title(page, 'Sign in');
        expect(await page.content()).to.not.contain(key.slice(0, 10));
        await page.goto(`${url}${base}/threads`);
        await title(page, 'Sign in');
        await signInOn(page, who);
        await title(page, 'Threads');
        expect(page.url()).to.equal(`${url}${base}/threads`);
        expect(faults).to.deep.equal([]);
      });
    });
  }

  it('is used with the keyboard alone: to sign in, to make a key and to copy it', async () => {
    const who = person('keyboard');
    await arrangePerson(client, who);
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    const tabTo = async (selector: string): Promise<void> => {
      for (let tabs = 0; tabs <= tabsMax; tabs += 1) {
        if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab does not come to ${selector}.`);
    };
    await page.goto(`${url}/sign-in`);
    for (const field of ['workspace', 'username', 'password'] as const) {
      await tabTo(`#${field}`);
      await page.keyboard.type(who[field]);
    }
    await page.keyboard.press('Enter');
    await title(page, 'keyboard');
    await tabTo('[data-menu] summary');
    await page.keyboard.press('Space');
    await tabTo('[data-menu] a[href$="/api-keys"]');
    await page.keyboard.press('Enter');
    await title(page, 'API Keys');
    await tabTo('a[href$="/api-keys/new"]');
    await page.keyboard.press('Enter');
    await title(page, 'Create New API Key');
    await tabTo('#name');
    await page.keyboard.type('By keyboard');
    await tabTo('form.form button[type=submit]');
    await page.keyboard.press('Space');
    await title(page, 'Your new API key');
    await tabTo('[data-copy=secret]');
    await page.keyboard.press('Space');
    await page.locator('#announce').getByText('Copied').waitFor();
    const key = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(await statusOf('keyboard', key)).to.equal(200);
    await tabTo('main a.button');
    await page.keyboard.press('Enter');
    await title(page, 'API Keys');
    await context.close();
  });

  describe('that keeps whole pages to go back to', () => {
    let keeping: Browser;
    const who = person('kept');
    before(async () => {
      await arrangePerson(client, who);
      keeping = await launchWithPageCache();
    });
    after(async () => {
      await keeping?.close();
    });

    for (const javaScriptEnabled of [true, false]) {
      const how = javaScriptEnabled ? 'with JavaScript' : 'without JavaScript';

      it(`shows no key when one comes back to its page, ${how}`, async () => {
        const context = await keeping.newContext({ javaScriptEnabled });
        const page = await context.newPage();
        await page.goto(`${url}/w/kept/api-keys/new`);
        await signInOn(page, who);
        const key = await createKey(page, 'shown once');
        const { pathname } = new URL(page.url());
        await page.getByRole('link', { name: 'Done' }).click();
        await title(page, 'API Keys');
        await goBackTo(page, pathname);
        expect(await page.content()).to.not.contain(key);
        expect(await page.locator('body').innerText()).to.not.contain(key);
        await context.close();
      });

      it(`shows no key when one signs out on its page and comes back, ${how}`, async () => {
        const context = await keeping.newContext({ javaScriptEnabled });
        const page = await context.newPage();
        await page.goto(`${url}/w/kept/api-keys/new`);
        await signInOn(page, who);
        const key = await createKey(page, 'left behind');
        await openMenu(page);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await title(page, 'Sign in');
        await goBackTo(page, '/sign-in');
        expect(await page.content()).to.not.contain(key.slice(0, 10));
        await context.close();
      });
    }
  });
});
