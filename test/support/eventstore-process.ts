import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Fault } from './eventstore-double/faults.ts';
import type { OpenCalls } from './eventstore-double/index.ts';
import { within } from './waiting.ts';

/** How long the double may take to listen, in milliseconds. */
const startTimeoutMs = 10_000;

const program = fileURLToPath(new URL('./eventstore-double/main.js', import.meta.url));

/** The test double of EventStoreDB as a process of its own, which can be killed and started again. */
export type EventStoreProcess = {
  readonly port: number;
  readonly connectionString: string;
  readonly misbehave: (fault: Fault) => Promise<void>;
  readonly behave: () => Promise<void>;
  readonly subscriptions: (how: 'drop' | 'end' | 'mute') => Promise<void>;
  readonly state: () => Promise<{ readonly open: OpenCalls; readonly faultsMet: number }>;
  /** SIGKILL, then waits for the end. */
  readonly kill: () => Promise<void>;
  /** Halts the process, as a machine that hangs; `resume` lets it go on. */
  readonly halt: () => void;
  readonly resume: () => void;
};

/** Starts the double; `port` 0 is any free one, and `file` keeps its log. */
export const startEventStoreProcess = async (file: string, port = 0): Promise<EventStoreProcess> => {
  const child = spawn(process.execPath, [program, '--port', String(port), '--file', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  const listening = once(createInterface({ input: child.stdout }), 'line');
  const ended = exited.then(() => {
    throw new Error('The double ended before it listened.');
  });
  ended.catch(() => undefined);
  const [line] = (await within('the double listens', startTimeoutMs, Promise.race([listening, ended])).catch(
    async (error: unknown) => {
      await kill();
      throw error;
    },
  )) as [string];
  const at = JSON.parse(line) as { port: number; control: number };
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${at.control}${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  return {
    port: at.port,
    connectionString: `esdb://127.0.0.1:${at.port}?tls=false`,
    misbehave: async (fault) => void (await control('POST', '/faults', fault)),
    behave: async () => void (await control('DELETE', '/faults')),
    subscriptions: async (how) => void (await control('POST', '/subscriptions', { how })),
    state: async () => (await control('GET', '/state')) as never,
    kill,
    halt: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
};
