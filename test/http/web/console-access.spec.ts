import { expect } from 'chai';
import { arrangeAccount, mint } from '../../support/client.ts';
import { serving } from '../../support/serving.ts';
import { arrangePerson, operatorAt, person, type Page, type Visitor } from '../../support/web.ts';

/** What is granted on one page. */
const pageRows = 50;

/** Who stands in the table, in its order. */
const whoOf = ({ text }: Page): readonly (string | undefined)[] =>
  [...text.matchAll(/<th scope="row"><a href="[^"]*">([^<]*)<\/a><code/g)].map(([, name]) => name);

const nextOf = ({ text }: Page): string | undefined =>
  /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');

describe('access in the console', () => {
  const { client, program } = serving();
  let operator: Visitor;
  let account: { readonly id: string; readonly bearer: string };
  before(async () => {
    await arrangePerson(client, person('acme'));
    account = await arrangeAccount(client, 'acme');
    await mint(client, 'acme', account.bearer, { subject: 'build 42' });
    operator = await operatorAt(() => program().url);
  });

  const get = async (path: string): Promise<Page> => {
    const page = await operator.get(path);
    expect(page.status, `${path} ${page.text}`).to.equal(200);
    return page;
  };

  it('shows who could get in, with links to what granted and what ended it', async () => {
    await client('DELETE', '/admin/v1/tenants/acme/users/alice');
    const page = await get('/console/tenants/acme/access');
    expect(whoOf(page)).to.deep.equal(['build 42', 'tester', 'alice']);
    for (const type of ['UserCreated', 'UserDeleted', 'CredentialMinted']) {
      const { body } = await client('GET', `/admin/v1/events?type=${type}&tenant=acme`);
      expect(page.text).to.contain(`<a href="/console/events/${body[0].id}?at=${body[0].position}">${type}<`);
    }
    expect(page.text).to.contain('by <span class="actor">Service account tester</span>');
    expect(page.text).to.contain('href="/console/access?principal=user%3Aacme%2Falice"');
    expect(page.text.match(/<rect [^>]*class="bar-/g)).to.have.length(3);
  });

  it('shows those of one kind, or of a time, alone', async () => {
    expect(whoOf(await get('/console/tenants/acme/access?kind=credential'))).to.deep.equal(['build 42']);
    expect(whoOf(await get('/console/tenants/acme/access?kind=service_account&from='))).to.deep.equal([
      'tester',
    ]);
    const before = await get('/console/tenants/acme/access?to=2020-01-01T00:00');
    expect(whoOf(before)).to.deep.equal([]);
    expect(before.text).to.contain('Nobody of this kind').and.to.contain('value="2020-01-01T00:00"');
    // Alice was deleted in the test before.
    const now = new Date().toISOString();
    expect(whoOf(await get(`/console/tenants/acme/access?from=${now}`))).to.deep.equal([
      'build 42',
      'tester',
    ]);
  });

  it('shows what one principal could get into', async () => {
    const { text } = await get(`/console/access?principal=${encodeURIComponent('user:acme/alice')}`);
    expect(text).to.contain('<a href="/console/tenants/acme/access">acme</a>').and.to.contain('UserDeleted');
    expect((await get('/console/access?principal=api_key:none')).text).to.contain('Nobody');
  });

  it('says at the field what can not be asked', async () => {
    for (const [path, field] of [
      ['/console/tenants/acme/access?from=soon', 'from'],
      ['/console/tenants/acme/access?kind=king', 'kind'],
      ['/console/tenants/acme/access?from=2026-01-02T00:00&to=2026-01-01T00:00', 'to'],
      ['/console/access?principal=user:acme/alice&to=then', 'to'],
    ] as const) {
      const { status, text } = await operator.get(path);
      expect(status, path).to.equal(400);
      expect(text, path).to.contain(`id="${field}-error"`);
    }
    expect((await operator.get('/console/access?principal=nobody')).status).to.equal(400);
    expect((await operator.get('/console/tenants/nowhere/access')).status).to.equal(404);
  });

  it('shows long lists page by page with the same filter, each once, and a tenant that is gone', async () => {
    const { bearer } = await arrangeAccount(client, 'many');
    for (let at = 0; at < pageRows + 5; at += 1)
      await mint(client, 'many', bearer, { subject: `build ${at}` });
    await client('DELETE', '/admin/v1/tenants/many');
    const seen: (string | undefined)[] = [];
    for (let next: string | undefined = '/console/tenants/many/access?kind=credential'; next !== undefined;) {
      const page: Page = await get(next);
      seen.push(...whoOf(page));
      expect(whoOf(page)).to.have.length.at.most(pageRows);
      expect(page.text).to.contain('with what it hung from');
      next = nextOf(page);
    }
    expect(seen).to.deep.equal(Array.from({ length: pageRows + 5 }, (_, at) => `build ${pageRows + 4 - at}`));
  });
});
