import { expect } from 'chai';
import { withFerretDb } from '../support/mongodb.ts';
import { startNodes, type Nodes } from '../support/nodes.ts';
import { arrangePerson, createVisitor, makeKeyByForm, person, signIn, type Visitor } from '../support/web.ts';

/** How often everything is done again, on nodes that change places. */
const rounds = 4;

/** The code of the refusal of a key on a node, or the status where it is let in. */
const ask = async (url: string, key: string): Promise<string | number> => {
  const answer = await fetch(`${url}/api/acme/agents`, { headers: { 'X-API-Key': key } });
  const { code } = (await answer.json()) as { readonly code?: string };
  return code ?? answer.status;
};

const isIn = async (visitor: Visitor): Promise<boolean> =>
  (await visitor.get('/w/acme/api-keys')).status === 200;

withFerretDb('a visitor and an application of several nodes', (ferretDb) => {
  let all: Nodes | undefined;
  before(async function () {
    this.timeout(60_000);
    all = await startNodes(2, ferretDb());
  });
  after(async function () {
    this.timeout(20_000);
    await all?.close();
  });

  it('are let in and refused on every node from the answer of any on', async () => {
    const alice = person('acme');
    for (let round = 0; round < rounds; round += 1) {
      const nodes = round % 2 === 0 ? all?.nodes : all?.nodes.toReversed();
      const [one, other] = nodes ?? [];
      if (one === undefined || other === undefined) throw new Error('There are no two nodes.');
      await arrangePerson(one.client(), alice);
      let at = one;
      const visitor = createVisitor(() => at.url());
      expect((await signIn(visitor, alice)).status).to.equal(303);
      // From now on every request goes to the other node than the one before.
      const turned: Visitor = {
        ...visitor,
        get: (...asked) => {
          at = at === one ? other : one;
          return visitor.get(...asked);
        },
        post: (...asked) => {
          at = at === one ? other : one;
          return visitor.post(...asked);
        },
      };
      expect(await isIn(turned)).to.equal(true);

      // The form goes to one node, and the page that shows the key comes from the other.
      const made = await makeKeyByForm(turned, 'acme', { name: `round ${round}` });
      expect(made.key).to.match(/^svc_/);
      for (const { url } of [one, other]) expect(await ask(url(), made.key)).to.equal(200);

      const rolled = await turned.post(`/w/acme/api-keys/${made.id}/roll`, { overlap_secs: '0' });
      const { text } = await turned.get(rolled.location ?? '');
      const [next = ''] = /svc_\w{49}/.exec(text) ?? [];
      for (const { url } of [other, one]) {
        expect(await ask(url(), made.key)).to.equal('api-key.revoked');
        expect(await ask(url(), next)).to.equal(200);
      }
      expect((await turned.post(`/w/acme/api-keys/${made.id}/revoke`)).status).to.equal(303);
      for (const { url } of [one, other]) expect(await ask(url(), next)).to.equal('api-key.revoked');

      const kept = createVisitor(() => at.url());
      await signIn(kept, alice);
      await turned.post('/sign-out');
      for (const node of [one, other]) {
        at = node;
        expect(await isIn(visitor), 'signed out').to.equal(false);
        expect(await isIn(kept), 'another session').to.equal(true);
      }
      await other.client()('DELETE', '/admin/v1/tenants/acme/users/alice');
      for (const node of [one, other]) {
        at = node;
        expect(await isIn(kept), 'deleted').to.equal(false);
      }
    }
  }).timeout(120_000);
});
