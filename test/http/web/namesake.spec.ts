import { expect } from 'chai';
import { serving } from '../../support/serving.ts';
import { arrangePerson, makeKeyByForm, person, signedIn } from '../../support/web.ts';
import { withKey } from '../../support/workspace.ts';

describe('a user who has the name of one that was deleted', () => {
  const { client, program } = serving();
  const url = () => program().url;

  it('has none of the keys that the other made, whatever their own role', async () => {
    const first = person('acme');
    await arrangePerson(client, first);
    const key = await makeKeyByForm(await signedIn(url, first), 'acme', {
      name: 'of the first',
      role: 'admin',
    });
    await client('DELETE', '/admin/v1/tenants/acme/users/alice');
    const second = person('acme', { role: 'reader', password: 'another password' });
    await arrangePerson(client, second);
    const visitor = await signedIn(url, second);
    const list = await visitor.get('/w/acme/api-keys');
    expect(list.status).to.equal(200);
    expect(list.text).to.not.contain('of the first');
    const at = `/w/acme/api-keys/${key.id}`;
    for (const path of [at, `${at}/roll`, `${at}/revoke`])
      expect((await visitor.get(path)).status).to.equal(404);
    expect((await visitor.post(`${at}/roll`, { overlap_secs: '0' })).status).to.equal(404);
    expect((await visitor.post(`${at}/revoke`)).status).to.equal(403);
    const own = withKey(client, key);
    expect((await own('GET', '/api/acme/api-keys')).status).to.equal(200);
  });
});
