import { expect } from 'chai';
import { dayMs } from '../../support/pages.tsx';
import { serving } from '../../support/serving.ts';
import {
  arrangePerson,
  createVisitor,
  makeKeyByForm,
  person,
  sessionName,
  signedIn,
  visit,
  type Page,
  type Visitor,
  type Visiting,
} from '../../support/web.ts';
import { withKey } from '../../support/workspace.ts';

/** The most bytes of a form. */
const formBytesMax = 8_192;

const json = { Accept: 'application/json' };

const codeOf = ({ text }: Page): string => (JSON.parse(text) as { code: string }).code;

describe('a form of the web interface', () => {
  const { client, program } = serving();
  const url = (): string => program().url;
  const host = (): string => new URL(url()).host;
  const alice = person('acme');
  let visitor: Visitor;
  before(async () => {
    await arrangePerson(client, alice);
  });
  beforeEach(async () => {
    visitor = await signedIn(url, alice);
  });

  const create = (headers: Visiting['headers'], name = 'sent'): Promise<Page> =>
    visitor.post('/w/acme/api-keys', { name, role: 'reader', expires: 'never' }, { headers: headers ?? {} });

  const fromElsewhere: Readonly<Record<string, () => Visiting['headers']>> = {
    'Sec-Fetch-Site: cross-site': () => ({ 'Sec-Fetch-Site': 'cross-site' }),
    'Sec-Fetch-Site: same-site': () => ({ 'Sec-Fetch-Site': 'same-site' }),
    'Sec-Fetch-Site: cross-site, and an Origin of ours': () => ({
      'Sec-Fetch-Site': 'cross-site',
      Origin: url(),
    }),
    'an empty Sec-Fetch-Site': () => ({ 'Sec-Fetch-Site': '' }),
    'an Origin of another host': () => ({ Origin: 'https://evil.example' }),
    'an Origin of another port': () => ({ Origin: 'http://127.0.0.1:1' }),
    'an Origin that begins like ours': () => ({ Origin: `${url()}.evil.example` }),
    'the Origin null': () => ({ Origin: 'null' }),
    'an empty Origin': () => ({ Origin: '' }),
  };

  for (const [what, headers] of Object.entries(fromElsewhere)) {
    it(`does nothing from another site: ${what}`, async () => {
      const refused = await create({ ...headers(), ...json }, 'from-elsewhere');
      expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'session.cross-site']);
      expect((await visitor.get('/w/acme/api-keys')).text).to.not.contain('from-elsewhere');

      expect((await visitor.post('/sign-out', {}, { headers: headers() ?? {} })).status).to.equal(403);
      expect((await visitor.get('/w/acme')).status).to.equal(200);

      const { workspace, username, password } = alice;
      const form = { workspace, username, password };
      const forced = await createVisitor(url).post('/sign-in', form, { headers: headers() ?? {} });
      expect([forced.status, forced.set]).to.deep.equal([403, []]);
    });
  }

  const fromHere: Readonly<Record<string, () => Visiting['headers']>> = {
    'Sec-Fetch-Site: same-origin': () => ({ 'Sec-Fetch-Site': 'same-origin', Origin: url() }),
    'Sec-Fetch-Site: none': () => ({ 'Sec-Fetch-Site': 'none' }),
    'an Origin of ours': () => ({ Origin: url() }),
    'an Origin of ours, which a proxy serves over TLS': () => ({ Origin: `https://${host()}` }),
    'the host in capitals': () => ({ Host: 'KeyLedger.Example', Origin: 'https://keyledger.example' }),
    'neither, as of a program': () => ({}),
  };

  for (const [what, headers] of Object.entries(fromHere)) {
    it(`does what it says from a page of ours: ${what}`, async () => {
      const { status, location } = await create(headers());
      expect(status).to.equal(303);
      expect(location).to.match(/^\/w\/acme\/api-keys\/key_/);
    });
  }

  it('is a form: anything else is 415 and does nothing', async () => {
    const types = ['application/json', 'multipart/form-data; boundary=x', 'text/plain', '', 'a/b'];
    for (const type of types) {
      const headers = { 'Content-Type': type, ...json };
      const refused = await visitor.post('/w/acme/api-keys', 'name=of-no-type', { headers });
      expect([refused.status, codeOf(refused)], type).to.deep.equal([415, 'request.unsupported-type']);
    }
    const { Cookie } = { Cookie: `${sessionName}=${visitor.cookie(sessionName)}` };
    const none = await visit(url(), 'POST', '/w/acme/api-keys', { headers: { Cookie, ...json } });
    expect(none.status).to.equal(415);
    const sent = 'name=typed&role=reader&expires=never';
    const type = 'Application/X-WWW-Form-URLencoded; charset=UTF-8';
    const taken = await visitor.post('/w/acme/api-keys', sent, { headers: { 'Content-Type': type } });
    expect(taken.status).to.equal(303);
    expect((await visitor.get('/w/acme/api-keys')).text).to.not.contain('of-no-type');
  });

  it('has no more than 8 KiB, to the byte', async () => {
    const start = 'role=reader&expires=never&name=long&more=';
    const fits = start + 'x'.repeat(formBytesMax - start.length);
    expect((await visitor.post('/w/acme/api-keys', fits)).status).to.equal(303);
    const refused = await visitor.post('/w/acme/api-keys', `${fits}x`, { headers: json });
    expect([refused.status, codeOf(refused)]).to.deep.equal([413, 'request.too-large']);
    const signIn = await createVisitor(url).post('/sign-in', 'x'.repeat(100_000), { headers: json });
    expect([signIn.status, codeOf(signIn)]).to.deep.equal([413, 'request.too-large']);
  });

  it('has each field once, and no more fields than a page of ours has', async () => {
    const wrong = [
      'name=a&name=b&role=reader&expires=never',
      'name[]=a&name[]=b&role=reader&expires=never',
      Array.from({ length: 65 }, (_, n) => `f${n}=1`).join('&'),
    ];
    for (const form of wrong) {
      const refused = await visitor.post('/w/acme/api-keys', form, { headers: json });
      expect(refused.status, form).to.equal(400);
    }
    const twice = 'workspace=acme&username=alice&username=bob&password=x';
    const refused = await createVisitor(url).post('/sign-in', twice, { headers: json });
    expect([refused.status, codeOf(refused)]).to.deep.equal([400, 'request.malformed']);
  });

  it('of odd names and bytes is refused or taken as text, and never a fault of the service', async () => {
    const odd = [
      '__proto__=x&name=a',
      'constructor[prototype]=x',
      'name=%',
      'name=%FF%FE',
      'name=%00',
      '=',
      '&&&',
      'name',
      'name=a&role=owner&expires=never',
      'name=a&role=reader&expires=99999',
      'name=a&role=reader&expires=date&expires_date=2026-02-30',
      'name=a&role=reader&expires=date&expires_date=x',
      'name=a&role=reader&expires=-1',
    ];
    for (const form of odd) {
      const { status } = await visitor.post('/w/acme/api-keys', form);
      expect(status, form).to.be.oneOf([303, 400]);
    }
  });

  it('is offered again with what was typed where it is refused, each fault tied to its field', async () => {
    const form = { name: '', role: 'writer', expires: 'date', expires_date: '2001-01-01' };
    const { status, text } = await visitor.post('/w/acme/api-keys', form);
    expect(status).to.equal(400);
    expect(text).to.match(/role="alert"/);
    expect(text).to.match(/<input[^>]*id="name"[^>]*aria-invalid="true"|aria-invalid="true"[^>]*id="name"/);
    expect(text).to.contain('value="2001-01-01"');
    expect(text).to.match(/<input[^>]*value="writer" checked|checked[^>]*value="writer"/);
  });

  it('makes a key that expires when it says, or never', async () => {
    const day = new Date(Date.now() + 20 * dayMs).toISOString().slice(0, 10);
    const made = new Map<string, string | null>();
    const before = Date.now();
    for (const expires of ['7', '30', '60', '90', 'never', 'date']) {
      const form = { name: `for ${expires}`, role: 'admin', expires, expires_date: day };
      const key = await makeKeyByForm(visitor, 'acme', form);
      const { body } = await withKey(client, key)('GET', `/api/acme/api-keys/${key.id}`);
      made.set(expires, body.expires_at);
    }
    const { never, date, ...days } = Object.fromEntries(made);
    expect(never).to.equal(null);
    // The last day on which it works, in UTC: to its end.
    expect(Date.parse(date ?? '')).to.be.within(
      Date.parse(`${day}T23:59:59.000Z`),
      Date.parse(`${day}T00:00:00.000Z`) + dayMs,
    );
    for (const [count, at] of Object.entries(days))
      expect(Date.parse(at ?? '')).to.be.within(
        before + Number(count) * dayMs,
        Date.now() + Number(count) * dayMs,
      );
  });

  it('makes no key where it does not say when that expires', async () => {
    for (const expires of ['', '&expires=', '&expires=soon', '&expires=-1', '&expires=0', '&expires=99999']) {
      const { status, text } = await visitor.post('/w/acme/api-keys', `name=a&role=reader${expires}`);
      expect(status, expires).to.equal(400);
      expect(text).to.contain('Choose when the key expires.');
    }
  });

  it('gives no key above the role of who sends it', async () => {
    const reader = person('acme', { username: 'ron', role: 'reader' });
    await arrangePerson(client, reader);
    const ron = await signedIn(url, reader);
    const offered = (await ron.get('/w/acme/api-keys/new')).text;
    expect(offered).to.contain('value="reader"');
    expect(offered).to.not.contain('value="writer"');
    for (const role of ['writer', 'admin']) {
      const { status, text } = await ron.post('/w/acme/api-keys', { name: 'above', role, expires: 'never' });
      expect(status).to.equal(403);
      expect(text).to.match(/role="alert"/);
    }
    expect((await ron.get('/w/acme/api-keys')).text).to.not.contain('above');
    const { status } = await ron.post('/w/acme/api-keys', { name: 'within', role: 'reader', expires: '7' });
    expect(status).to.equal(303);
  });
});
