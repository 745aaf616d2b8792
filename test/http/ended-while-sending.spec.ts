import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { arrangeAccount } from '../support/client.ts';
import { serving } from '../support/serving.ts';

const wish = JSON.stringify({ subject: 'slow', role: 'reader', ttl_secs: 60 });

/** A mint whose body has begun and waits for its end. */
const beginMint = async (url: string, tenant: string, bearer: string) => {
  const sent = request(`${url}/admin/v1/tenants/${tenant}/tokens`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${bearer}`,
      'Content-Type': 'application/json',
      'Content-Length': wish.length,
      Expect: '100-continue',
    },
  });
  // It may be answered before its end: where the engines are slower than Node's own 100, at the first look.
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => {});
  sent.flushHeaders();
  await once(sent, 'continue');
  sent.write(wish.slice(0, 5));
  return async (): Promise<number> => {
    sent.end(wish.slice(5));
    const [answer] = await answered;
    answer.resume();
    return answer.statusCode ?? 0;
  };
};

describe('a bearer that ends while the body of its request is still on its way', () => {
  const { client, program } = serving();
  const endings = {
    'is rotated': (id: string) => client('POST', `/admin/v1/service-accounts/${id}/rotate`, { body: {} }),
    'is deleted': (id: string) => client('DELETE', `/admin/v1/service-accounts/${id}`),
    'is deleted, and what it minted kept': (id: string) =>
      client('DELETE', `/admin/v1/service-accounts/${id}?credentials=keep`),
    'loses its tenant': (_: string, tenant: string) => client('DELETE', `/admin/v1/tenants/${tenant}`),
  };
  for (const [n, [how, end]] of Object.entries(endings).entries()) {
    it(`mints nothing any more where it ${how}`, async () => {
      const tenant = `slow-${n}`;
      const account = await arrangeAccount(client, tenant);
      const finish = await beginMint(program().url, tenant, account.bearer);
      expect((await end(account.id, tenant)).status).to.be.oneOf([200, 204]);
      expect(await finish()).to.equal(401);
    });
  }
  it('mints where nothing ended it', async () => {
    const account = await arrangeAccount(client, 'slow-alive');
    const finish = await beginMint(program().url, 'slow-alive', account.bearer);
    expect(await finish()).to.equal(201);
  });
});
