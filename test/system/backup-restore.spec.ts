import { expect } from 'chai';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { arrangeFolder, embedded } from '../support/arranged-folder.ts';
import { arrangeAccount, createClient, mint } from '../support/client.ts';
import { runCommand, startCommand, tenantsLog } from '../support/command.ts';
import { readContents, readLog } from '../support/contents.ts';
import { checkDataFile } from '../support/data-file.ts';
import { freshFolder, removeFolder, startProgram } from '../support/program.ts';
import { until } from '../support/waiting.ts';

/** Long enough that a copy of it is seen at work. */
const longLogEvents = 40_000;

/** SQLite's own choice, which the data file is made with. */
const pageBytes = 4_096;

/** How often a service that is at work is backed up. */
const backups = 3;

const isUnderWay = (folder: string) => () =>
  existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.part'));

describe('backup and restore', function () {
  this.timeout(60_000);
  let dir: string;
  beforeEach(() => (dir = freshFolder()));
  afterEach(() => removeFolder(dir));
  const at = (name: string): string => join(dir, name);
  const backUp = (name: string, ...args: readonly string[]) =>
    runCommand(['backup', '--out', at(name), ...args], embedded(at('data')));
  const restore = (name: string, to: string, ...args: readonly string[]) =>
    runCommand(['restore', '--in', at(name), ...args], embedded(at(to)));

  it('copy a service at work as it was at one instant, again and again, and no write of it fails', async () => {
    // So long that the service writes while a copy is under way.
    arrangeFolder(at('data'), tenantsLog(longLogEvents));
    const program = await startProgram({ dir: at('data'), env: embedded(at('data')) });
    const minted: string[] = [];
    try {
      const client = createClient(program.url);
      const { bearer } = await arrangeAccount(client, 'acme');
      const end = new AbortController();
      const writing = (async () => {
        while (!end.signal.aborted) minted.push((await mint(client, 'acme', bearer)).username);
      })();
      for (let n = 0; n < backups; n += 1) {
        const known = minted.length;
        const { code, out, err } = await backUp(`${n}.db`, '--json');
        expect(code, err).to.equal(0);
        const { events, head } = JSON.parse(out) as { events: number; head: string };
        expect(Number(head)).to.equal(events);
        // The tenant and the account; and at least what had been answered before it began.
        expect(events - longLogEvents).to.be.within(2 + known, 3 + minted.length);
      }
      end.abort();
      await writing;
    } finally {
      await program.stop();
    }
    expect(minted).to.have.length.greaterThan(backups);
    const log = readLog(at('data'));
    for (let n = 0; n < backups; n += 1) {
      expect(readdirSync(dir).filter((name) => name.startsWith(`${n}.db`))).to.deep.equal([`${n}.db`]);
      expect(statSync(at(`${n}.db`)).mode & 0o777).to.equal(0o600);
      const { code, err } = await restore(`${n}.db`, `restored${n}`);
      expect(code, err).to.equal(0);
      const restored = readLog(at(`restored${n}`));
      expect(restored).to.deep.equal(log.slice(0, restored.length));
    }
    expect(checkDataFile(at('restored0'))).to.deep.equal([]);
  });

  it('bring back a folder in which the service answers as before', async () => {
    const first = await startProgram({ dir: at('data'), env: embedded(at('data')) });
    const client = createClient(first.url);
    const { bearer } = await arrangeAccount(client, 'acme');
    await mint(client, 'acme', bearer);
    const { text: before } = await client('GET', '/admin/v1/tenants/acme/tokens');
    expect(await backUp('copy.db')).to.include({ code: 0 });
    await first.stop();
    const { code, out, err } = await restore('copy.db', 'restored');
    expect(code, err).to.equal(0);
    expect(out).to.match(/^3 events restored and verified, up to position 0{19}3\n$/);
    expect(statSync(at('restored')).mode & 0o777).to.equal(0o700);
    expect(statSync(at(`restored/${dataFileName}`)).mode & 0o777).to.equal(0o600);
    expect(readContents(at('restored'))).to.deep.equal(readContents(at('data')));
    const again = await startProgram({ dir: at('restored'), env: embedded(at('restored')) });
    try {
      const answer = await createClient(again.url)('GET', '/admin/v1/tenants/acme/tokens');
      expect(answer.text).to.equal(before);
    } finally {
      await again.stop();
    }
  });

  it('leave nothing that could be taken for whole where they are killed or interrupted', async () => {
    arrangeFolder(at('data'), tenantsLog(longLogEvents));

    const killed = startCommand(['backup', '--out', at('copy.db')], embedded(at('data')));
    await until('the backup is under way', isUnderWay(dir));
    killed.child.kill('SIGKILL');
    expect(await killed.ended).to.include({ code: 'SIGKILL' });
    expect(existsSync(at('copy.db'))).to.equal(false);

    const interrupted = startCommand(['backup', '--out', at('other.db')], embedded(at('data')));
    await until('the backup is under way', () =>
      readdirSync(dir).some((name) => name.startsWith('.other.db') && name.endsWith('.part')),
    );
    interrupted.child.kill('SIGINT');
    const end = await interrupted.ended;
    expect({ code: end.code, out: end.out }).to.deep.equal({ code: 1, out: '' });
    expect(end.err).to.match(/^keyledger: interrupted\n$/m);
    expect(readdirSync(dir).filter((name) => name.includes('other'))).to.deep.equal([]);

    expect(await backUp('copy.db')).to.include({ code: 0 });
    const half = startCommand(['restore', '--in', at('copy.db')], embedded(at('restored')));
    await until('the restore is under way', isUnderWay(at('restored')));
    half.child.kill('SIGKILL');
    expect(await half.ended).to.include({ code: 'SIGKILL' });
    expect(existsSync(at(`restored/${dataFileName}`))).to.equal(false);

    expect(await restore('copy.db', 'restored')).to.include({ code: 0 });
    expect(readdirSync(at('restored'))).to.have.members([dataFileName, 'owner.lock']);
    expect(readLog(at('restored'))).to.have.length(longLogEvents);
  });

  it('refuse a backup that is damaged, cut, foreign, or a file that was in use, and make no folder for it', async () => {
    arrangeFolder(at('data'), tenantsLog(500));
    expect(await backUp('copy.db')).to.include({ code: 0 });
    const { size } = statSync(at('copy.db'));

    copyFileSync(at('copy.db'), at('cut.db'));
    truncateSync(at('cut.db'), size - 8_192);
    copyFileSync(at('copy.db'), at('damaged.db'));
    const copy = openDatabase(at('damaged.db'));
    const root = copy
      .prepare<{ rootpage: number }>(
        `SELECT rootpage FROM sqlite_master
        WHERE name = (SELECT tbl FROM read_models WHERE name = 'tenants')`,
      )
      .get();
    copy.close();
    const bytes = readFileSync(at('damaged.db'));
    // Behind the page's header: only a look at every page finds it.
    bytes.fill(0xff, ((root?.rootpage ?? 0) - 1) * pageBytes + 8, (root?.rootpage ?? 0) * pageBytes);
    writeFileSync(at('damaged.db'), bytes);
    copyFileSync(at('copy.db'), at('changed.db'));
    const changed = openDatabase(at('changed.db'));
    changed.exec("UPDATE events SET cause = replace(cause, 'admin', 'nobody') WHERE position = 7");
    changed.exec(`UPDATE events SET hash = '${'A'.repeat(43)}=' WHERE position = 7`);
    changed.close();
    copyFileSync(at('copy.db'), at('unreadable.db'));
    const unreadable = openDatabase(at('unreadable.db'));
    unreadable.exec("UPDATE events SET data = 'U' || substr(data, 2) WHERE position = 7");
    unreadable.close();
    const foreign = openDatabase(at('foreign.db'));
    foreign.exec('CREATE TABLE mine (a)');
    foreign.close();
    writeFileSync(at('text.db'), 'no database');
    copyFileSync(at('copy.db'), at('used.db'));
    writeFileSync(at('used.db-wal'), 'frames');

    const says: Readonly<Record<string, RegExp>> = {
      'cut.db': /malformed|damaged/,
      'damaged.db': /malformed|damaged/,
      'changed.db': /event \S+ is not what its hash says/,
      'unreadable.db': /event \S+ \(TenantCreated, version 1\) can't be read/,
      'foreign.db': /is not a data file of this program/,
      'text.db': /not a database/,
      'used.db': /this is no backup/,
      'none.db': /no such file/,
    };
    for (const [name, pattern] of Object.entries(says)) {
      const { code, out, err } = await restore(name, 'restored', '--json');
      expect(err, name).to.match(pattern);
      expect(code).to.equal(1);
      expect(JSON.parse(out)).to.have.all.keys('error');
      expect(existsSync(at('restored')), name).to.equal(false);
    }
  });

  it('never write over anything, and refuse a log that lies elsewhere', async () => {
    arrangeFolder(at('data'), tenantsLog(3));
    writeFileSync(at('taken.db'), 'mine');
    expect((await backUp('taken.db')).err).to.include('is there already');
    expect(await backUp('copy.db')).to.include({ code: 0 });
    const { code, err } = await restore('copy.db', 'data');
    expect(err).to.include(`is not empty (${dataFileName})`);
    expect(code).to.equal(1);
    const elsewhere = { ...embedded(at('data')), SERVICE_EVENT_STORE: 'esdb://127.0.0.1:1?tls=false' };
    const refused = await runCommand(['backup', '--out', at('new.db')], elsewhere);
    expect(refused.err).to.include('kept by an event store elsewhere');
    expect(refused).to.include({ code: 1 });
  });
});
