import { expect } from 'chai';
import { arrangeAccount, isActive, mint, type Client } from '../support/client.ts';
import { createConnection } from '../support/connection.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { pick, seeded, testRounds, testSeed, type Random } from '../support/random.ts';

// KEYLEDGER_TEST_ROUNDS: hundreds of look-ups right after a revocation; 100 for a long run.
// KEYLEDGER_TEST_SEED: repeats what was drawn (not how the machine interleaved it).
const rounds = testRounds(20);

const lookUpsPerRound = 100;

/** Each has a connection for what it changes and another one for what it looks up. */
const lanes = 8;

const password = 'correct horse battery staple';

type Lane = { readonly acting: Client; readonly looking: Client; readonly tenant: string; bearer: string };

/** Ends something, and answers whether each secret that ended with it is taken over the other connection. */
type Act = (lane: Lane) => Promise<readonly boolean[]>;

const ended = async (client: Client, path: string): Promise<void> => {
  const { status, text } = await client('DELETE', path);
  expect(status, text).to.equal(204);
};

const bearerWorks = async (client: Client, token: string): Promise<boolean> =>
  (await client('GET', '/admin/v1/capabilities', { token })).status !== 401;

/** Everything must work before it is ended, which also fills every cache there may be. */
const insist = (before: readonly boolean[]): void => {
  expect(before, 'what works before').to.not.include(false);
};

const acts = {
  credential: async ({ acting, looking, tenant, bearer }) => {
    const minted = await mint(acting, tenant, bearer);
    insist([await isActive(looking, tenant, minted)]);
    await ended(acting, `/admin/v1/tenants/${tenant}/tokens/${minted.username}`);
    return [await isActive(looking, tenant, minted)];
  },
  rotation: async ({ acting, looking, tenant }) => {
    const { id, bearer } = await arrangeAccount(acting, tenant);
    insist([await bearerWorks(looking, bearer)]);
    const { status } = await acting('POST', `/admin/v1/service-accounts/${id}/rotate`);
    expect(status).to.equal(200);
    return [await bearerWorks(looking, bearer)];
  },
  account: async ({ acting, looking, tenant }) => {
    const { id, bearer } = await arrangeAccount(acting, tenant);
    const [one, two] = [await mint(acting, tenant, bearer), await mint(acting, tenant, bearer)];
    insist([
      await isActive(looking, tenant, one),
      await isActive(looking, tenant, two),
      await bearerWorks(looking, bearer),
    ]);
    await ended(acting, `/admin/v1/service-accounts/${id}`);
    return [
      await isActive(looking, tenant, two),
      await isActive(looking, tenant, one),
      await bearerWorks(looking, bearer),
    ];
  },
  user: async ({ acting, looking, tenant }) => {
    const user = { username: 'alice', password };
    await acting('POST', `/admin/v1/tenants/${tenant}/users`, { body: user });
    insist([await isActive(looking, tenant, user)]);
    await ended(acting, `/admin/v1/tenants/${tenant}/users/alice`);
    return [await isActive(looking, tenant, user)];
  },
  tenant: async (lane) => {
    const { acting, looking, tenant, bearer } = lane;
    const minted = await mint(acting, tenant, bearer);
    insist([await isActive(looking, tenant, minted), await bearerWorks(looking, bearer)]);
    await ended(acting, `/admin/v1/tenants/${tenant}`);
    const taken = [await isActive(looking, tenant, minted), await bearerWorks(looking, bearer)];
    lane.bearer = (await arrangeAccount(acting, tenant)).bearer;
    return [...taken, await isActive(looking, tenant, minted), await bearerWorks(looking, bearer)];
  },
} satisfies Record<string, Act>;

type Kind = keyof typeof acts;

/** How often each is drawn; users cost a password hash, three times over. */
const mix: readonly Kind[] = [
  ...Array<Kind>(60).fill('credential'),
  ...Array<Kind>(20).fill('rotation'),
  ...Array<Kind>(12).fill('account'),
  ...Array<Kind>(7).fill('tenant'),
  'user',
];

describe('what was ended', () => {
  let dir: string;
  const seed = testSeed();
  const random: Random = seeded(seed);
  let program: Program;
  before(async () => {
    dir = freshFolder();
    program = await startProgram({ dir });
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  it(`is taken nowhere from the answer on: ${rounds * lookUpsPerRound} look-ups over another connection (seed ${seed})`, async () => {
    const lookUps = { asked: 0, taken: [] as string[], kinds: new Set<string>() };
    const runLane = async (at: number): Promise<void> => {
      const [acting, looking] = [createConnection(program.url), createConnection(program.url)];
      const tenant = `lane-${at}`;
      try {
        const lane: Lane = { acting, looking, tenant, bearer: (await arrangeAccount(acting, tenant)).bearer };
        while (lookUps.asked < rounds * lookUpsPerRound) {
          const kind = pick(random, mix) ?? 'credential';
          const taken = await acts[kind](lane);
          lookUps.asked += taken.length;
          lookUps.kinds.add(kind);
          if (taken.includes(true)) lookUps.taken.push(`${kind}: ${taken.join(', ')}`);
        }
      } finally {
        acting.close();
        looking.close();
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, at) => runLane(at)));
    expect(lookUps.taken, `seed ${seed}`).to.deep.equal([]);
    expect([...lookUps.kinds].toSorted()).to.deep.equal(Object.keys(acts).toSorted());
  }).timeout(30_000 + rounds * 5_000);
});
