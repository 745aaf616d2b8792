import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredEvent } from '../../src/core/event.ts';
import { openLogReader } from '../../src/stores/embedded/index.ts';
import { openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { arrangeAccount, createClient, mint, type Client } from '../support/client.ts';
import {
  linesOf,
  runCommand,
  startCommand,
  tenantsLog,
  writeLines,
  type CommandEnd,
} from '../support/command.ts';
import { readLog } from '../support/contents.ts';
import { checkDataFile } from '../support/data-file.ts';
import { startEventStoreProcess, type EventStoreProcess } from '../support/eventstore-process.ts';
import { wholeLog } from '../support/eventstore.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { forEach, until } from '../support/waiting.ts';

/** Long enough that an import of it is seen at work. */
const longLogEvents = 10_000;
const longOnServerEvents = 800;

const embedded = (dir: string) => ({
  SERVICE_EVENT_STORE: 'embedded',
  SERVICE_READ_MODELS: 'embedded',
  SERVICE_DATA_DIR: dir,
});

const onServer = (server: EventStoreProcess, dir: string) => ({
  ...embedded(dir),
  SERVICE_EVENT_STORE: server.connectionString,
});

const withoutPosition = (event: StoredEvent) => ({ ...event, position: undefined });

const logOnServer = async ({ connectionString }: EventStoreProcess): Promise<readonly StoredEvent[]> => {
  const { events, close } = openEventStoreDb({ connectionString });
  try {
    return await wholeLog(events);
  } finally {
    await close();
  }
};

/** How many events the folder has, while a command is at work there; none where there is no folder yet. */
const countIn = (dir: string): number => {
  if (!existsSync(dir)) return 0;
  try {
    const log = openLogReader(dir);
    try {
      return log.count();
    } finally {
      log.close();
    }
  } catch {
    return 0;
  }
};

/** Something of every noun, and something of it gone again. */
const fill = async (client: Client): Promise<void> => {
  const { id, bearer } = await arrangeAccount(client, 'acme');
  await arrangeAccount(client, 'other');
  const first = await mint(client, 'acme', bearer);
  await mint(client, 'acme', bearer);
  await client('DELETE', `/admin/v1/tenants/acme/tokens/${first.username}`);
  for (const username of ['alice', 'bob'])
    await client('POST', '/admin/v1/tenants/acme/users', {
      body: { username, password: 'correct horse battery', role: 'writer' },
    });
  await client('DELETE', '/admin/v1/tenants/acme/users/bob');
  await client('POST', `/admin/v1/service-accounts/${id}/rotate`, { body: {} });
  await client('DELETE', '/admin/v1/tenants/other');
};

/** What the service answers to every list. */
const listsOf = async (client: Client): Promise<readonly string[]> => {
  const paths = ['tenants', 'service-accounts', 'tenants/acme/users', 'tenants/acme/tokens'];
  const answers = await Promise.all(paths.map((path) => client('GET', `/admin/v1/${path}`)));
  return answers.map(({ status, text }) => `${status} ${text}`);
};

/** Does something with the service on those engines. */
const withService = async <T>(
  env: ReturnType<typeof embedded>,
  work: (client: Client, program: Program) => Promise<T>,
): Promise<T> => {
  const program = await startProgram({ dir: env.SERVICE_DATA_DIR, env });
  try {
    return await work(createClient(program.url), program);
  } finally {
    await program.stop();
  }
};

/** A log file's line of an event, in the order of members that is documented; what an event does not have is left out. */
const lineMembers = (
  { id, stream, revision, position, type, version, time, data, cause, hash, previous }: StoredEvent,
  index: number,
) => ({ id, stream, revision, position, type, version, time, data, cause, hash, previous, index });

describe('moving the log', function () {
  this.timeout(40_000);
  let dir: string;
  beforeEach(() => (dir = freshFolder()));
  afterEach(() => removeFolder(dir));
  const at = (name: string): string => join(dir, name);

  const importing = (name: string, env: Readonly<Record<string, string>>) =>
    runCommand(['import', '--in', at(name)], env);
  const exporting = (name: string, env: Readonly<Record<string, string>>) =>
    runCommand(['export', '--out', at(name)], env);

  it('takes a log that is served into another folder, where the service answers the same lists', async () => {
    const lists = await withService(embedded(at('old')), async (client) => {
      await fill(client);
      const exported = await exporting('log.ndjson', embedded(at('old')));
      expect(exported, exported.err).to.include({
        code: 0,
        out: `${readLog(at('old')).length} events exported\n`,
      });
      return listsOf(client);
    });
    expect(statSync(at('log.ndjson')).mode & 0o777).to.equal(0o600);
    expect(readdirSync(dir).toSorted()).to.deep.equal(['log.ndjson', 'old']);
    // The stop sealed the log, behind what was exported.
    const log = readLog(at('old')).slice(0, -1);
    expect(log).to.have.length.greaterThan(8);
    expect(readFileSync(at('log.ndjson'), 'utf8')).to.equal(
      linesOf(log.map(lineMembers), { format: 'keyledger-log', version: 2 }).join(''),
    );

    const imported = await importing('log.ndjson', embedded(at('new')));
    expect(imported, imported.err).to.include({
      code: 0,
      out: `${log.length} events imported and verified\n`,
    });
    expect(readLog(at('new'))).to.deep.equal(log);
    expect(checkDataFile(at('new'))).to.deep.equal([]);
    expect(await withService(embedded(at('new')), listsOf)).to.deep.equal(lists);
  });

  describe('to a server and back', () => {
    let server: EventStoreProcess;
    beforeEach(async () => {
      server = await startEventStoreProcess(at('server.log'));
    });
    afterEach(() => server.kill());

    it('takes every event there and back as it was, but for its position', async () => {
      const there = onServer(server, at('copy'));
      const lists = await withService(embedded(at('old')), async (client) => {
        await fill(client);
        return listsOf(client);
      });
      const log = readLog(at('old'));
      expect(await exporting('log.ndjson', embedded(at('old')))).to.include({ code: 0 });
      const imported = await importing('log.ndjson', there);
      expect(imported, imported.err).to.include({
        code: 0,
        out: `${log.length} events imported and verified\n`,
      });
      expect(await withService(there, listsOf)).to.deep.equal(lists);

      expect(await exporting('there.ndjson', there)).to.include({ code: 0 });
      const back = await importing('there.ndjson', embedded(at('back')));
      expect(back, back.err).to.include({ code: 0, out: `${log.length} events imported and verified\n` });
      expect(readLog(at('back')).map(withoutPosition)).to.deep.equal(log.map(withoutPosition));
      expect(readLog(at('back'))).to.deep.equal(await logOnServer(server));
      expect(await withService(embedded(at('back')), listsOf)).to.deep.equal(lists);
    });

    it('goes on with an import that was killed', async () => {
      const log = tenantsLog(longOnServerEvents);
      writeLines(at('log.ndjson'), linesOf(log));
      const { child, ended } = startCommand(
        ['import', '--in', at('log.ndjson')],
        onServer(server, at('copy')),
      );
      await until('some events are there', async () => (await logOnServer(server)).length > 0);
      child.kill('SIGKILL');
      expect(await ended).to.include({ code: 'SIGKILL' });
      expect(await logOnServer(server)).to.have.length.within(1, log.length - 1);

      const resumed = await importing('log.ndjson', onServer(server, at('copy')));
      expect(resumed, resumed.err).to.include({
        code: 0,
        out: `${log.length} events imported and verified\n`,
      });
      expect(resumed.err).to.match(/^resumed at event \d+$/m);
      expect((await logOnServer(server)).map(withoutPosition)).to.deep.equal(log.map(withoutPosition));
    });

    it('does not say that a log is imported where another program has written into it', async () => {
      const log = tenantsLog(longOnServerEvents);
      writeLines(at('log.ndjson'), linesOf(log));
      const importer = startCommand(['import', '--in', at('log.ndjson')], onServer(server, at('copy')));
      await until('some events are there', async () => (await logOnServer(server)).length > 0);
      const [intruder] = tenantsLog(1, 'intruder') as [StoredEvent];
      const { events, close } = openEventStoreDb({ connectionString: server.connectionString });
      await events.append({ stream: intruder.stream, expected: 'none', events: [intruder] });
      await close();
      const { code, out, err } = await importer.ended;
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(err).to.match(/of the target is not that of the file: its id differs\.\n$/);
    });

    it('refuses a server that has another log, and JSON text that it would not give back as it is', async () => {
      writeLines(at('log.ndjson'), linesOf(tenantsLog(3)));
      writeLines(at('other.ndjson'), linesOf(tenantsLog(3, 'other')));
      const spaced = tenantsLog(3).map((event) => ({ ...event, data: ` ${event.data}` }));
      writeLines(at('spaced.ndjson'), linesOf(spaced));
      const unkept = await importing('spaced.ndjson', onServer(server, at('copy')));
      expect(unkept.err).to.include('has JSON text that this event store would not keep');
      expect(unkept).to.include({ code: 1, out: '' });
      expect(await logOnServer(server)).to.deep.equal([]);
      expect(await importing('log.ndjson', onServer(server, at('copy')))).to.include({ code: 0 });
      const before = await logOnServer(server);
      const refused = await importing('other.ndjson', onServer(server, at('copy')));
      expect(refused).to.include({ code: 1, out: '' });
      expect(refused.err).to.include('The target is not empty, and its event 1 is not that of the file');
      expect(await logOnServer(server)).to.deep.equal(before);
    });

    it('leaves no file behind where an export is interrupted', async () => {
      await server.misbehave({ call: 'read', how: 'late', ms: 1_000 });
      const { child, ended } = startCommand(
        ['export', '--out', at('log.ndjson')],
        onServer(server, at('copy')),
      );
      await until('the export has begun', () => readdirSync(dir).some((name) => name.endsWith('.part')));
      child.kill('SIGINT');
      const { code, out, err } = await ended;
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(err).to.match(/^keyledger: interrupted\n$/m);
      expect(readdirSync(dir)).to.deep.equal(['server.log']);
    });
  });

  it('goes on with an import that was killed', async () => {
    const log = tenantsLog(longLogEvents);
    writeLines(at('log.ndjson'), linesOf(log));
    const { child, ended } = startCommand(['import', '--in', at('log.ndjson')], embedded(at('new')));
    await until('some events are there', () => countIn(at('new')) > 0);
    child.kill('SIGKILL');
    expect(await ended).to.include({ code: 'SIGKILL' });
    expect(countIn(at('new'))).to.be.within(1, log.length - 1);

    const resumed = await importing('log.ndjson', embedded(at('new')));
    expect(resumed, resumed.err).to.include({ code: 0, out: `${log.length} events imported and verified\n` });
    expect(resumed.err).to.match(/^resumed at event \d+$/m);
    expect(readLog(at('new'))).to.deep.equal(log);
    expect(checkDataFile(at('new'))).to.deep.equal([]);
  });

  const log = tenantsLog(4);
  const [first, second, third, fourth] = log as [StoredEvent, StoredEvent, StoredEvent, StoredEvent];
  const whole = linesOf(log);
  const changed = (n: number, to: object): string[] =>
    linesOf(log.with(n, { ...log[n], ...to } as StoredEvent));
  const damages: readonly (readonly [what: string, lines: readonly string[], says: string])[] = [
    ['that is empty', [], 'it is empty'],
    [
      'that is cut in the middle of a line',
      [whole.join('').slice(0, -40)],
      'cut short in the middle of a line',
    ],
    ['that is cut behind a line', whole.slice(0, -1), 'its last line is missing'],
    ['of another format', linesOf(log, { format: 'other', version: 1 }), 'its first line is not'],
    ['of a later version', linesOf(log, { format: 'keyledger-log', version: 3 }), 'its format has version 3'],
    [
      'with a byte changed',
      whole.with(2, whole[2]?.replace('"2026-03', '"2026-04') ?? ''),
      'its digest is not',
    ],
    ['with an event taken out', whole.toSpliced(2, 1), 'it has 3 events, and its last line says 4'],
    ['with something behind its end', [...whole, '{}\n'], 'something stands behind its last line'],
    ['with a line that is not JSON', whole.with(2, 'nothing\n'), 'line 3 is not JSON'],
    [
      'with a member missing',
      linesOf([first, { ...second, cause: undefined }]),
      'line 3 is not an event (cause)',
    ],
    ['in another order', linesOf([second, first, third, fourth]), 'does not stand behind the one before it'],
    ['with an event twice', changed(2, { id: first.id }), 'is there twice'],
    ['with a stream that begins late', changed(2, { revision: 1 }), 'is not the next of its stream (1)'],
    ['with a revision twice', changed(2, { stream: first.stream }), 'is not the next of its stream (0)'],
    [
      'with an event that was changed',
      changed(2, { hash: `${'A'.repeat(43)}=` }),
      'is not what its hash says',
    ],
    ['with an event of a later program', changed(3, { version: 99 }), "can't be read by this program"],
  ];

  describe('refuses, before it touches the target, a file', () => {
    let folder: string;
    const ends = new Map<string, CommandEnd>();
    before(async () => {
      folder = freshFolder();
      await forEach(damages.entries(), 2, async ([n, [what, lines]]) => {
        const path = join(folder, `${n}.ndjson`);
        writeLines(path, lines);
        ends.set(what, await runCommand(['import', '--in', path], embedded(join(folder, `${n}`))));
      });
    });
    after(() => removeFolder(folder));

    for (const [n, [what, , says]] of damages.entries())
      it(what, () => {
        const { code, out, err } = ends.get(what) ?? { code: 'none', out: '', err: '' };
        expect(err).to.match(/^keyledger: .*can't be imported: .*\.\n$/);
        expect(err).to.include(says);
        expect({ code, out }).to.deep.equal({ code: 1, out: '' });
        expect(existsSync(join(folder, `${n}`))).to.equal(false);
      });
  });

  it('refuses a folder that has another log, a longer one, or a service', async () => {
    writeLines(at('log.ndjson'), whole);
    writeLines(at('shorter.ndjson'), linesOf(log.slice(0, 3)));
    writeLines(at('other.ndjson'), linesOf(log.with(2, { ...third, time: '2026-03-04T05:06:08.000Z' })));
    expect(await importing('log.ndjson', embedded(at('new')))).to.include({ code: 0 });
    for (const [name, nth] of [
      ['other.ndjson', 3],
      ['shorter.ndjson', 4],
    ] as const) {
      const { code, err } = await importing(name, embedded(at('new')));
      expect(err).to.include(`The target is not empty, and its event ${nth} is not that of the file`);
      expect(code).to.equal(1);
      expect(readLog(at('new'))).to.deep.equal(log);
    }
    await withService(embedded(at('new')), async () => {
      const { code, err } = await importing('log.ndjson', embedded(at('new')));
      expect(err).to.include('is in use by another process');
      expect(code).to.equal(1);
    });
  });

  it('never writes over a file, and says in one line what is wrong with a command', async () => {
    writeLines(at('log.ndjson'), ['mine\n']);
    const env = embedded(at('none'));
    const failures: readonly (readonly [args: readonly string[], code: number, says: string])[] = [
      [['export', '--out', at('log.ndjson')], 1, 'is there already'],
      [['export', '--out', at('new.ndjson')], 1, 'there is no log in it'],
      [['import', '--in', at('none.ndjson')], 1, 'no such file'],
      [['export'], 2, "'--out <file>' not specified"],
      [['import', '--in', at('log.ndjson'), '--force'], 2, "unknown option '--force'"],
      [['explode'], 2, "there is no command 'explode'"],
    ];
    await forEach(failures, 2, async ([args, code, says]) => {
      const end = await runCommand(args, env);
      expect(end.err).to.include(says);
      expect(end).to.include({ code, out: '' });
      expect(end.err.trimEnd().split('\n')).to.have.length(code);
    });
    expect(readFileSync(at('log.ndjson'), 'utf8')).to.equal('mine\n');
    expect(readdirSync(dir)).to.deep.equal(['log.ndjson']);
  });
});
