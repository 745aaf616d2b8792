import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createServiceAccount } from '../../../src/commands/service-account.ts';
import { createTenant } from '../../../src/commands/tenant.ts';
import { toPosition } from '../../../src/core/event.ts';
import type { AuditEvent } from '../../../src/http/audit.ts';
import type { Chain } from '../../../src/http/event-look-up.ts';
import { arrangeAccount, createClient, mint, type Client } from '../../support/client.ts';
import { cause, digestOf } from '../../support/examples.ts';
import { expectProblem } from '../../support/problems.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../../support/program.ts';
import { until } from '../../support/waiting.ts';
import { arrangePerson, person, sessionName, signedIn } from '../../support/web.ts';
import { beforehand, bodyOf, makeKey, withKey, type Key } from '../../support/workspace.ts';

const path = '/admin/v1/events';

/** What is shown of a token: of the digest that is kept, the digest’s beginning. */
const fingerprintOf = (token: string): string => {
  const digest = createHash('sha256').update(token).digest('base64url');
  return createHash('sha256').update(digest).digest('hex').slice(0, 8);
};

describe('one event of the log', () => {
  const dir = freshFolder();
  let program: Program;
  let client: Client;
  let key: Key;
  let root: string;

  /** A cause, two effects of it, one effect of the first of these, and another event of the same request. */
  before(async () => {
    root = await beforehand(dir, async (parts) => {
      const { run } = parts;
      const account = async (n: number, causation_id: string | null): Promise<string> => {
        const wish = {
          service_account_id: `sa_${n}`,
          tenant_id: 'acme',
          incarnation: 'acme~1',
          name: `${n}`,
          max_role: 'reader' as const,
          max_ttl_secs: 60,
          bearer_digest: digestOf(String(n)),
        };
        const why = { ...cause, correlation_id: 'chain', causation_id };
        const outcome = await run(createServiceAccount, wish, why);
        return outcome.accepted ? (outcome.events[0]?.id ?? '') : '';
      };
      await run(createTenant, { tenant_id: 'acme' }, { ...cause, correlation_id: 'chain-not' });
      const first = await account(0, null);
      const effect = await account(1, first);
      await account(2, effect);
      await account(3, first);
      await account(4, randomUUID());
      // No id, as only a log from elsewhere can have it: neither where something stands nor what is.
      await account(5, toPosition(1));
      await account(6, 'zzzzzzzz-zzzz-7zzz-zzzz-zzzzzzzzzzzz');
      key = await makeKey(parts, 'acme', 'writer', Date.now());
      return first;
    });
    program = await startProgram({ dir });
    client = createClient(program.url);
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  const all = async (query = ''): Promise<readonly AuditEvent[]> =>
    bodyOf(await client('GET', `${path}?limit=1000${query}`));

  it('is found by its id, however that is written, and by nothing else', async () => {
    const events = await all();
    expect(events).to.have.length.greaterThan(6);
    for (const event of events) {
      expect(bodyOf(await client('GET', `${path}/${event.id}`))).to.deep.equal(event);
      expect(bodyOf(await client('GET', `${path}/${event.id.toUpperCase()}`))).to.deep.equal(event);
    }
    const first = events[0]?.id ?? '';
    const other = first.slice(0, -1) + (first.endsWith('0') ? '1' : '0');
    for (const id of [other, randomUUID(), `0000${first.slice(4)}`, `ffff${first.slice(4)}`])
      for (const more of ['', '/chain'])
        expectProblem(await client('GET', `${path}/${id}${more}`), 404, 'event.unknown');
  });

  it('shows what its request did, as a tree of causes and effects, from wherever it is asked', async () => {
    const shape = ({ stream, effects }: Chain['events'][number]): unknown => [stream, ...effects.map(shape)];
    const asked = (await all('&correlation_id=chain')).map(({ id }) => id);
    expect(asked).to.have.length(7).and.to.include(root);
    for (const id of asked) {
      const chain = bodyOf<Chain>(await client('GET', `${path}/${id}/chain`));
      expect(chain).to.include({ correlation_id: 'chain', is_complete: true });
      expect(chain.events.map(shape)).to.deep.equal([
        [
          'service_account-sa_0',
          ['service_account-sa_1', ['service_account-sa_2']],
          ['service_account-sa_3'],
        ],
        ['service_account-sa_4'],
        ['service_account-sa_5'],
        ['service_account-sa_6'],
      ]);
      expect(JSON.stringify(chain)).to.not.match(/digest/);
    }
  });

  it('says which token was used by its fingerprint, whatever kind of token it is', async () => {
    const robot = await arrangeAccount(client, 'acme');
    await mint(client, 'acme', robot.bearer);
    await withKey(client, key)('POST', '/api/acme/agents', { body: { name: 'a' } });
    await until('the use of the key is stated', async () => (await all('&type=ApiKeyUsed')).length === 1);
    const alice = person('acme');
    await arrangePerson(client, alice);
    const visitor = await signedIn(() => program.url, alice);
    const session = fingerprintOf(visitor.cookie(sessionName) ?? '');
    await visitor.post('/sign-out');
    for (const [type, token] of [
      ['UserCreated', fingerprintOf(adminToken)],
      ['CredentialMinted', fingerprintOf(robot.bearer)],
      ['AgentCreated', fingerprintOf(key.key)],
      ['ApiKeyUsed', fingerprintOf(key.key)],
      ['UserSignedIn', session],
      ['SignedOut', session],
      ['TenantCreated', null],
    ] as const)
      expect((await all(`&type=${type}`)).map((event) => event.token)).to.deep.equal([token]);
  });
});
