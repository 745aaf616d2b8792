import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from '../support/client.ts';
import { startEventStoreProcess, type EventStoreProcess } from '../support/eventstore-process.ts';
import { freePort } from '../support/free-port.ts';
import { freshFolder, removeFolder, spawnProgram } from '../support/program.ts';
import { expectProblem } from '../support/problems.ts';
import { until } from '../support/waiting.ts';

/** How long the service may take to be ready once its engine is there, in milliseconds. */
const readyMs = 20_000;

/** Starts the service on an event store that is not there, without waiting for it. */
const startEarly = async () => {
  const dir = freshFolder();
  const [port, logPort] = [await freePort(), await freePort()];
  const service = spawnProgram({
    dir,
    env: { SERVICE_PORT: String(port), SERVICE_EVENT_STORE: `esdb://127.0.0.1:${logPort}?tls=false` },
  });
  service.stdout?.resume();
  service.stderr?.resume();
  const exited = once(service, 'exit');
  return { dir, logPort, service, exited, client: createClient(`http://127.0.0.1:${port}`) };
};

describe('a service that is started before its event store', () => {
  it('listens, says what it waits for, and goes on by itself when it is there', async () => {
    const { dir, logPort, service, exited, client } = await startEarly();
    const readyz = () => client('GET', '/readyz', { token: null });
    let eventStore: EventStoreProcess | undefined;
    try {
      await until(
        'it says what it waits for',
        async () => {
          const answer = await readyz().catch(() => undefined);
          return answer?.status === 503 && /"reason":"starting: .*UNAVAILABLE/i.test(answer.text);
        },
        readyMs,
      );
      expect((await client('GET', '/healthz', { token: null })).status).to.equal(200);
      expectProblem(await client('GET', '/admin/v1/tenants'), 503, 'service.unavailable');
      eventStore = await startEventStoreProcess(join(dir, 'double.log'), logPort);
      await until('it is ready', async () => (await readyz()).status === 200, readyMs);
      expect((await client('POST', '/admin/v1/tenants', { body: { id: 'acme' } })).status).to.equal(201);
      service.kill('SIGTERM');
      expect((await exited)[0]).to.equal(0);
    } finally {
      service.kill('SIGKILL');
      await exited;
      await eventStore?.kill();
      removeFolder(dir);
    }
  }).timeout(60_000);

  it('ends at once, and with success, when it is told to stop while it waits', async () => {
    const { dir, service, exited, client } = await startEarly();
    try {
      await until(
        'it listens',
        async () => (await client('GET', '/healthz', { token: null }).catch(() => undefined))?.status === 200,
        readyMs,
      );
      service.kill('SIGTERM');
      expect((await exited)[0]).to.equal(0);
    } finally {
      service.kill('SIGKILL');
      removeFolder(dir);
    }
  }).timeout(60_000);
});
