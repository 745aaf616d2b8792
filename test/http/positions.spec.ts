import { expect } from 'chai';
import { expectInvalid, expectProblem } from '../support/problems.ts';
import { serving } from '../support/serving.ts';

const form = /^\d{20}$/;

const positionOf = ({ headers }: { headers: Headers }): string => headers.get('x-position') ?? '';

const asking = (position: string) => ({ headers: { 'X-Min-Position': position } });

describe('positions over HTTP', () => {
  const { client } = serving();

  it('stand on every answer that succeeds, and rise with what is written', async () => {
    const made = await client('POST', '/admin/v1/tenants', { body: { id: 'acme' } });
    const again = await client('POST', '/admin/v1/tenants', { body: { id: 'zeta' } });
    expect([made.status, again.status]).to.deep.equal([201, 201]);
    expect(positionOf(made)).to.match(form);
    expect(positionOf(again) > positionOf(made)).to.equal(true);
    for (const path of ['/admin/v1/tenants', '/admin/v1/tenants?limit=1', '/admin/v1/tenants/acme']) {
      const read = await client('GET', path, asking(positionOf(again)));
      expect([path, read.status]).to.deep.equal([path, 200]);
      expect(positionOf(read) >= positionOf(again)).to.equal(true);
    }
  });
  it('of a wish that was true already are where it became true', async () => {
    await client('POST', '/admin/v1/tenants', { body: { id: 'gone' } });
    const first = await client('DELETE', '/admin/v1/tenants/gone');
    const second = await client('DELETE', '/admin/v1/tenants/gone');
    expect([first.status, second.status]).to.deep.equal([204, 204]);
    expect(positionOf(first)).to.match(form);
    expect(positionOf(second) >= positionOf(first)).to.equal(true);
  });
  it('that are not what an answer had are refused, beside every other fault', async () => {
    for (const position of ['1', 'x'.repeat(20), '-1', '9'.repeat(21)]) {
      expect(expectInvalid(await client('GET', '/admin/v1/tenants', asking(position)))).to.deep.equal([
        '/X-Min-Position',
      ]);
    }
    const two = await client('GET', '/admin/v1/tenants?limit=0', asking('x'));
    expect(expectInvalid(two)).to.deep.equal(['/X-Min-Position', '/limit']);
  });
  it('that the log has not come to are answered 503 in the end', async () => {
    const ahead = await client('GET', '/admin/v1/tenants', asking('9'.repeat(20)));
    expectProblem(ahead, 503, 'service.unavailable');
  }).timeout(20_000);
  it('do not stand on refusals', async () => {
    const refused = await client('GET', '/admin/v1/tenants/nowhere');
    expect([refused.status, refused.headers.get('x-position')]).to.deep.equal([404, null]);
  });
});
