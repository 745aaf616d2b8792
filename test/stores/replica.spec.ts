import { expect } from 'chai';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import type { EventStore } from '../../src/core/ports.ts';
import { findTenant } from '../../src/projections/tenants.ts';
import { openReplica, type Replica } from '../../src/stores/embedded/index.ts';
import { openJoined, projectionsModule, type Joined } from '../support/joined.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { until } from '../support/waiting.ts';

describe('a replica: read models on SQLite of a log elsewhere', () => {
  let log: Joined;
  let dir: string;
  const open: Replica[] = [];
  const openIn = async (folder: string, source: EventStore = log.engine.events): Promise<Replica> => {
    const replica = await openReplica({
      dir: folder,
      projectionsModule,
      source,
      onFatal: (error) => {
        throw error;
      },
    });
    open.push(replica);
    return replica;
  };
  beforeEach(async () => {
    log = await openJoined();
    dir = freshFolder();
  });
  afterEach(async () => {
    for (const replica of open.splice(0)) await replica.close();
    await log.close();
    removeFolder(dir);
  });
  const create = (id: string) => log.grant(createTenant, { tenant_id: id });

  it('holds the whole log when it is open, and follows it', async () => {
    for (let made = 0; made < 1_100; made += 1) await create(`t${made}`);
    const { readModels, health } = await openIn(dir);
    expect(await findTenant(readModels, 't1099')).to.include({ id: 't1099' });
    await create('later');
    await until('it has the later one', async () => (await findTenant(readModels, 'later')) !== undefined);
    expect(health()).to.deep.equal({ ready: true });
  });

  it('settles a write when it has its events', async () => {
    const { readModels } = await openIn(dir);
    await create('acme');
    await log.grant(deleteTenant, { tenant_id: 'acme' });
    await readModels.settle(await log.engine.events.readStream('tenant-acme'));
    expect(await findTenant(readModels, 'acme')).to.equal(undefined);
    expect(await readModels.documents('revocations').get('tenant:acme~1')).to.not.equal(undefined);
  });

  it('goes on from where it was', async () => {
    await create('before');
    const first = await openIn(dir);
    await first.close();
    open.pop();
    await create('between');
    const asked: string[] = [];
    const again = await openIn(dir, {
      ...log.engine.events,
      readAll: (after, limit) => {
        asked.push(after);
        return log.engine.events.readAll(after, limit);
      },
    });
    expect(await findTenant(again.readModels, 'between')).to.include({ id: 'between' });
    expect(asked.filter((after) => BigInt(after) === 0n)).to.have.length(1);
  });

  it('stops before an event that it cannot take, says so, and goes on when it can', async () => {
    let isBroken = true;
    const replica = await openIn(dir, {
      ...log.engine.events,
      readAll: async () => [],
      subscribe: async function* (after, signal) {
        for await (const event of log.engine.events.subscribe(after, signal)) {
          yield isBroken && event.stream === 'tenant-bad' ? { ...event, data: '{}' } : event;
        }
      },
    });
    await create('good');
    await create('bad');
    await until('it stops', () => !replica.health().ready);
    expect(replica.health())
      .to.have.property('reason')
      .that.matches(/can't be taken/);
    expect(await findTenant(replica.readModels, 'good')).to.include({ id: 'good' });
    isBroken = false;
    await replica.close();
    open.pop();
    const mended = await openIn(dir);
    expect(await findTenant(mended.readModels, 'bad')).to.include({ id: 'bad' });
  });

  it('refuses a folder that holds a copy of another log', async () => {
    await create('mine');
    await (await openIn(dir)).close();
    open.pop();
    const other = await openJoined();
    try {
      await other.grant(createTenant, { tenant_id: 'theirs' });
      await openIn(dir, other.engine.events).then(
        () => expect.fail('it opened'),
        (error: Error) => expect(error.message).to.match(/copy of another log/),
      );
    } finally {
      await other.close();
    }
  });
});
