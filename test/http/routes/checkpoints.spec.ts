import { expect } from 'chai';
import { leafOf, isConsistent, rootFromInclusion } from '../../../src/proofs/merkle.ts';
import { readKeptNote } from '../../../src/proofs/claims.ts';
import { digestOf } from '../../../src/proofs/checkpoint.ts';
import { readVerifierKey } from '../../../src/proofs/signed-note.ts';
import { createClient, type Client } from '../../support/client.ts';
import { expectProblem } from '../../support/problems.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../../support/program.ts';
import { freshPem } from '../../support/sealing.ts';
import { forEach, until } from '../../support/waiting.ts';

type Checkpoint = {
  readonly number: number;
  readonly tree_size: number;
  readonly root_hash: string;
  readonly previous: string | null;
  readonly note: string;
  readonly event_id: string;
};

const path = '/admin/v1/checkpoints';

const bytes = (text: string): Buffer => Buffer.from(text, 'base64');

const seal = async (client: Client): Promise<Checkpoint> => {
  const answer = await client('POST', path);
  expect(answer.status, answer.text).to.equal(200);
  return answer.body as Checkpoint;
};

const addTenants = (client: Client, from: number, amount: number): Promise<void> =>
  forEach(Array(amount).keys(), 8, async (n) => {
    const { status } = await client('POST', '/admin/v1/tenants', { body: { id: `t-${from + n}` } });
    expect(status).to.equal(201);
  });

describe('the checkpoints of the log', function () {
  this.timeout(60_000);
  const dir = freshFolder();
  const env = { SERVICE_SIGNING_KEY: freshPem() };
  let program: Program;
  let client: Client;
  const sealed: Checkpoint[] = [];

  before(async () => {
    program = await startProgram({ dir, env });
    client = createClient(program.url);
  });
  after(async () => {
    await program.stop();
    removeFolder(dir);
  });

  it('are none in an empty log, and nothing is covered', async () => {
    expect((await client('GET', path)).body).to.deep.equal([]);
    expectProblem(await client('POST', path), 404, 'checkpoint.unknown');
    expectProblem(await client('GET', `${path}/consistency?first=1`), 404, 'checkpoint.unknown');
    await addTenants(client, 0, 1);
    const { body } = await client('GET', '/admin/v1/events');
    const [{ id } = { id: '' }] = body as readonly { id: string }[];
    expectProblem(await client('GET', `/admin/v1/events/${id}/proof`), 409, 'event.unsealed');
  });

  it('cover all that is there when the operator asks for one, and only if something has come', async () => {
    sealed.push(await seal(client));
    expect(sealed[0]).to.include({ number: 1, tree_size: 1, previous: null });
    expect(await seal(client)).to.deep.equal(sealed[0]);
    for (const amount of [300, 255, 7, 520]) {
      await addTenants(client, (sealed.at(-1) as Checkpoint).tree_size, amount);
      sealed.push(await seal(client));
    }
    // Each but the first covers the event of the one before it.
    expect(sealed.map(({ tree_size }) => tree_size)).to.deep.equal([1, 302, 558, 566, 1_087]);
  });

  it('are listed in pages, each signed and naming the one before it', async () => {
    const { key } = (await client('GET', `${path}/key`)).body as { key: string };
    const first = await client('GET', `${path}?limit=3`);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await client('GET', next);
    expect([...(first.body as Checkpoint[]), ...(second.body as Checkpoint[])]).to.deep.equal(sealed);
    expect(second.headers.get('link')).to.equal(null);
    expect((await client('GET', `${path}?order=desc&limit=1`)).body).to.deep.equal(sealed.slice(-1));
    for (const [n, { note, tree_size, root_hash, previous }] of sealed.entries()) {
      expect(readKeptNote(note, [readVerifierKey(key)])).to.include({ tree_size, root_hash });
      const before = sealed[n - 1];
      expect(previous).to.equal(before === undefined ? null : digestOf(before.note));
    }
  });

  it('prove of every event that it is covered, by the last and by the first one that does', async () => {
    const { text } = await client('GET', '/admin/v1/events', { headers: { Accept: 'application/x-ndjson' } });
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; position: string; hash: string });
    const last = sealed.at(-1) as Checkpoint;
    expect(events).to.have.length(last.tree_size + 1);
    const edges = new Set(sealed.flatMap(({ tree_size: size }) => [size - 1, size]));
    const asked = events
      .map((event, n) => [n, event] as const)
      .filter(([n]) => n < last.tree_size && (n % 64 === 0 || n % 256 === 255 || edges.has(n)));
    await forEach(asked, 4, async ([n, { id, position, hash }]) => {
      const first = sealed.find(({ tree_size }) => tree_size > n);
      const by = n % 2 === 0 ? last : (first as Checkpoint);
      const at = n % 3 === 0 ? position : id;
      const answer = await client('GET', `/admin/v1/events/${at}/proof?tree_size=${by.tree_size}`);
      expect(answer.status, answer.text).to.equal(200);
      const proof = answer.body as { index: number; hash: string; leaf_hash: string; hashes: string[] };
      expect(answer.body).to.deep.include({ event_id: id, index: n, hash, checkpoint: by });
      expect(leafOf(bytes(hash)).toString('base64')).to.equal(proof.leaf_hash);
      const root = rootFromInclusion(bytes(proof.leaf_hash), n, by.tree_size, proof.hashes.map(bytes));
      expect(root?.toString('base64'), `event ${n} in ${by.tree_size}`).to.equal(by.root_hash);
    });
    const [, late] = [events[0], events[500]];
    expectProblem(
      await client('GET', `/admin/v1/events/${late?.id}/proof?tree_size=${sealed[1]?.tree_size}`),
      409,
      'event.unsealed',
    );
    expectProblem(
      await client('GET', `/admin/v1/events/${late?.id}/proof?tree_size=3`),
      404,
      'checkpoint.unknown',
    );
  });

  it('prove of each that it begins with every earlier one', async () => {
    for (const [n, from] of sealed.entries())
      for (const to of sealed.slice(n)) {
        const at = `${path}/consistency?first=${from.tree_size}&second=${to.tree_size}`;
        const { body } = await client('GET', at);
        expect(body).to.deep.include({ first: from, second: to });
        const [a, b] = [from, to].map(({ tree_size: size, root_hash }) => ({ size, root: bytes(root_hash) }));
        const hashes = (body as { hashes: string[] }).hashes.map(bytes);
        expect(isConsistent(a as never, b as never, hashes), at).to.equal(true);
      }
    const [first, second] = sealed;
    const back = `${path}/consistency?first=${second?.tree_size}&second=${first?.tree_size}`;
    expectProblem(await client('GET', back), 400, 'request.invalid');
  });

  it('go on over a stop, which covers what is left, and over a kill', async () => {
    const last = sealed.at(-1) as Checkpoint;
    await addTenants(client, 2_000, 3);
    await program.stop();
    program = await startProgram({ dir, env });
    client = createClient(program.url);
    const listed = (await client('GET', `${path}?order=desc&limit=1`)).body as Checkpoint[];
    expect(listed[0]).to.deep.include({ number: last.number + 1, tree_size: last.tree_size + 4 });
    await addTenants(client, 3_000, 2);
    await program.kill();
    program = await startProgram({ dir, env });
    client = createClient(program.url);
    expect(await seal(client)).to.include({ number: last.number + 2, tree_size: last.tree_size + 7 });
  });

  it('come by themselves after as many events as the settings say', async () => {
    await program.stop();
    program = await startProgram({ dir, env: { ...env, SERVICE_CHECKPOINT_EVENTS: '10' } });
    client = createClient(program.url);
    const [before] = (await client('GET', `${path}?order=desc&limit=1`)).body as Checkpoint[];
    await addTenants(client, 4_000, 12);
    await until('there is another', async () => {
      const [now] = (await client('GET', `${path}?order=desc&limit=1`)).body as Checkpoint[];
      return now !== undefined && now.number > (before?.number ?? 0);
    });
  });
});
