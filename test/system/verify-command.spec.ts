import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { signerOf } from '../../src/proofs/signing-key.ts';
import { arrangeAccount, createClient, mint, type Client } from '../support/client.ts';
import { runCommand } from '../support/command.ts';
import { startEventStoreDouble } from '../support/eventstore-double/index.ts';
import { eventsOf, forged } from '../support/forging.ts';
import { expectProblem } from '../support/problems.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { freshPem } from '../support/sealing.ts';
import { forEach } from '../support/waiting.ts';

type Answer = {
  readonly verified: boolean;
  readonly events: number;
  readonly sealed_events: number;
  readonly faults: readonly { readonly index: number | null; readonly what: string }[];
};

const fill = async (client: Client, name: string): Promise<void> => {
  const { id, bearer } = await arrangeAccount(client, name);
  await forEach(Array(300).keys(), 8, async () => void (await mint(client, name, bearer)));
  await client('POST', `/admin/v1/service-accounts/${id}/rotate`, { body: {} });
};

describe('the command verify', function () {
  this.timeout(90_000);
  let dir: string;
  let program: Program | undefined;
  const at = (name: string): string => join(dir, name);
  const data = (): string => at('data');
  const env = () => ({ SERVICE_DATA_DIR: data() });

  beforeEach(() => {
    dir = freshFolder();
  });
  afterEach(async () => {
    await program?.kill();
    program = undefined;
    removeFolder(dir);
  });

  const verifying = async (
    args: readonly string[],
    settings: Readonly<Record<string, string>> = env(),
  ): Promise<Answer> => {
    const { code, out, err } = await runCommand(['verify', '--json', ...args], settings);
    const answer = JSON.parse(out) as Answer;
    expect(code, err).to.equal(answer.verified ? 0 : 1);
    return answer;
  };

  /** A log with a checkpoint that was kept and one at the end; the service has stopped. */
  const arrange = async (settings: Readonly<Record<string, string>> = {}): Promise<string> => {
    program = await startProgram({ dir: data(), env: settings });
    const client = createClient(program.url);
    await fill(client, 'acme');
    const { note } = (await client('POST', '/admin/v1/checkpoints')).body as { note: string };
    writeFileSync(at('kept'), note);
    await fill(client, 'other');
    const { key } = (await client('GET', '/admin/v1/checkpoints/key')).body as { key: string };
    expect(await program.stop()).to.equal(0);
    program = undefined;
    return key;
  };

  it('verifies an export by the public key and a kept checkpoint, elsewhere and without the data', async () => {
    const key = await arrange();
    expect(readFileSync(join(data(), 'signing-key.pub'), 'utf8')).to.equal(`${key}\n`);
    expect((await runCommand(['export', '--out', at('log')], env())).code).to.equal(0);
    const nowhere = { SERVICE_DATA_DIR: at('nowhere') };
    const args = ['--in', at('log'), '--key', key, '--checkpoint', at('kept')];
    const { events } = await verifying(args, nowhere);
    expect(await verifying(args, nowhere)).to.deep.include({
      verified: true,
      checkpoints: 2,
      sealed_events: events - 1,
      faults: [],
    });
    expect(existsSync(at('nowhere'))).to.equal(false);
    const { code, out } = await runCommand(['verify', '--in', at('log'), '--key', key], nowhere);
    expect([code, out]).to.match(
      /^0,\d+ events verified: \d+ under 2 checkpoints up to \S+, 1 behind the last one\n$/,
    );
  });

  it('names what was changed in a file by one who made every hash anew, and what was cut off', async () => {
    const key = await arrange();
    await runCommand(['export', '--out', at('log')], env());
    const text = readFileSync(at('log'), 'utf8');
    const events = eventsOf(text);
    const minted = events.findIndex(({ type }) => type === 'CredentialMinted') + 17;
    const forgeries = {
      changed: events.map((event, n) =>
        n === minted ? { ...event, data: event.data.replace('"reader"', '"writer"') } : event,
      ),
      gone: events.toSpliced(minted, 1),
      cut: events.slice(0, 100),
    };
    for (const [name, forgery] of Object.entries(forgeries)) writeFileSync(at(name), forged(text, forgery));
    const args = ['--key', key, '--checkpoint', at('kept')];
    const [changed, gone, cut] = await Promise.all(
      Object.keys(forgeries).map((name) => verifying(['--in', at(name), ...args])),
    );
    expect(changed?.faults).to.have.length(1);
    expect(changed?.faults[0]).to.deep.include({
      index: minted,
      event_id: events[minted]?.id,
      what: `is not the event that was sealed as number ${minted}`,
    });
    expect(gone?.faults[0]).to.deep.include({
      index: minted,
      what: 'is missing: what was sealed there is not in the log',
    });
    expect(cut?.faults.map(({ what }) => what)).to.deep.equal([
      `the end was cut off: the log has 100 events, and the checkpoint in ${at('kept')} covers 303`,
      `the checkpoint in ${at('kept')} is not among those of the log`,
    ]);
  });

  it('finds in a live log what was changed in the data file; the service signs nothing over it and says so', async () => {
    await arrange();
    const db = openDatabase(join(data(), dataFileName));
    db.exec(`UPDATE events SET cause = replace(cause, '"actor":"admin"', '"actor":"nobody"') WHERE position = 2;
             DELETE FROM events WHERE position = 200`);
    const head = db.prepare<{ head: number }>('SELECT max(position) AS head FROM events').get()?.head ?? 0;
    // In the part that is looked at again before the next checkpoint is signed.
    db.exec(`UPDATE events SET time = '2020-01-01T00:00:00.000Z' WHERE position = ${head - 1}`);
    db.close();
    program = await startProgram({ dir: data() });
    const { faults } = await verifying([]);
    const found = faults.map(({ index, what }) => [index, what.split(':')[0]]);
    expect(found).to.deep.include.members([
      [1, 'was changed'],
      [199, 'is missing'],
      [head - 3, 'was changed'],
    ]);
    expect(faults, JSON.stringify(faults)).to.have.length(3);
    const client = createClient(program.url);
    await client('POST', '/admin/v1/tenants', { body: { id: 'late' } });
    expectProblem(await client('POST', '/admin/v1/checkpoints'), 409, 'log.changed');
    const { status, body } = await client('GET', '/readyz');
    expect([status, (body as { warning?: string }).warning]).to.match(/^200,The log can't be sealed: /);
    expectProblem(await client('GET', `/admin/v1/events/${'2'.padStart(20, '0')}/proof`), 409, 'log.changed');
    expect((await client('GET', '/admin/v1/tenants')).body).to.have.length(3);
  });

  it('verifies a log on a server, and after it was moved there from a folder', async () => {
    const key = await arrange();
    await runCommand(['export', '--out', at('log')], env());
    const double = await startEventStoreDouble();
    try {
      const server = { SERVICE_EVENT_STORE: double.connectionString, SERVICE_DATA_DIR: at('replica') };
      expect((await runCommand(['import', '--in', at('log')], server)).code).to.equal(0);
      const args = ['--key', key, '--checkpoint', at('kept')];
      const before = await verifying(args, server);
      expect(before).to.deep.include({ verified: true, faults: [] });
      // The service goes on there with the key that it had, and what it seals joins on.
      const pem = readFileSync(join(data(), 'signing-key.pem'), 'utf8');
      program = await startProgram({ dir: at('replica'), env: { ...server, SERVICE_SIGNING_KEY: pem } });
      await createClient(program.url)('POST', '/admin/v1/tenants', { body: { id: 'late' } });
      expect(await program.stop()).to.equal(0);
      program = undefined;
      expect(await verifying(args, server)).to.deep.include({
        verified: true,
        events: before.events + 2,
        sealed_events: before.events + 1,
      });
      const { faults } = await verifying(['--key', signerOf(freshPem()).key.text], server);
      expect(faults.map(({ what }) => what.split(':')[0])).to.deep.equal(
        Array(3).fill("states a checkpoint that can't be relied on"),
      );
    } finally {
      await double.close();
    }
  });

  it('says what is wrong with how it is called', async () => {
    const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['--in', at('none')], 2, /option '--key <key>' is missing/],
      [[], 2, /option '--key <key>' is missing/],
      [['--in', at('none'), '--key', 'keyledger+00000000+AAAA'], 1, /The key is not one of Ed25519/],
      [['--in', at('none'), '--key', 'none.pub'], 1, /There is no file none\.pub, and it is no public key/],
    ];
    for (const [args, code, message] of wrong) {
      const ended = await runCommand(['verify', ...args], env());
      expect(ended.code, ended.err).to.equal(code);
      expect(ended.err).to.match(message);
    }
  });
});
