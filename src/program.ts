import { setTimeout as passed } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApp, type App, type Overrides } from './app.ts';
import { BadConfig, readConfig, type Config } from './config.ts';
import { createLog, type Log } from './log.ts';

/** A stop that has not ended by then is cut, in milliseconds. */
const stopTimeoutMs = 10_000;

/** How often it is looked whether the engines are there, in milliseconds. */
const readyEveryMs = 50;

const exitCodes = { failed: 1, usage: 2 } as const;

const usage = `Usage: keyledger [--config FILE]

Starts the service. Settings come from the environment (SERVICE_CP_ADMIN_TOKEN, SERVICE_PORT, ...), then from the
YAML file that --config or SERVICE_CONFIG names. See docs/operations.md.
`;

const readSettings = (): { config: Config; warnings: readonly string[] } => {
  try {
    const { values } = parseArgs({
      options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    return readConfig(process.env, values.config);
  } catch (error) {
    const lines =
      error instanceof BadConfig ? error.faults : [error instanceof Error ? error.message : String(error)];
    for (const line of lines) process.stderr.write(`keyledger: ${line}\n`);
    process.exit(exitCodes.usage);
  }
};

/** The one way in which the process ends before its time. */
type End = {
  /** Names the app, once there is one. */
  readonly of: (app: App) => void;
  /**
   * Ends the process with an error. The engine takes no further write and its threads come to rest first, for a
   * thread that is cut off inside the driver takes the process down with a signal.
   */
  readonly die: (what: string, err?: unknown) => void;
};

const createEnd = ({ logger, flush }: Log): End => {
  let running: App | undefined;
  let isDying = false;
  const exit = (): never => {
    flush();
    process.exit(exitCodes.failed);
  };
  return {
    of: (app) => {
      running = app;
    },
    die: (what, err) => {
      if (isDying) return;
      isDying = true;
      logger.fatal({ err }, what);
      if (running === undefined) exit();
      else running.halt().then(exit, exit);
    },
  };
};

/**
 * Stops once, on the first signal; a second signal, or a stop that hangs, ends the process. Before there is an app to
 * stop nothing has been acknowledged, and the process ends at once.
 */
const stopOnSignal = (log: Log, { die }: End): ((app: App) => void) => {
  let running: App | undefined;
  let stopping = false;
  const exit = (): never => {
    log.logger.info('stopped');
    log.flush();
    process.exit(0);
  };
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return die('stopped by a second signal');
    stopping = true;
    log.logger.info({ signal }, 'stopping');
    if (running === undefined) exit();
    setTimeout(() => die('the stop took too long'), stopTimeoutMs).unref();
    running?.stop().then(exit, (error: unknown) => die('the stop failed', error));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return (app) => {
    running = app;
  };
};

/** Says once that traffic is welcome: engines elsewhere may come later than the service. */
const tellReady = async ({ address, port, health }: App, { logger, flush }: Log): Promise<void> => {
  while (!health().ready) await passed(readyEveryMs, undefined, { ref: false });
  logger.info({ address, port }, 'ready');
  flush();
};

/** Runs the service until a signal stops it; tests' own programs put something in the place of the real thing. */
export const runProgram = async (overrides: Overrides = {}): Promise<void> => {
  const { config, warnings } = readSettings();
  const log = createLog(config.log_level);
  const end = createEnd(log);
  process.on('uncaughtException', (error) => end.die('uncaught exception', error));
  process.on('unhandledRejection', (error) => end.die('unhandled rejection', error));
  const stopsWith = stopOnSignal(log, end);
  for (const warning of warnings) log.logger.warn(warning);
  try {
    const app = await createApp(config, log.logger, (error) => end.die('the store failed', error), overrides);
    end.of(app);
    stopsWith(app);
    log.logger.info({ address: app.address, port: app.port, data_dir: config.data_dir }, 'listening');
    log.flush();
    await tellReady(app, log);
  } catch (error) {
    process.stderr.write(`keyledger: ${error instanceof Error ? error.message : String(error)}\n`);
    end.die('the start failed', error);
  }
};
