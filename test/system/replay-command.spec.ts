import { expect } from 'chai';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { projections } from '../../src/projections/index.ts';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { arrangeFolder, embedded, tamper } from '../support/arranged-folder.ts';
import { arrangeAccount, createClient, mint, type Client } from '../support/client.ts';
import { runCommand, startCommand, tenantsLog } from '../support/command.ts';
import { readContents, readLog } from '../support/contents.ts';
import { checkDataFile } from '../support/data-file.ts';
import { startEventStoreProcess } from '../support/eventstore-process.ts';
import { adminToken, freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { until } from '../support/waiting.ts';

/** Long enough that a replay of it is seen at work. */
const longLogEvents = 40_000;

type State = { readonly read_model: string; readonly id: string; readonly document: object | null };
type Step = {
  readonly event: { readonly type: string; readonly position: string };
  readonly states: State[];
};

const stepsIn = (out: string): readonly Step[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Step);

const stateOf = (step: Step | undefined, name: string): State | undefined =>
  step?.states.find((state) => state.read_model === name);

const withService = async (dir: string, work: (client: Client, program: Program) => Promise<void>) => {
  const program = await startProgram({ dir, env: embedded(dir) });
  try {
    await work(createClient(program.url), program);
  } finally {
    await program.stop();
  }
};

describe('replay and rebuild', function () {
  this.timeout(60_000);
  let dir: string;
  beforeEach(() => (dir = freshFolder()));
  afterEach(() => removeFolder(dir));
  const at = (name: string): string => join(dir, name);
  const run = (...args: readonly string[]) => runCommand(args, embedded(at('data')));

  it('shows what a thing was at each of its events, at one position, and never a secret', async () => {
    await withService(at('data'), async (client) => {
      const { id } = await arrangeAccount(client, 'acme');
      await client('POST', `/admin/v1/service-accounts/${id}/rotate`, { body: {} });
      await client('DELETE', `/admin/v1/service-accounts/${id}`);
    });
    const log = readLog(at('data'));
    const stream = log.findLast(({ type }) => type === 'ServiceAccountDeleted')?.stream ?? '';
    const { code, out, err } = await run('replay', '--stream', stream, '--json');
    expect(code, err).to.equal(0);
    const steps = stepsIn(out);
    expect(steps.map(({ event }) => event.type)).to.deep.equal([
      'ServiceAccountCreated',
      'ServiceAccountBearerRotated',
      'ServiceAccountDeleted',
    ]);
    expect(stateOf(steps[0], 'service_accounts')?.document).to.include({ name: 'tester' });
    expect(stateOf(steps[1], 'bearers')?.document).to.include({ generation: 2 });
    expect(stateOf(steps[0], 'bearers')?.id).to.not.equal(stateOf(steps[1], 'bearers')?.id);
    expect(stateOf(steps[2], 'service_accounts')?.document).to.equal(null);
    for (const { data } of log)
      for (const [name, secret] of Object.entries(JSON.parse(data) as object))
        if (/_(digest|hash)$/.test(name)) expect(out).to.not.include(String(secret));

    const then = await run('replay', '--stream', stream, '--at-position', log[2]?.position ?? '', '--json');
    expect(then).to.include({ code: 0 });
    const [only, ...more] = stepsIn(then.out);
    expect(more).to.deep.equal([]);
    expect(stateOf(only, 'service_accounts')?.document).to.include({ name: 'tester' });
    expect(only?.states.filter(({ read_model: name }) => name === 'bearers')).to.have.length(2);
    const lines = await run('replay', '--stream', stream);
    expect(lines.out).to.match(/^ {2}service_accounts sa_\S+ is gone$/m);
  });

  it('says in a line what there is nothing of, and what can’t be asked together', async () => {
    arrangeFolder(at('data'), tenantsLog(3));
    const asked: readonly (readonly [args: readonly string[], code: number, says: string])[] = [
      [['replay', '--stream', 'tenant-none'], 1, 'has no event of tenant-none'],
      [['replay', '--stream', 'tenant-tenant2', '--at-position', '2'], 1, 'up to 00000000000000000002'],
      [['replay', '--stream', 'tenant-tenant2', '--at-position', '9'], 1, 'ends before position'],
      [['replay'], 2, 'takes either'],
      [['replay', '--stream', 'a', '--into', 'b'], 2, 'takes either'],
      [['replay', '--into', at('new'), '--at-position', '2'], 2, "goes with '--stream'"],
      [['replay', '--into', at('data')], 1, 'is there already'],
      [['rebuild', 'nothing', '--offline'], 1, 'There is no read model nothing'],
      [['rebuild', '--url', 'nowhere'], 2, 'takes the URL'],
      [['rebuild', '--offline', '--url', 'http://a'], 2, "does not go with '--offline'"],
    ];
    for (const [args, code, says] of asked) {
      const end = await run(...args);
      expect(end.err).to.include(says);
      expect(end).to.include({ code, out: '' });
    }
    expect(readdirSync(dir)).to.deep.equal(['data']);
  });

  it('replays into a new folder, beside the service, what the service has built step by step', async () => {
    await withService(at('data'), async (client) => {
      const { bearer } = await arrangeAccount(client, 'acme');
      const { username } = await mint(client, 'acme', bearer);
      await client('DELETE', `/admin/v1/tenants/acme/tokens/${username}`);
      const { code, out, err } = await run('replay', '--into', at('shadow'), '--json');
      expect(code, err).to.equal(0);
      expect(JSON.parse(out)).to.deep.include({ events: 4, read_models: projections.length });
    });
    expect(readContents(at('shadow'))).to.deep.equal(readContents(at('data')));
    // The stop sealed the log, behind what was replayed.
    expect(readLog(at('shadow'))).to.deep.equal(readLog(at('data')).slice(0, -1));
    expect(checkDataFile(at('shadow'))).to.deep.equal([]);
    expect(statSync(at('shadow')).mode & 0o777).to.equal(0o700);
    expect(statSync(at(`shadow/${dataFileName}`)).mode & 0o777).to.equal(0o600);
    await withService(at('shadow'), async (client) => {
      expect((await client('GET', '/admin/v1/tenants/acme')).status).to.equal(200);
    });
  });

  it('replays a log that lies elsewhere', async () => {
    const server = await startEventStoreProcess(at('server.log'));
    try {
      const env = { ...embedded(at('data')), SERVICE_EVENT_STORE: server.connectionString };
      const program = await startProgram({ dir: at('data'), env });
      await arrangeAccount(createClient(program.url), 'acme');
      await program.stop();
      const { code, err } = await runCommand(['replay', '--into', at('shadow')], env);
      expect(code, err).to.equal(0);
      const check = await runCommand(['check'], { ...env, SERVICE_DATA_DIR: at('shadow') });
      expect(check, check.err + check.out).to.include({ code: 0 });
    } finally {
      await server.kill();
    }
  });

  it('leaves no folder that could be taken for whole where a replay is killed or interrupted', async () => {
    arrangeFolder(at('data'), tenantsLog(longLogEvents));
    const start = () => startCommand(['replay', '--into', at('shadow')], embedded(at('data')));
    const isUnderWay = (pid: number) => () => readdirSync(dir).includes(`.shadow.${pid}.part`);

    const killed = start();
    await until('the replay is under way', isUnderWay(killed.child.pid ?? 0));
    killed.child.kill('SIGKILL');
    expect(await killed.ended).to.include({ code: 'SIGKILL' });
    expect(existsSync(at('shadow'))).to.equal(false);

    const interrupted = start();
    await until('the replay is under way', isUnderWay(interrupted.child.pid ?? 0));
    interrupted.child.kill('SIGINT');
    const { code, out, err } = await interrupted.ended;
    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err).to.match(/^keyledger: interrupted\n$/m);
    expect(readdirSync(dir)).to.have.members(['data', `.shadow.${killed.child.pid}.part`]);
  });

  it('rebuilds in the folder what somebody changed, and where it is killed the folder is as it was', async () => {
    arrangeFolder(at('data'), tenantsLog(longLogEvents));
    const whole = readContents(at('data'));
    tamper(at('data'), 'tenants', (db, table) => db.exec(`DELETE FROM ${table} WHERE id = 'tenant7'`));
    const tampered = readContents(at('data'));
    const { child, ended } = startCommand(['rebuild', '--offline', 'tenants'], embedded(at('data')));
    await until('the rebuild is under way', () => readdirSync(at('data')).includes('owner.pid'));
    child.kill('SIGKILL');
    expect(await ended).to.include({ code: 'SIGKILL' });
    // What was under way at the kill is rolled back by whoever opens the file next to write, and not by a reader.
    const db = openDatabase(join(at('data'), dataFileName));
    db.exec('PRAGMA wal_checkpoint');
    db.close();
    expect(readContents(at('data'))).to.deep.equal(tampered);

    const { code, out, err } = await run('rebuild', '--offline', 'tenants', '--json');
    expect(code, err).to.equal(0);
    expect(JSON.parse(out)).to.deep.equal({ read_models: ['tenants'] });
    expect(readContents(at('data'))).to.deep.equal(whole);
    expect(checkDataFile(at('data'))).to.deep.equal([]);
  });

  it('has a running service rebuild its read models, and refuses without it or to be let in', async () => {
    await withService(at('data'), async (client, program) => {
      await arrangeAccount(client, 'acme');
      tamper(at('data'), 'tenants', (db, table) => db.exec(`UPDATE ${table} SET grp = 'changed'`));
      const env = { ...embedded(at('none')), SERVICE_CP_ADMIN_TOKEN: adminToken };
      const { code, out, err } = await runCommand(['rebuild', 'tenants', '--url', program.url], env);
      expect(code, err).to.equal(0);
      expect(out).to.equal('1 read models rebuilt: tenants\n');
      expect(readContents(at('data'))['tenants']?.map((row) => row['grp'])).to.deep.equal([null]);
      const all = await runCommand(['rebuild', '--url', program.url, '--json'], env);
      expect((JSON.parse(all.out) as { read_models: string[] }).read_models).to.have.members(
        projections.map(({ name }) => name),
      );

      const unknown = await runCommand(['rebuild', 'nothing', '--url', program.url], env);
      expect(unknown.err).to.include('has no read model nothing');
      const wrong = { ...env, SERVICE_CP_ADMIN_TOKEN: 'another-token-0123456789abcdefghij' };
      const out1 = await runCommand(['rebuild', '--url', program.url], wrong);
      expect(out1.err).to.include('answers 401');
      expect(out1).to.include({ code: 1 });
      const offline = await run('rebuild', '--offline');
      expect(offline.err).to.include('is in use by another process');
    });
    const gone = await runCommand(['rebuild', '--url', 'http://127.0.0.1:1'], {
      ...embedded(at('data')),
      SERVICE_CP_ADMIN_TOKEN: adminToken,
    });
    expect(gone.err).to.include('does not answer');
    expect(gone).to.include({ code: 1 });
  });
});
