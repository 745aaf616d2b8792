import { expect } from 'chai';
import { arrangeAccount, mint, type Answer, type Ask } from '../support/client.ts';
import { expectInvalid } from '../support/problems.ts';
import { serving } from '../support/serving.ts';
import { forEach } from '../support/waiting.ts';

/** More than the longest page, so that a whole list is sent in pieces. */
const manyItems = 1_050;

/** More pages of nothing than a filtered list looks through for one answer. */
const deadAccounts = 55;

/** A list that never ends is a fault too. */
const pagesMax = 200;

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

const nextOf = ({ headers }: Answer): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];

describe('lists over HTTP', () => {
  const { client } = serving();

  /** Every page of a list, following the links; `between` is called before each but the first. */
  const pagesOf = async <T>(
    path: string,
    ask: Ask = {},
    between: () => Promise<unknown> = async () => {},
  ): Promise<readonly (readonly T[])[]> => {
    const pages: (readonly T[])[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const answer: Answer = await client('GET', next, ask);
      expect(answer.status, answer.text).to.equal(200);
      pages.push(answer.body as T[]);
      expect(pages).to.have.length.below(pagesMax);
      next = nextOf(answer);
      if (next !== undefined) await between();
    }
    return pages;
  };

  type Kind = { readonly path: string; readonly key: string; readonly ask?: Ask; add(): Promise<string> };
  const kinds: Record<string, Kind> = {};
  before(async () => {
    let names = 0;
    const fresh = (): string => `item-${(names += 1)}`;
    const posted = async (path: string, body: object, key: string): Promise<string> => {
      const answer = await client('POST', path, { body });
      expect(answer.status, answer.text).to.equal(201);
      return (answer.body as Record<string, string>)[key] ?? '';
    };
    const account = await arrangeAccount(client, 'acme');
    const own = await arrangeAccount(client, 'acme');
    const wish = { password: 'password' };
    const service = { tenant_id: 'acme', max_role: 'reader', max_ttl_secs: 60 };
    kinds['tenants'] = {
      path: '/admin/v1/tenants',
      key: 'id',
      add: () => posted('/admin/v1/tenants', { id: fresh() }, 'id'),
    };
    kinds['users'] = {
      path: '/admin/v1/tenants/acme/users',
      key: 'username',
      add: () => posted('/admin/v1/tenants/acme/users', { ...wish, username: fresh() }, 'username'),
    };
    kinds['service accounts'] = {
      path: '/admin/v1/service-accounts',
      key: 'id',
      add: () => posted('/admin/v1/service-accounts', { ...service, name: fresh() }, 'id'),
    };
    kinds['credentials of a tenant'] = {
      path: '/admin/v1/tenants/acme/tokens',
      key: 'username',
      add: async () => (await mint(client, 'acme', account.bearer)).username,
    };
    kinds['credentials of an account'] = {
      path: '/admin/v1/tenants/acme/tokens',
      key: 'username',
      ask: { token: own.bearer },
      add: async () => {
        await mint(client, 'acme', account.bearer);
        return (await mint(client, 'acme', own.bearer)).username;
      },
    };
  });
  const kind = (name: string): Kind => kinds[name] as Kind;

  const keysOf = async (name: string, query = ''): Promise<readonly string[]> => {
    const { path, key, ask } = kind(name);
    const answer = await client('GET', path + query, ask);
    expect([answer.status, nextOf(answer)], answer.text).to.deep.equal([200, undefined]);
    return (answer.body as Record<string, string>[]).map((item) => item[key] ?? '');
  };
  const pagedKeys = async (
    name: string,
    query: string,
    between?: () => Promise<unknown>,
  ): Promise<readonly string[][]> => {
    const { path, key, ask } = kind(name);
    const pages = await pagesOf<Record<string, string>>(path + query, ask, between);
    return pages.map((page) => page.map((item) => item[key] ?? ''));
  };

  for (const name of [
    'tenants',
    'users',
    'service accounts',
    'credentials of a tenant',
    'credentials of an account',
  ]) {
    describe(`of ${name}`, () => {
      let added: string[];
      before(async () => {
        added = [];
        for (const _ of numbers(7)) added.push(await kind(name).add());
      });

      it('are whole without a limit, oldest first, and newest first where that is asked', async () => {
        const all = await keysOf(name);
        expect(all.slice(-added.length)).to.deep.equal(added);
        expect(await keysOf(name, '?order=desc')).to.deep.equal(all.toReversed());
        expect(await keysOf(name, '?order=asc')).to.deep.equal(all);
      });
      it('come in pages to the very end, each item once, in both orders and for any limit', async () => {
        const all = await keysOf(name);
        for (const limit of [1, 3, all.length, all.length + 1, 1_000]) {
          const pages = await pagedKeys(name, `?limit=${limit}`);
          expect(pages.flat(), `limit ${limit}`).to.deep.equal(all);
          for (const page of pages) expect(page).to.have.length.at.most(limit);
          const reversed = await pagedKeys(name, `?order=desc&limit=${limit}`);
          expect(reversed.flat(), `limit ${limit}`).to.deep.equal(all.toReversed());
        }
      });
      it('lose and repeat nothing while items are added between the pages', async () => {
        const before = await keysOf(name);
        const fresh: string[] = [];
        const add = async () => {
          if (fresh.length < 5) fresh.push(await kind(name).add());
        };
        const paged = (await pagedKeys(name, '?limit=3', add)).flat();
        expect(paged).to.deep.equal([...before, ...fresh]);
        fresh.splice(0);
        const reversed = (await pagedKeys(name, '?limit=3&order=desc', add)).flat();
        expect(reversed).to.deep.equal(paged.toReversed());
      });
      it('refuse a limit, order, cursor or other member that none can have', async () => {
        const { path, ask } = kind(name);
        const bad = [
          'limit=0',
          'limit=1001',
          'limit=1.5',
          'limit=-1',
          'limit=',
          'limit=x',
          'limit=1&limit=2',
        ];
        for (const query of [...bad, 'order=up', 'cursor=1', 'cursor=', 'offset=1'])
          expect(expectInvalid(await client('GET', `${path}?${query}`, ask)), query).to.have.length(1);
      });
    });
  }

  describe('that are long', () => {
    for (const name of ['tenants', 'credentials of a tenant', 'credentials of an account']) {
      it(`answers ${name} whole, in order, when there are more than a page can hold`, async () => {
        const { path, key, ask, add } = kind(name);
        await forEach(numbers(manyItems), 16, async () => void (await add()));
        const { status, body, headers } = await client('GET', path, ask);
        expect([status, headers.get('link')]).to.deep.equal([200, null]);
        const all = (body as Record<string, string>[]).map((item) => item[key] ?? '');
        expect(all).to.have.length.at.least(manyItems);
        expect(new Set(all).size).to.equal(all.length);
        const pages = await pagesOf<Record<string, string>>(`${path}?limit=500`, ask);
        expect(pages.flat().map((item) => item[key])).to.deep.equal(all);
      }).timeout(90_000);
    }

    it('leads through items that are left out, to those behind them', async () => {
      const alive = (await arrangeAccount(client, 'alive')).id;
      await forEach(numbers(deadAccounts), 8, async () => void (await arrangeAccount(client, 'doomed')));
      const behind = (await arrangeAccount(client, 'alive')).id;
      await client('DELETE', '/admin/v1/tenants/doomed');
      const paged = (await pagesOf<{ id: string }>('/admin/v1/service-accounts?limit=1')).flat();
      const ids = paged.map(({ id }) => id);
      const whole = (await client('GET', '/admin/v1/service-accounts')).body as { id: string }[];
      expect(ids).to.deep.equal(whole.map(({ id }) => id));
      expect(ids.slice(-2)).to.deep.equal([alive, behind]);
    });
  });
});
