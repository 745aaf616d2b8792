import { writeSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';
import type { App, Overrides } from './app.ts';
import { BadUsage } from './cli/command.ts';
import { readCommandLine, type Wish } from './cli/commands.ts';
import { createScreen } from './cli/screen.ts';
import { BadConfig, readConfig, type Config } from './config.ts';
import { createLog, type Log } from './log.ts';

/** A stop that has not ended by then is cut, in milliseconds. */
const stopTimeoutMs = 10_000;

/** How often it is looked whether the engines are there, in milliseconds. */
const readyEveryMs = 50;

const exitCodes = { failed: 1, usage: 2 } as const;

/** Says what was wrong to a program that asked for JSON: standard output then has one object, whatever happened. */
const tellProgram = (message: string): void => {
  writeSync(process.stdout.fd, `${JSON.stringify({ error: message })}\n`);
};

/** Says in a line each what is wrong with the command line or the settings, and ends the process. */
const orUsage = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    const lines =
      error instanceof BadConfig ? error.faults : [error instanceof Error ? error.message : String(error)];
    for (const line of lines) process.stderr.write(`keyledger: ${line}\n`);
    if (error instanceof BadUsage) process.stderr.write('keyledger: --help says what can be asked for\n');
    // The line may be what can't be read: it is looked for in what was typed.
    if (process.argv.includes('--json')) tellProgram(lines.join(' '));
    process.exit(exitCodes.usage);
  }
};

const readWish = (): Exclude<Wish, { kind: 'help' }> => {
  const wish = orUsage(() => readCommandLine(process.argv.slice(2)));
  if (wish.kind !== 'help') return wish;
  process.stdout.write(wish.text);
  process.exit(0);
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
  /** Whether that has begun: nothing else then ends the process, least of all as if all were well. */
  readonly isDying: () => boolean;
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
    isDying: () => isDying,
  };
};

/**
 * Stops once, on the first signal; a second signal, or a stop that hangs, ends the process. Before there is an app to
 * stop nothing has been acknowledged, and the process ends at once.
 */
const stopOnSignal = (log: Log, { die, isDying }: End): ((app: App) => void) => {
  let running: App | undefined;
  let stopping = false;
  const exit = (): void => {
    if (isDying()) return;
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

/** Resolves when standard output has taken the text, so that whoever reads slowly is waited for. */
const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** Runs a command to its end; the first signal asks it to leave things as they were, a second one ends it at once. */
const runCommand = async (
  { command, options, names }: Extract<Wish, { kind: 'command' }>,
  config: Config,
): Promise<never> => {
  const abort = new AbortController();
  const screen = createScreen(process.stderr);
  const interrupt = (): void => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    abort.abort(new Error('interrupted'));
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  // Each write is told what became of it.
  process.stdout.on('error', () => undefined);
  try {
    const { text, result, failed } = await command.run({
      config,
      options,
      names,
      signal: abort.signal,
      screen,
      print,
    });
    const isJson = options['json'] === true;
    if (text !== undefined) await print(`${isJson ? JSON.stringify(result) : text}\n`);
    process.exit(failed === true ? exitCodes.failed : 0);
  } catch (error) {
    // Whoever reads has seen enough, as `head` has.
    if (codeOf(error) === 'EPIPE') process.exit(0);
    const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
    screen.tell(`keyledger: ${message}`);
    if (options['json'] === true)
      await print(`${JSON.stringify({ error: message })}\n`).catch(() => undefined);
    process.exit(error instanceof BadUsage ? exitCodes.usage : exitCodes.failed);
  }
};

/**
 * Does what the command line asks for: without a command, runs the service until a signal stops it. Tests' own
 * programs put something in the place of the real thing.
 */
export const runProgram = async (overrides: Overrides = {}): Promise<void> => {
  const wish = readWish();
  const { config, warnings } = orUsage(() => readConfig(process.env, wish.config));
  if (wish.kind === 'command') return runCommand(wish, config);
  const log = createLog(config.log_level);
  const end = createEnd(log);
  process.on('uncaughtException', (error) => end.die('uncaught exception', error));
  process.on('unhandledRejection', (error) => end.die('unhandled rejection', error));
  const stopsWith = stopOnSignal(log, end);
  for (const warning of warnings) log.logger.warn(warning);
  try {
    // A command needs none of what serves: it starts in two thirds of the time, and in 40 MB less.
    const { createApp } = await import('./app.ts');
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
