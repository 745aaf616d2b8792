import { join } from 'node:path';
import { expect } from 'chai';
import type { CommandInput } from '../../src/cli/command.ts';
import { checkpointEventsOf, verify } from '../../src/cli/verify.ts';
import { createTenant } from '../../src/commands/tenant.ts';
import { readConfig } from '../../src/config.ts';
import type { Sealer } from '../../src/proofs/sealer.ts';
import { signerOf } from '../../src/proofs/signing-key.ts';
import type { Verified } from '../../src/proofs/verification.ts';
import { dataFileName } from '../../src/stores/embedded/index.ts';
import { openDatabase } from '../../src/stores/embedded/sqlite.ts';
import { wholeLog } from '../support/eventstore.ts';
import { openJoined, type Joined } from '../support/joined.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { createSealing, freshPem } from '../support/sealing.ts';

const screen: CommandInput['screen'] = {
  isTerminal: false,
  columns: () => 80,
  tell: () => undefined,
  draw: () => undefined,
};

describe('verifying a log that a service writes', function () {
  this.timeout(30_000);
  let dir: string;
  let joined: Joined;
  const pem = freshPem();
  let sealer: Sealer;

  beforeEach(async () => {
    dir = freshFolder();
    joined = await openJoined({ dir });
    ({ sealer } = createSealing(joined.engine.events, joined.run, pem));
  });
  afterEach(async () => {
    await joined.close();
    removeFolder(dir);
  });

  const seal = async (from: number, to: number): Promise<void> => {
    for (let n = from; n <= to; n += 1) {
      await joined.grant(createTenant, { tenant_id: `t${n}` });
      await sealer.seal();
    }
  };

  const verified = async (): Promise<Verified> => {
    const { result } = await verify({
      config: readConfig({ SERVICE_DATA_DIR: dir }).config,
      options: { key: signerOf(pem).key.text },
      names: [],
      signal: new AbortController().signal,
      screen,
      print: async () => undefined,
    });
    return result as Verified;
  };

  it('looks at no checkpoint that was stated after it began', async () => {
    await seal(1, 2);
    const { events } = joined.engine;
    const head = await events.head();
    await seal(3, 4);
    const streams: string[] = [];
    for await (const { stream } of checkpointEventsOf(events, head)) streams.push(stream);
    expect(streams).to.deep.equal(['checkpoint-1', 'checkpoint-2']);
    expect(await verified()).to.deep.include({ checkpoints: 4, faults: [] });
  });

  it('names a checkpoint whose number it can not come to, for too many before it are gone', async () => {
    await seal(1, 20);
    const log = await wholeLog(joined.engine.events);
    const gone = log.filter(({ stream }) => /^checkpoint-(?:[3-9]|1[0-8])$/.test(stream));
    const db = openDatabase(join(dir, dataFileName));
    const remove = db.prepare('DELETE FROM events WHERE position = ?');
    for (const { position } of gone) remove.run(Number(position));
    db.close();
    const { faults } = await verified();
    expect(faults.map(({ stream }) => stream)).to.include.members(['checkpoint-19', 'checkpoint-20']);
  });
});
