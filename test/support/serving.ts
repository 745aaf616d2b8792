import { pino } from 'pino';
import { createApp, type Overrides } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createClient, type Client } from './client.ts';
import { engineSettings } from './engines.ts';
import { until } from './waiting.ts';
import {
  adminToken,
  freshFolder,
  removeFolder,
  startProgram,
  verifierToken,
  type Program,
} from './program.ts';

/** A program that serves while a suite's tests run. */
export type Serving = {
  readonly client: Client;
  /** There from the suite's first test on. */
  program(): Program;
};

/** Starts the program on a fresh folder before the suite's tests, and ends it and the folder after them. */
export const serving = (env: Readonly<Record<string, string>> = {}): Serving => {
  let dir: string;
  let program: Program | undefined;
  before(async () => {
    dir = freshFolder();
    program = await startProgram({ dir, env });
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });
  const running = (): Program => {
    if (program === undefined) throw new Error('The program has not started.');
    return program;
  };
  return { client: (...ask) => createClient(running().url)(...ask), program: running };
};

/** The service in this process: everything real but what is overridden. */
export type InProcess = { readonly url: string; readonly client: Client; stop(): Promise<void> };

const fatal = (error: unknown): never => {
  throw error;
};

/** Serves a folder from within this process, on any free port, so that a test can move the clock. */
export const serveInProcess = async (dir: string, overrides: Overrides = {}): Promise<InProcess> => {
  const { config } = readConfig({
    SERVICE_CP_ADMIN_TOKEN: adminToken,
    SERVICE_CP_VERIFIER_TOKEN: verifierToken,
    SERVICE_DATA_DIR: dir,
    SERVICE_PORT: '0',
    ...(await engineSettings(dir)),
  });
  const app = await createApp(config, pino({ level: 'silent' }), fatal, overrides);
  await until('the service is ready', () => app.health().ready);
  const url = `http://${app.address}:${app.port}`;
  return { url, client: createClient(url), stop: () => app.stop() };
};
