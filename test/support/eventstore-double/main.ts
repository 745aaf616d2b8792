import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import type { Fault } from './faults.ts';
import { startEventStoreDouble } from './index.ts';
import type { Act } from './reading.ts';

/**
 * The double as a process: `--port`, `--file` (where the log is kept, so that it outlives a kill) and `--control`
 * (the port of its controls; any free one unless told). Says one JSON line when it listens. Controls, over HTTP:
 * `POST /faults` with a `Fault`, `DELETE /faults`, `POST /subscriptions` with `{"how": "drop" | "end" | "mute"}`,
 * `GET /state`.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    file: { type: 'string' },
    control: { type: 'string', default: '0' },
  },
});

const double = await startEventStoreDouble({
  port: Number(values.port),
  ...(values.file === undefined ? {} : { file: values.file }),
});

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

const control = async (request: IncomingMessage): Promise<unknown> => {
  switch (`${request.method} ${request.url}`) {
    case 'POST /faults':
      return double.misbehave((await bodyOf(request)) as Fault);
    case 'DELETE /faults':
      return double.behave();
    case 'POST /subscriptions':
      return double.subscriptions(((await bodyOf(request)) as { how: Act }).how);
    case 'GET /state':
      return { open: double.openCalls(), faultsMet: double.faultsMet() };
    default:
      throw new Error('There is no such control.');
  }
};

const controls = createServer((request, response) => {
  control(request).then(
    (answer) => response.end(JSON.stringify(answer ?? {})),
    (error: unknown) => response.writeHead(400).end(String(error)),
  );
});
controls.listen(Number(values.control), '127.0.0.1', () => {
  const line = { msg: 'listening', port: double.port, control: (controls.address() as AddressInfo).port };
  process.stdout.write(`${JSON.stringify(line)}\n`);
});
process.once('SIGTERM', () => process.exit(0));
