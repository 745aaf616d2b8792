import { expect } from 'chai';
import { adminToken } from '../../support/program.ts';
import { serving } from '../../support/serving.ts';
import { arrangePerson, operatorAt, person, type Page, type Visitor } from '../../support/web.ts';

/** Acts on one page. */
const pageRows = 50;

/** Every sentence that a page shows, in its order. */
const told = ({ text }: Page): readonly string[] =>
  [...text.matchAll(/<li><time[^>]*>[^<]*<\/time><div><p>(.*?)<\/p>/g)].map(([, sentence = '']) =>
    sentence.replaceAll(/<[^>]*>/g, ''),
  );

/** Where the page leads on, or back. */
const wayOf = ({ text }: Page, rel: 'next' | 'prev'): string | undefined =>
  new RegExp(`href="([^"]+)" rel="${rel}"`).exec(text)?.[1]?.replaceAll('&amp;', '&');

/** The events that a page leads to. */
const idsOf = ({ text }: Page): readonly (string | undefined)[] =>
  [...text.matchAll(/\/console\/events\/([0-9a-f-]{36})\?at=\d{20}"/g)].map(([, id]) => id);

describe('the audit in the console', () => {
  const { client, program } = serving();
  let operator: Visitor;
  before(async () => {
    await arrangePerson(client, person('acme'));
    await arrangePerson(client, person('other', { username: 'bob' }));
    await client('POST', '/admin/v1/tenants/acme/users', {
      body: { username: 'carol', password: 'correct horse', role: 'reader' },
      headers: { 'X-Reason': 'She joined us.', 'X-Request-Id': 'joining-1' },
    });
    operator = await operatorAt(() => program().url);
  });

  const get = async (path: string): Promise<Page> => {
    const page = await operator.get(path);
    expect(page.status, `${path} ${page.text}`).to.equal(200);
    return page;
  };

  it('shows the whole log, the newest first, each line with who, why, and links to more of the same', async () => {
    const page = await get('/console/events');
    expect(told(page)).to.deep.equal([
      'The operator signed in to the console',
      'Created user carol as reader',
      'Created user bob as admin',
      'Created the tenant',
      'Created user alice as admin',
      'Created the tenant',
    ]);
    expect(page.text)
      .to.contain('“She joined us.”')
      .and.to.contain('href="/console/events?actor=admin"')
      .and.to.contain('href="/console/events?correlation_id=joining-1"')
      .and.to.contain('href="/console/tenants/other/activity"')
      .and.to.match(/href="\/console\/events\/[0-9a-f-]{36}\?at=\d{20}"/);
  });

  it('shows what has all that is looked for, of all or of one tenant', async () => {
    const { body } = await client('GET', '/admin/v1/events?type=UserCreated&tenant=other');
    const [{ time, stream }] = body as [{ time: string; stream: string }];
    const next = new Date(Date.parse(time) + 1).toISOString();
    const found = [
      ['/console/events?tenant=other', ['Created user bob as admin', 'Created the tenant']],
      ['/console/events?correlation_id=joining-1', ['Created user carol as reader']],
      ['/console/events?type=OperatorSignedIn', ['The operator signed in to the console']],
      [`/console/events?stream=${stream}`, ['Created user bob as admin']],
      [`/console/events?since=${time}&until=${next}&type=UserCreated`, ['Created user bob as admin']],
      // As a field for date and time sends it, in UTC; what is not filled in is not looked for.
      [
        `/console/events?since=${time.slice(0, -1)}&until=&tenant=other&actor=`,
        ['Created user bob as admin'],
      ],
      ['/console/events?tenant=other&order=asc', ['Created the tenant', 'Created user bob as admin']],
      ['/console/events?actor=user:acme/nobody', []],
      [
        '/console/tenants/acme/activity?type=UserCreated',
        ['Created user carol as reader', 'Created user alice as admin'],
      ],
      [
        '/console/tenants/acme/activity?correlation_id=joining-1&tenant=other',
        ['Created user carol as reader'],
      ],
    ] as const;
    for (const [path, sentences] of found) expect(told(await get(path)), path).to.deep.equal(sentences);
    const { text } = await get('/console/events?tenant=other&type=UserCreated&order=asc');
    expect(text)
      .to.match(/<details class="card filters" open>/)
      .and.to.match(/<input[^>]* value="other"[^>]* id="tenant"/)
      .and.to.contain('<option value="UserCreated" selected>')
      .and.to.contain('<option value="asc" selected>');
  });

  it('shows all of one event, by its id and by its position', async () => {
    const { body } = await client('GET', '/admin/v1/events?correlation_id=joining-1');
    const [event] = body as [Record<string, string> & { data: Record<string, string> }];
    const { id: own, position } = event;
    // A position of another event, as in another copy of the log, does not mislead.
    for (const id of [own, position, `${own}?at=${position}`, `${own}?at=00000000000000000001`]) {
      const { text } = await get(`/console/events/${id}`);
      expect(text).to.contain('<h1>UserCreated</h1><p>Created user <strong>carol</strong> as reader</p>');
      for (const member of ['id', 'position', 'stream', 'time', 'token', 'correlation_id', 'actor'])
        expect(text, member).to.contain(`<code>${event[member]}</code>`);
      expect(text)
        .to.contain('“She joined us.”')
        .and.to.contain('href="/console/events?correlation_id=joining-1"');
      for (const [name, value] of Object.entries(event.data))
        expect(text, name).to.contain(`<th scope="row">${name}</th><td data-label="Value">${value}</td>`);
      expect(text).to.not.match(/password|argon2/i);
    }
  });

  it('shows what a request did as a tree of causes and effects', async () => {
    // A sign-in in a browser that has a session ends that one first.
    await operator.post(
      '/console/sign-in',
      { token: adminToken },
      { headers: { 'X-Request-Id': 'again-1' } },
    );
    const { body } = await client('GET', '/admin/v1/events?correlation_id=again-1');
    expect(body.map(({ type }: { readonly type: string }) => type)).to.deep.equal([
      'SignedOut',
      'OperatorSignedIn',
    ]);
    const { text } = await get(`/console/events/${body[1].id}`);
    const chain = text.slice(text.indexOf('<ol class="chain">'));
    expect(chain).to.match(
      new RegExp(
        `/console/events/${body[0].id}[^"]*">Signed out<.*/console/events/${body[1].id}[^"]*" aria-current="true">`,
      ),
    );
  });

  it('shows the proof of an event once a checkpoint covers it, and lists the checkpoints', async () => {
    const { body } = await client('GET', '/admin/v1/events?correlation_id=joining-1');
    const path = `/console/events/${body[0].id}`;
    expect((await get('/console/checkpoints')).text).to.contain('No checkpoints yet');
    expect((await get(path)).text).to.contain('Not sealed yet.');
    const sealed = await client('POST', '/admin/v1/checkpoints');
    // Read models on MongoDB seal nothing without a key of the operator's.
    if (sealed.status === 501) return;
    const { text } = await get(path);
    const proof = (await client('GET', `/admin/v1/events/${body[0].id}/proof`)).body;
    for (const shown of [proof.leaf_hash, sealed.body.root_hash, sealed.body.note])
      expect(text.replaceAll('&#34;', '"')).to.contain(shown);
    expect((await get('/console/checkpoints')).text)
      .to.contain(sealed.body.root_hash)
      .and.to.contain(`/console/events/${sealed.body.event_id}?at=${sealed.body.position}`);
    expect(told(await get('/console/events?type=LogSealed'))).to.deep.equal([
      'Sealed the log with checkpoint 1',
    ]);
  });

  it('answers 404 for an event that there is not, and 400 for what is no name of one', async () => {
    const path = '/console/events/019a0000-0000-7000-8000-000000000001';
    expect((await operator.get(path)).status).to.equal(404);
    expect((await operator.get('/console/events/first')).status).to.equal(400);
  });

  it('says at the field what can not be looked for', async () => {
    for (const [path, field] of [
      ['/console/events?since=soon', 'since'],
      ['/console/events?until=2026-13-01T00:00', 'until'],
      ['/console/events?tenant=a+b', 'tenant'],
      ['/console/tenants/acme/activity?order=sideways&until=then', 'until'],
    ] as const) {
      const { status, text } = await operator.get(path);
      expect(status, path).to.equal(400);
      expect(text, path).to.contain(`id="${field}-error"`);
    }
    expect((await operator.get('/console/events?after=nowhere')).status).to.equal(400);
    expect((await operator.get('/console/tenants/nowhere/activity?type=UserCreated')).status).to.equal(404);
  });

  it('leads page by page to the other end and back, with the same filter, each event once', async () => {
    const count = 2 * pageRows + 5;
    for (let at = 0; at < count; at += 1) {
      const body = { name: `account ${at}`, tenant_id: 'other', max_role: 'reader', max_ttl_secs: 60 };
      await client('POST', '/admin/v1/service-accounts', { body });
    }
    const all = (await client('GET', '/admin/v1/tenants/other/activity?order=desc')).body as readonly {
      readonly id: string;
    }[];
    const ids = all.map(({ id }) => id);
    for (const [path, expected] of [
      ['/console/events?tenant=other', ids],
      ['/console/events?tenant=other&order=asc', ids.toReversed()],
      ['/console/tenants/other/activity', ids],
      ['/console/tenants/other/activity?order=asc', ids.toReversed()],
      ['/console/tenants/other/activity?actor=admin', ids],
    ] as const) {
      const pages: Page[] = [await get(path)];
      expect(wayOf(pages[0] as Page, 'prev'), path).to.equal(undefined);
      for (let next = wayOf(pages[0] as Page, 'next'); next !== undefined;) {
        const page = await get(next);
        pages.push(page);
        next = wayOf(page, 'next');
      }
      expect(pages.flatMap(idsOf), path).to.deep.equal(expected);
      expect(
        pages.map((page) => idsOf(page).length),
        path,
      ).to.deep.equal([pageRows, pageRows, ids.length - 2 * pageRows]);
      const middle = await get(wayOf(pages[2] as Page, 'prev') ?? '');
      expect(idsOf(middle), path).to.deep.equal(idsOf(pages[1] as Page));
      expect(idsOf(await get(wayOf(middle, 'next') ?? '')), path).to.deep.equal(idsOf(pages[2] as Page));
      const first = await get(wayOf(middle, 'prev') ?? '');
      expect(idsOf(first), path).to.deep.equal(idsOf(pages[0] as Page));
      expect(wayOf(first, 'prev'), path).to.equal(undefined);
    }
  });
});
