import { expect } from 'chai';
import { arrangeAccount, isActive, mint, type Answer, type Client, type Minted } from '../support/client.ts';
import { createGates } from '../support/gates.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { serveInProcess, type InProcess } from '../support/serving.ts';

/** No request looks up this many documents one by one. */
const lookUpsMax = 30;

const password = 'correct horse battery staple';

const alice = { username: 'alice', password };

/** The earlier life of a tenant, with one of everything. */
type Before = {
  readonly tenant: string;
  readonly id: string;
  readonly bearer: string;
  readonly credential: Minted;
};

/** Something that an earlier life's client does. */
type Act = (client: Client, before: Before) => Promise<Answer>;

const path = (tenant: string, rest = ''): string => `/admin/v1/tenants/${tenant}${rest}`;

const wish = { subject: 'x', role: 'reader', ttl_secs: 3_600 };

const account = { name: 'late', max_role: 'admin', max_ttl_secs: 86_400 };

const acts: Readonly<Record<string, Act>> = {
  'minting a credential': (client, { tenant, bearer }) =>
    client('POST', path(tenant, '/tokens'), { token: bearer, body: wish }),
  'looking a credential up': (client, { tenant, credential: { username, password: of } }) =>
    client('POST', path(tenant, '/authenticate'), { body: { username, password: of } }),
  'a user’s sign-in': (client, { tenant }) => client('POST', path(tenant, '/authenticate'), { body: alice }),
  'creating a user': (client, { tenant }) =>
    client('POST', path(tenant, '/users'), { body: { username: 'late', password } }),
  'deleting a user': (client, { tenant }) => client('DELETE', path(tenant, '/users/alice')),
  'creating a service account': (client, { tenant }) =>
    client('POST', '/admin/v1/service-accounts', { body: { ...account, tenant_id: tenant } }),
  'rotating a bearer': (client, { id }) => client('POST', `/admin/v1/service-accounts/${id}/rotate`),
  'using a bearer': (client, { tenant, bearer }) => client('GET', path(tenant, '/tokens'), { token: bearer }),
  'revoking a credential': (client, { tenant, bearer, credential }) =>
    client('DELETE', path(tenant, `/tokens/${credential.username}`), { token: bearer }),
  'deleting a service account': (client, { id }) => client('DELETE', `/admin/v1/service-accounts/${id}`),
};

/** The operator's own acts are of the new life where they look the tenant up only when that is there. */
const ofNewLife = ['creating a user', 'creating a service account'];

/** What happens while the act is held. */
const between: Readonly<Record<string, (client: Client, tenant: string) => Promise<unknown>>> = {
  'was deleted': (client, tenant) => client('DELETE', path(tenant)),
  'was deleted and made again': async (client, tenant) => {
    await client('DELETE', path(tenant));
    await client('POST', '/admin/v1/tenants', { body: { id: tenant } });
  },
};

describe('a tenant that is made again under its id', () => {
  const gates = createGates();
  let dir: string;
  let service: InProcess;
  before(async () => {
    dir = freshFolder();
    service = await serveInProcess(dir, { readModels: gates.readModels });
  });
  after(async () => {
    await service?.stop();
    removeFolder(dir);
  });

  const arrange = async (tenant: string, withUser: boolean): Promise<Before> => {
    const { client } = service;
    const { id, bearer } = await arrangeAccount(client, tenant);
    if (withUser) await client('POST', path(tenant, '/users'), { body: alice });
    return { tenant, id, bearer, credential: await mint(client, tenant, bearer) };
  };

  /** Nothing of the earlier life works, nor what the held act was given, and the new life is empty. */
  const insistOnNothing = async (
    { tenant, id, bearer, credential }: Before,
    given: Answer,
  ): Promise<void> => {
    const { client } = service;
    const exists = (await client('GET', path(tenant))).status === 200;
    if (!exists) await client('POST', '/admin/v1/tenants', { body: { id: tenant } });
    const late = (given.body ?? {}) as Partial<Minted & { bearer: string; id: string }>;
    for (const token of [bearer, late.bearer]) {
      if (token === undefined) continue;
      expect((await client('GET', '/admin/v1/capabilities', { token })).status).to.equal(401);
      const minted = await client('POST', path(tenant, '/tokens'), { token, body: wish });
      expect(minted.status).to.equal(401);
    }
    const pairs = [credential, ...(late.password === undefined ? [] : [late as Minted])];
    for (const pair of pairs) expect(await isActive(client, tenant, pair)).to.equal(false);
    for (const what of ['/users', '/tokens'])
      expect((await client('GET', path(tenant, what))).body, what).to.deep.equal([]);
    for (const what of [id, late.id ?? id])
      expect((await client('GET', `/admin/v1/service-accounts/${what}`)).status).to.equal(404);
    const { body } = await client('GET', '/admin/v1/service-accounts');
    expect((body as { tenant_id: string }[]).filter((one) => one.tenant_id === tenant)).to.deep.equal([]);
  };

  let names = 0;
  for (const [act, begin] of Object.entries(acts)) {
    for (const [what, happen] of Object.entries(between)) {
      it(`keeps nothing of its earlier life, wherever ${act} was when it ${what}`, async () => {
        let isHeld = true;
        let helds = 0;
        const first = ofNewLife.includes(act) && what.includes('again') ? 2 : 1;
        for (let nth = first; isHeld; nth += 1) {
          expect(nth, 'look-ups of one request').to.be.below(lookUpsMax);
          const before = await arrange(`tenant-${(names += 1)}`, act.includes('user'));
          gates.arm(nth);
          const answer = begin(service.client, before);
          isHeld = await gates.held(answer);
          // Where the act has no further look-up it is over, and everything happens after it.
          await happen(service.client, before.tenant);
          gates.release();
          const given = await answer;
          expect(given.status, given.text).to.be.below(500);
          await insistOnNothing(before, given);
          if (act.includes('user')) {
            expect(await isActive(service.client, before.tenant, alice)).to.equal(false);
            expect(await isActive(service.client, before.tenant, { ...alice, username: 'late' })).to.equal(
              false,
            );
          }
          if (isHeld) helds += 1;
        }
        if (act !== 'deleting a service account') expect(helds, 'places at which it was held').to.be.above(0);
      }).timeout(30_000);
    }
  }

  it('can have a user and credentials of its own beside those of its earlier life', async () => {
    const { client } = service;
    const { tenant, bearer, credential } = await arrange('fresh', true);
    await client('DELETE', path(tenant));
    const again = await arrange(tenant, false);
    const other = { username: 'alice', password: 'another password' };
    await client('POST', path(tenant, '/users'), { body: other });
    expect(await isActive(client, tenant, other)).to.equal(true);
    expect(await isActive(client, tenant, alice)).to.equal(false);
    expect(await isActive(client, tenant, again.credential)).to.equal(true);
    expect(await isActive(client, tenant, credential)).to.equal(false);
    const minted = await client('POST', path(tenant, '/tokens'), { token: bearer, body: wish });
    expect(minted.status).to.equal(401);
    const { body } = await client('GET', path(tenant, '/tokens'));
    expect((body as Minted[]).map(({ username }) => username)).to.deep.equal([again.credential.username]);
  });
});
