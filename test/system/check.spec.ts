import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projections } from '../../src/projections/index.ts';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import type { Database } from '../../src/stores/embedded/sqlite.ts';
import { arrangeFolder, embedded, tamper } from '../support/arranged-folder.ts';
import { arrangeAccount, createClient, mint } from '../support/client.ts';
import { runCommand, startCommand, tenantsLog } from '../support/command.ts';
import { readLog } from '../support/contents.ts';
import { startEventStoreProcess } from '../support/eventstore-process.ts';
import { freshDatabase, withFerretDb } from '../support/mongodb.ts';
import { freshFolder, removeFolder, startProgram } from '../support/program.ts';
import { until } from '../support/waiting.ts';

const password = 'correct horse battery';

const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

type CheckedModel = {
  readonly read_model: string;
  readonly documents: number;
  readonly past: number;
  readonly digest: string;
  readonly replayed_digest: string;
  readonly fault?: string;
  readonly first?: { part: string; id: string; kept: string | null; replayed: string | null };
};

/** What `check --json` says. */
const said = (out: string) =>
  JSON.parse(out) as { readonly equal: boolean; readonly read_models: readonly CheckedModel[] };

/** A service's history with documents that changed, are gone and are secret. */
const live = async (env: ReturnType<typeof embedded>): Promise<void> => {
  const program = await startProgram({ dir: env.SERVICE_DATA_DIR, env });
  try {
    const client = createClient(program.url);
    const { id, bearer } = await arrangeAccount(client, 'acme');
    const { username } = await mint(client, 'acme', bearer);
    await mint(client, 'acme', bearer);
    await client('DELETE', `/admin/v1/tenants/acme/tokens/${username}`);
    for (const name of ['alice', 'bob'])
      await client('POST', '/admin/v1/tenants/acme/users', {
        body: { username: name, password, role: 'writer' },
      });
    await client('DELETE', '/admin/v1/tenants/acme/users/bob');
    await client('POST', `/admin/v1/service-accounts/${id}/rotate`, { body: {} });
    await arrangeAccount(client, 'other');
    const { headers } = await client('DELETE', '/admin/v1/tenants/other');
    const end = headers.get('x-position') ?? '';
    // A projector that is stopped goes on at the next start, and the read models stand where it was until then.
    await until('the read models have come to the end', async () => {
      const { body } = await client('GET', '/admin/v1/projections');
      return (body as { checkpoint: string }[]).every(({ checkpoint }) => checkpoint >= end);
    });
  } finally {
    await program.stop();
  }
};

describe('checking the read models', function () {
  this.timeout(40_000);
  let dir: string;
  beforeEach(() => (dir = freshFolder()));
  afterEach(() => removeFolder(dir));
  const at = (name: string): string => join(dir, name);
  const check = (...args: readonly string[]) => runCommand(['check', ...args], embedded(at('data')));

  it('finds all of them equal to a replay after a life of the service, and leaves the data file as it was', async () => {
    await live(embedded(at('data')));
    const before = digestOf(at(`data/${dataFileName}`));
    const { code, out, err } = await check('--json');
    expect(code, err).to.equal(0);
    const { equal, read_models: models } = said(out);
    expect(equal).to.equal(true);
    expect(models.map((it) => it.read_model)).to.deep.equal(projections.map(({ name }) => name));
    for (const { digest, replayed_digest: replayed } of models) expect(digest).to.equal(replayed);
    // Every event but the one that sealed the log at the stop names a tenant.
    const acts = readLog(at('data')).filter(({ type }) => type !== 'LogSealed');
    expect(models.find((it) => it.read_model === 'activity')?.documents).to.equal(acts.length);
    expect(models.find((it) => it.read_model === 'users')?.past).to.equal(1);
    expect(digestOf(at(`data/${dataFileName}`))).to.equal(before);
    expect((await check()).out).to.match(
      new RegExp(`^${projections.length} read models are what the log says\n$`, 'm'),
    );
  });

  type Tampering = readonly [
    what: string,
    model: string,
    change: (db: Database, table: string) => void,
    id: RegExp,
    sides: 'both' | 'kept' | 'replayed',
  ];
  const tamperings: readonly Tampering[] = [
    [
      'a body',
      'users',
      (db, table) =>
        db.exec(`UPDATE ${table} SET body = replace(body, 'writer', 'admin') WHERE id = 'acme~1/alice'`),
      /^acme~1\/alice$/,
      'both',
    ],
    [
      'a hash, without showing it',
      'passwords',
      (db, table) => db.exec(`UPDATE ${table} SET body = replace(body, 'argon2id$v', 'argon2id$w')`),
      /^acme~1\/alice$/,
      'both',
    ],
    [
      'a document that was taken out',
      'revocations',
      (db, table) => db.exec(`DELETE FROM ${table} WHERE id LIKE 'bearer:%'`),
      /^bearer:/,
      'replayed',
    ],
    [
      'a document that was put in',
      'tenants',
      (db, table) =>
        db.exec(`INSERT INTO ${table} SELECT 'zzz', revision, created, position, gone, grp, sub, body
                 FROM ${table} WHERE id = 'acme'`),
      /^zzz$/,
      'kept',
    ],
    [
      'a place in a list',
      'activity',
      (db, table) => db.exec(`UPDATE ${table} SET grp = 'other' WHERE created = 3`),
      /^0{19}3$/,
      'both',
    ],
    [
      'a document of the past',
      'users',
      (db, table) => db.exec(`UPDATE ${table.replace('documents', 'past')} SET until = until + 1`),
      /^acme~1\/bob$/,
      'both',
    ],
    [
      'a document of the past that was taken out',
      'tenants',
      (db, table) => db.exec(`DELETE FROM ${table.replace('documents', 'past')}`),
      /^other$/,
      'replayed',
    ],
  ];

  describe('finds, and shows as the first difference,', () => {
    let folder: string;
    before(async () => {
      folder = freshFolder();
      await live(embedded(join(folder, 'data')));
    });
    after(() => removeFolder(folder));

    for (const [what, model, change, id, sides] of tamperings)
      it(what, async () => {
        arrangeFolder(at('data'), readLog(join(folder, 'data')));
        tamper(at('data'), model, change);
        const { code, out } = await check('--json');
        expect(code).to.equal(1);
        const { equal, read_models: models } = said(out);
        expect(equal).to.equal(false);
        const wrong = models.filter(({ digest, replayed_digest: replayed }) => digest !== replayed);
        expect(wrong.map((it) => it.read_model)).to.deep.equal([model]);
        const first = wrong[0]?.first;
        expect(first?.id).to.match(id);
        expect(first?.kept).to.not.equal(first?.replayed);
        expect(first?.kept === null).to.equal(sides === 'replayed');
        expect(first?.replayed === null).to.equal(sides === 'kept');
        expect(out).to.not.include('$argon2');
      });
  });

  it('says the first difference for people too', async () => {
    arrangeFolder(at('data'), tenantsLog(3));
    tamper(at('data'), 'tenants', (db, table) =>
      db.exec(`UPDATE ${table} SET body = replace(body, 'tenant1~1', 'tenant1~2') WHERE id = 'tenant1'`),
    );
    const { code, out } = await check();
    expect(code).to.equal(1);
    const [, , at1 = '', kept = '', replayed = ''] = out.split('\n');
    expect(at1).to.equal('  first at tenant1');
    expect(kept).to.match(/^ {2}kept: .*"incarnation":"tenant1~2"/);
    expect(replayed).to.match(/^ {2}replayed: .*"incarnation":"tenant1~1"/);
    expect(out).to.match(/\n1 of \d+ read models are not what the log says: tenants\n$/);
  });

  it('says of a read model that is behind how far it has come', async () => {
    arrangeFolder(at('data'), tenantsLog(3));
    tamper(at('data'), 'users', (db) =>
      db.exec("UPDATE read_models SET checkpoint = 2 WHERE name = 'users'"),
    );
    const { code, out } = await check();
    expect(code).to.equal(1);
    expect(out).to.match(/^users stands at 0{19}2, and the log at 0{19}3$/m);
  });

  it('refuses a folder that a service has, and one that has nothing', async () => {
    const program = await startProgram({ dir: at('data'), env: embedded(at('data')) });
    try {
      const { code, err } = await check();
      expect(err).to.include('is in use by another process');
      expect(code).to.equal(1);
    } finally {
      await program.stop();
    }
    const nothing = await runCommand(['check', '--json'], embedded(at('none')));
    expect(nothing).to.include({ code: 1 });
    expect(JSON.parse(nothing.out)).to.have.property('error').that.includes('has no keyledger.db');
    expect(readdirSync(dir)).to.deep.equal(['data']);
  });

  it('ends at an interruption and leaves nothing behind', async () => {
    arrangeFolder(at('data'), tenantsLog(40_000));
    const { child, ended } = startCommand(['check'], embedded(at('data')));
    await until('the folder is taken', () => readdirSync(at('data')).includes('owner.pid'));
    child.kill('SIGINT');
    const { code, out, err } = await ended;
    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err).to.match(/^keyledger: interrupted\n$/m);
    expect(await check(), 'it can be asked again').to.include({ code: 0 });
  });

  it('holds the read models of a log that lies elsewhere against the copy of it', async () => {
    const server = await startEventStoreProcess(at('server.log'));
    try {
      const env = { ...embedded(at('data')), SERVICE_EVENT_STORE: server.connectionString };
      await live(env);
      expect((await runCommand(['check'], env)).out).to.include('read models are what the log says');
    } finally {
      await server.kill();
    }
  });

  withFerretDb('on MongoDB', (ferretDb) => {
    it('holds them against a replay on this machine, and finds what was changed and what of the past is missing', async () => {
      const server = await startEventStoreProcess(at('server.log'));
      const database = freshDatabase();
      const env = {
        ...embedded(at('data')),
        SERVICE_EVENT_STORE: server.connectionString,
        SERVICE_READ_MODELS: ferretDb().url(database),
      };
      const client = new MongoClient(env.SERVICE_READ_MODELS);
      try {
        await live(env);
        const first = await runCommand(['check', '--json'], env);
        expect(first, first.err + first.out).to.include({ code: 0 });
        const { read_models: models } = said(first.out);
        expect(models).to.have.length(projections.length);
        expect(models.find((it) => it.read_model === 'users')?.past).to.equal(1);
        const db = client.db(database);
        const model = await db
          .collection<{ _id: string; live: string }>('keyledger_register')
          .findOne({ _id: /^users@/ });
        const { matchedCount } = await db
          .collection<{ _id: string }>(model?.live ?? '')
          .updateOne({ _id: 'acme~1/alice' }, { $set: { 's.b': '{}' } });
        expect(matchedCount).to.equal(1);
        const tenants = await db
          .collection<{ _id: string; live: string }>('keyledger_register')
          .findOne({ _id: /^tenants@/ });
        const past = db.collection((tenants?.live ?? '').replace(/_now$/, '_past'));
        expect(await past.deleteMany({})).to.include({ deletedCount: 1 });
        const changed = await runCommand(['check', '--json'], env);
        expect(changed, changed.err).to.include({ code: 1 });
        const wrong = said(changed.out).read_models.filter((it) => it.first !== undefined);
        expect(wrong.map((it) => [it.read_model, it.first?.part, it.first?.id])).to.deep.equal([
          ['tenants', 'past', 'other'],
          ['users', 'documents', 'acme~1/alice'],
        ]);

        await db
          .collection<{ live: string }>('keyledger_register')
          .updateOne({ live: model?.live ?? '' }, { $set: { checkpoint: '0'.repeat(20) } });
        const behind = await runCommand(['check'], env);
        expect(behind).to.include({ code: 1 });
        expect(behind.err).to.match(/have not come to the log's end \(\d+\): users stands at 0+\.\n$/);
      } finally {
        await client.close();
        await server.kill();
      }
    });
  });
});
