import { parseArgs } from 'node:util';
import { createApp, type App } from './app.ts';
import { BadConfig, readConfig, type Config } from './config.ts';
import { createLog, type Log } from './log.ts';

/** A stop that has not ended by then is cut, in milliseconds. */
const stopTimeoutMs = 10_000;

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

/** Ends the process at once: after this the engine must not be trusted with another write. */
const die = ({ logger, flush }: Log, what: string, err: unknown): never => {
  logger.fatal({ err }, what);
  flush();
  process.exit(exitCodes.failed);
};

/** Stops once, on the first signal; a second signal, or a stop that hangs, ends the process. */
const stopOnSignal = (app: App, log: Log): void => {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) die(log, 'stopped by a second signal', undefined);
    stopping = true;
    log.logger.info({ signal }, 'stopping');
    setTimeout(() => die(log, 'the stop took too long', undefined), stopTimeoutMs).unref();
    app.stop().then(
      () => {
        log.logger.info('stopped');
        log.flush();
        process.exit(0);
      },
      (error: unknown) => die(log, 'the stop failed', error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
};

const main = async (): Promise<void> => {
  const { config, warnings } = readSettings();
  const log = createLog(config.log_level);
  process.on('uncaughtException', (error) => die(log, 'uncaught exception', error));
  process.on('unhandledRejection', (error) => die(log, 'unhandled rejection', error));
  for (const warning of warnings) log.logger.warn(warning);
  try {
    const app = await createApp(config, log.logger, (error) => die(log, 'the store failed', error));
    stopOnSignal(app, log);
    log.logger.info({ address: app.address, port: app.port, data_dir: config.data_dir }, 'listening');
    log.flush();
  } catch (error) {
    process.stderr.write(`keyledger: ${error instanceof Error ? error.message : String(error)}\n`);
    die(log, 'the start failed', error);
  }
};

await main();
