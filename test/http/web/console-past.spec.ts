import { expect } from 'chai';
import { arrangeAccount, mint } from '../../support/client.ts';
import { serving } from '../../support/serving.ts';
import {
  arrangePerson,
  makeKeyByForm,
  operatorAt,
  person,
  signedIn,
  type Page,
  type Visitor,
} from '../../support/web.ts';

/** Rows on one page of a list. */
const pageRows = 50;

const lists = ['users', 'service-accounts', 'credentials', 'api-keys', 'access', 'activity'];

const mainOf = ({ text }: Page): string => text.slice(text.indexOf('<main'), text.indexOf('</main>'));

/** Every address that a page leads to, and those of its tabs. */
const linksOf = (html: string): readonly string[] =>
  [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

const keptPast = (): void => {
  const { client, program } = serving();
  const url = (): string => program().url;
  let operator: Visitor;
  let account: string;
  /** When all of it was there for the last time. */
  let then: string;

  const logTime = async (query: string): Promise<number> => {
    const { body } = await client('GET', `/admin/v1/events?limit=1&order=desc&${query}`);
    return Date.parse((body as readonly { readonly time: string }[])[0]?.time ?? '');
  };

  before(async () => {
    await arrangePerson(client, person('acme'));
    const { id, bearer } = await arrangeAccount(client, 'acme');
    account = id;
    await mint(client, 'acme', bearer, { subject: 'build 42' });
    await makeKeyByForm(await signedIn(url, person('acme')), 'acme', { name: 'Reports' });
    const deleted = await client('DELETE', '/admin/v1/tenants/acme');
    expect(deleted.status).to.equal(204);
    then = new Date((await logTime('type=TenantDeleted')) - 1).toISOString();
    operator = await operatorAt(url);
  });

  const get = async (path: string): Promise<Page> => {
    const page = await operator.get(path);
    expect(page.status, `${path} ${page.text}`).to.equal(200);
    return page;
  };

  it('shows a tenant that was deleted since, with all that was in it, and lets nothing be changed', async () => {
    expect(mainOf(await get('/console'))).to.not.contain('acme');
    const shown = {
      '/console': '>acme</a>',
      '/console/service-accounts': account,
      '/console/tenants/acme': 'Created API key',
      '/console/tenants/acme/users': 'alice',
      '/console/tenants/acme/service-accounts': account,
      '/console/tenants/acme/credentials': 'build 42',
      '/console/tenants/acme/api-keys': 'Reports',
      '/console/tenants/acme/access': 'build 42',
      '/console/tenants/acme/activity': 'Created the tenant',
    };
    for (const [path, text] of Object.entries(shown)) {
      const page = await get(`${path}?as_of=${then}`);
      const main = mainOf(page);
      expect(main, path).to.contain(text).and.to.contain('As of ').and.to.contain('Nothing can be changed');
      expect(main, path).to.contain(`<a class="button" href="${path}">Back to now</a>`);
      expect(main, path).to.not.contain('method="post"');
      expect(main, path).to.not.match(/href="[^"]*\/(new|delete|revoke|rotate)["?]/);
      expect(main, path).to.not.contain('Deleted the tenant');
    }
    for (const path of Object.keys(shown).slice(3, 7))
      expect((await operator.get(path)).status, path).to.equal(404);
  });

  it('leads from page to page as of the same moment', async () => {
    const at = `as_of=${encodeURIComponent(then)}`;
    const [first] = linksOf(mainOf(await get(`/console?${at}`))).filter((href) => href.includes('/acme'));
    expect(first).to.equal(`/console/tenants/acme?${at}`);
    const overview = await get(first ?? '');
    for (const list of lists) {
      const href = `/console/tenants/acme/${list}?${at}`;
      expect(linksOf(mainOf(overview))).to.include(href);
      await get(href);
    }
    expect(linksOf(overview.text)).to.include.members([`/console?${at}`, `/console/service-accounts?${at}`]);
    const filtered = await get(`/console/tenants/acme/activity?type=UserCreated&${at}`);
    expect(filtered.text)
      .to.contain(`<input type="hidden" name="as_of" value="${then}"`)
      .and.to.contain('Created user');
  });

  it('is led to from the activity of a tenant that is gone, and from an event', async () => {
    const gone = await get('/console/tenants/acme/activity');
    const href = `/console/tenants/acme?as_of=${encodeURIComponent(then)}`;
    expect(linksOf(gone.text)).to.include(href);
    const [{ id, time }] = (await client('GET', '/admin/v1/events?type=UserCreated')).body;
    const event = await get(`/console/events/${id}`);
    const asItWas = `/console/tenants/acme?as_of=${encodeURIComponent(time)}`;
    expect(linksOf(event.text)).to.include(asItWas);
    await get(asItWas);
  });

  it('takes the moment as the field for date and time sends it, and now where that is empty', async () => {
    const { text } = await get(`/console/tenants/acme/users?as_of=${then.slice(0, -1)}`);
    expect(text)
      .to.contain('alice')
      .and.to.contain(`value="${then.slice(0, -1)}"`);
    expect((await get('/console?as_of=')).text)
      .to.contain('Look at the past')
      .and.to.not.contain('As of ');
  });

  it('says calmly what was not there yet, and what is no moment, with the way to another', async () => {
    const early = await operator.get('/console/tenants/acme/users?as_of=2001-01-01T00:00');
    expect(early.status).to.equal(404);
    expect(early.text).to.contain('It was not there then').and.to.contain('name="as_of"');
    expect((await get('/console?as_of=2001-01-01T00:00')).text).to.contain('There were no tenants');
    for (const wrong of ['soon', '2999-01-01T00:00', '2026-13-01T00:00']) {
      const { status, text } = await operator.get(`/console?as_of=${wrong}`);
      expect(status, wrong).to.equal(400);
      expect(text, wrong).to.contain('id="as_of-error"').and.to.contain('href="/console">Back to now');
    }
  });

  it('turns pages as of the same moment', async () => {
    const ids = Array.from({ length: pageRows + 5 }, (_, at) => `many-${at}`);
    for (const id of ids) await client('POST', '/admin/v1/tenants', { body: { id } });
    const moment = new Date(await logTime('type=TenantCreated')).toISOString();
    for (const id of ids) await client('DELETE', `/admin/v1/tenants/${id}`);
    const seen: string[] = [];
    for (let next: string | undefined = `/console?as_of=${moment}`; next !== undefined;) {
      const page: Page = await get(next);
      seen.push(...[...mainOf(page).matchAll(/<th scope="row"><a [^>]*>([^<]*)/g)].map(([, id = '']) => id));
      next = /href="([^"]+)" rel="next"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).to.deep.equal(ids.toReversed());
  });

  it('is for the operator alone', async () => {
    await arrangePerson(client, person('other'));
    const user = await signedIn(url, person('other'));
    expect((await user.get(`/console/tenants/acme/users?as_of=${then}`)).location).to.match(
      /^\/console\/sign-in/,
    );
  });
};

describe('the console as of a moment', keptPast);
