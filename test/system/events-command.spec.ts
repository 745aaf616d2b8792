import { expect } from 'chai';
import { join } from 'node:path';
import type { CommandInput } from '../../src/cli/command.ts';
import { showEvents } from '../../src/cli/events.ts';
import { createScreen } from '../../src/cli/screen.ts';
import { readConfig } from '../../src/config.ts';
import { arrangeFolder, embedded } from '../support/arranged-folder.ts';
import { arrangeAccount, createClient, mint } from '../support/client.ts';
import { runCommand, startCommand, tenantsLog } from '../support/command.ts';
import { readLog } from '../support/contents.ts';
import { startEventStoreProcess } from '../support/eventstore-process.ts';
import { freshFolder, removeFolder, startProgram } from '../support/program.ts';
import { until } from '../support/waiting.ts';

/** More than one page of the log. */
const longLogEvents = 2_500;

type Shown = {
  readonly id: string;
  readonly position: string;
  readonly type: string;
  readonly correlation_id: string;
  readonly data: Readonly<Record<string, unknown>>;
};

const shownIn = (out: string): readonly Shown[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Shown);

const positionsIn = (out: string): readonly number[] => shownIn(out).map(({ position }) => Number(position));

describe('the events command', function () {
  this.timeout(40_000);
  let dir: string;
  beforeEach(() => (dir = freshFolder()));
  afterEach(() => removeFolder(dir));
  const at = (name: string): string => join(dir, name);
  const events = (...args: readonly string[]) => runCommand(['events', ...args], embedded(at('data')));

  it('shows every event once and in order, beside the service, and no secret', async () => {
    const program = await startProgram({ dir: at('data'), env: embedded(at('data')) });
    try {
      const client = createClient(program.url);
      const { bearer } = await arrangeAccount(client, 'acme');
      await mint(client, 'acme', bearer);
      await client('POST', '/admin/v1/tenants/acme/users', {
        body: { username: 'alice', password: 'correct horse battery', role: 'writer' },
      });
      const { code, out, err } = await events('--json');
      expect(code, err).to.equal(0);
      const log = readLog(at('data'));
      expect(shownIn(out).map(({ id }) => id)).to.deep.equal(log.map(({ id }) => id));
      expect(out).to.not.match(/argon2|_digest|_hash/);
      for (const { data } of log)
        for (const [name, secret] of Object.entries(JSON.parse(data) as object))
          if (/_(digest|hash)$/.test(name)) expect(out).to.not.include(String(secret));
      const { out: lines } = await events();
      expect(lines.split('\n')).to.have.length(log.length + 1);
      expect(lines).to.match(/^0{19}4 \S+Z UserCreated user-\S+ by admin \{.*"username":"alice".*\}$/m);
      expect(lines).to.not.match(/argon2|_digest|_hash/);
    } finally {
      await program.stop();
    }
  });

  describe('picks', () => {
    let folder: string;
    before(() => {
      folder = freshFolder();
      const log = tenantsLog(longLogEvents).map((event, n) => ({
        ...event,
        time: new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString(),
        cause: n === 7 ? event.cause.replace('"admin"', '"user:acme/alice"') : event.cause,
      }));
      arrangeFolder(join(folder, 'data'), log);
    });
    after(() => removeFolder(folder));

    const cases: readonly (readonly [what: string, args: readonly string[], from: number, count: number])[] =
      [
        ['all of a log that is longer than a page', [], 1, longLogEvents],
        ['one stream', ['--stream', 'tenant-tenant1999'], 2_000, 1],
        ['one tenant', ['--tenant', 'tenant1500'], 1_501, 1],
        ['one actor', ['--actor', 'user:acme/alice'], 8, 1],
        ['one type of several', ['--type', 'TenantDeleted,TenantCreated'], 1, longLogEvents],
        ['no type that there is not', ['--type', 'TenantDeleted'], 1, 0],
        ['what is behind a position', ['--after', '2495'], 2_496, 5],
        ['from a time on', ['--since', '2026-01-02T00:00:00Z'], 1_441, longLogEvents - 1_440],
        ['up to before a time', ['--until', '2026-01-01T00:03:00Z'], 1, 3],
        ['between two times', ['--since', '2026-01-02', '--until', '2026-01-02T01:00:00+00:30'], 1_441, 30],
        ['no more than wanted', ['--limit', '3', '--after', '00000000000000001200'], 1_201, 3],
      ];
    for (const [what, args, from, count] of cases)
      it(what, async () => {
        const { code, out, err } = await runCommand(
          ['events', '--json', ...args],
          embedded(join(folder, 'data')),
        );
        expect(code, err).to.equal(0);
        expect(positionsIn(out)).to.deep.equal(Array.from({ length: count }, (_, n) => from + n));
      });
  });

  it('follows what comes until it is interrupted, without gap or repeat', async () => {
    const program = await startProgram({ dir: at('data'), env: embedded(at('data')) });
    try {
      const client = createClient(program.url);
      const { bearer } = await arrangeAccount(client, 'acme');
      const all = startCommand(['events', '--json', '--follow', '--after', '0'], embedded(at('data')));
      let seen = '';
      all.child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
      await until('what is there is shown', () => positionsIn(seen).length === 2);
      for (let n = 0; n < 5; n += 1) await mint(client, 'acme', bearer);
      await until('what came is shown', () => positionsIn(seen).length >= 7);
      all.child.kill('SIGINT');
      expect(await all.ended).to.include({ code: 0 });
      expect(positionsIn(seen)).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
    } finally {
      await program.stop();
    }
  });

  it('reads a log that lies elsewhere', async () => {
    const server = await startEventStoreProcess(at('server.log'));
    try {
      const env = { ...embedded(at('data')), SERVICE_EVENT_STORE: server.connectionString };
      const program = await startProgram({ dir: at('data'), env });
      await arrangeAccount(createClient(program.url), 'acme');
      await program.stop();
      const { code, out } = await runCommand(['events', '--json', '--tenant', 'acme'], env);
      expect(code).to.equal(0);
      expect(shownIn(out).map(({ type }) => type)).to.deep.equal(['TenantCreated', 'ServiceAccountCreated']);
    } finally {
      await server.kill();
    }
  });

  it('ends in peace where whoever reads has seen enough', async () => {
    arrangeFolder(at('data'), tenantsLog(longLogEvents));
    const { child, ended } = startCommand(['events'], embedded(at('data')));
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { code, err } = await ended;
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
  });

  it('says in a line what is wrong with what is asked', async () => {
    const asked: readonly (readonly [args: readonly string[], says: string])[] = [
      [['--since', 'yesterday'], "option '--since' takes a time"],
      [['--after', 'x'], "option '--after' takes a position"],
      [['--limit', '0'], "option '--limit' takes a whole number above zero"],
      [['--before', 'x'], "option '--before' takes a position"],
      [['more'], 'too many arguments'],
    ];
    for (const [args, says] of asked) {
      const { code, out, err } = await events(...args);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.include(says);
      const asJson = await events(...args, '--json');
      expect(asJson.code).to.equal(2);
      expect((JSON.parse(asJson.out) as { error: string }).error).to.include(says);
    }
  });

  it('hears an interruption between two pages, also where nothing has to be waited for', async () => {
    arrangeFolder(at('data'), tenantsLog(longLogEvents));
    const abort = new AbortController();
    let printed = 0;
    const input: CommandInput = {
      config: readConfig({ SERVICE_DATA_DIR: at('data') }).config,
      options: {},
      names: [],
      signal: abort.signal,
      screen: createScreen(process.stderr),
      print: async (text) => {
        printed += text.split('\n').length - 1;
        setImmediate(() => abort.abort(new Error('interrupted')));
      },
    };
    const ended = await showEvents(input).catch((error: unknown) => error);
    expect(ended).to.be.an('error').with.property('message', 'interrupted');
    expect(printed).to.be.within(1, longLogEvents - 1);
  });

  it('shows what one request did, what an event led to, and what stands between two places', async () => {
    const program = await startProgram({ dir: at('data'), env: embedded(at('data')) });
    try {
      const client = createClient(program.url);
      for (const id of ['a', 'b', 'c', 'd'])
        await client('POST', '/admin/v1/tenants', {
          body: { id },
          headers: { 'X-Request-Id': `wish-${id}` },
        });
      const { out } = await events('--json', '--correlation-id', 'wish-c');
      expect(shownIn(out).map(({ correlation_id }) => correlation_id)).to.deep.equal(['wish-c']);
      const { bearer } = await arrangeAccount(client, 'a');
      await mint(client, 'a', bearer);
      const [created] = shownIn((await events('--json', '--type', 'ServiceAccountCreated')).out);
      const { out: led } = await events('--json', '--causation-id', created?.id ?? '');
      expect(shownIn(led).map(({ type }) => type)).to.deep.equal(['CredentialMinted']);
      const between = await events('--json', '--after', '1', '--before', '4');
      expect(shownIn(between.out).map(({ position }) => Number(position))).to.deep.equal([2, 3]);
    } finally {
      await program.stop();
    }
  });
});
