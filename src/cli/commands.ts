import { Command as Parser, CommanderError } from 'commander';
import { backUp } from './backup.ts';
import { checkReadModels } from './check.ts';
import { BadUsage, type Command, type Options } from './command.ts';
import { showEvents } from './events.ts';
import { exportLog } from './export.ts';
import { importLog } from './import.ts';
import { rebuild } from './rebuild.ts';
import { replay } from './replay.ts';
import { restore } from './restore.ts';
import { verify } from './verify.ts';

const commands: readonly Command[] = [
  {
    name: 'events',
    summary: 'show the log, also while the service runs: what happened, who did it, and never a secret',
    options: [
      { flags: '--type <types>', summary: 'only events of these types, separated by commas' },
      { flags: '--stream <stream>', summary: 'only events of this stream' },
      { flags: '--tenant <id>', summary: 'only events of this tenant, in all its lives' },
      { flags: '--actor <actor>', summary: 'only events of this actor: admin, user:<tenant>/<username>, …' },
      { flags: '--correlation-id <id>', summary: 'only events of the request that had this id' },
      { flags: '--causation-id <id>', summary: 'only what the event of this id led to' },
      { flags: '--since <time>', summary: 'only what happened at or after this time (ISO 8601)' },
      { flags: '--until <time>', summary: 'only what happened before this time' },
      { flags: '--after <position>', summary: 'only what stands behind this position' },
      { flags: '--before <position>', summary: 'only what stands before this position' },
      { flags: '--limit <count>', summary: 'end after so many' },
      { flags: '--follow', summary: 'go on with what comes; without --after or --since, with that alone' },
    ],
    run: showEvents,
  },
  {
    name: 'replay',
    summary: 'show what a thing was at each of its events, or rebuild everything into a new folder',
    options: [
      { flags: '--stream <stream>', summary: 'the stream of the thing' },
      { flags: '--at-position <position>', summary: 'only as it was when the log ended there' },
      { flags: '--into <folder>', summary: 'the folder that the log and all read models go into' },
    ],
    run: replay,
  },
  {
    name: 'rebuild',
    summary: 'fill read models anew from the log, by the service while it serves, or without it',
    names: { of: 'read-model', summary: 'which ones; all where none is named' },
    options: [
      { flags: '--url <url>', summary: 'where the service is; else the host and port of the settings' },
      { flags: '--offline', summary: 'do it in the data folder, which no service may have open' },
    ],
    run: rebuild,
  },
  {
    name: 'check',
    summary: 'hold every read model against a fresh replay of the log; the service must not run',
    options: [],
    run: checkReadModels,
  },
  {
    name: 'verify',
    summary: 'hold every event of a log against its hash, its stream and the signed checkpoints',
    options: [
      { flags: '--in <file>', summary: 'the log, as export writes it; else the one of the settings' },
      { flags: '--key <keys>', summary: 'the public keys, or files that hold them, separated by commas' },
      { flags: '--checkpoint <files>', summary: 'checkpoints that were kept, separated by commas' },
    ],
    run: verify,
  },
  {
    name: 'export',
    summary: 'write the log into a file, also while the service runs',
    options: [{ flags: '--out <file>', summary: 'the file, which must not be there yet', required: true }],
    run: exportLog,
  },
  {
    name: 'import',
    summary: 'put the log of a file into an empty event store, or go on with an import that was interrupted',
    options: [{ flags: '--in <file>', summary: 'the file, as export writes it', required: true }],
    run: importLog,
  },
  {
    name: 'backup',
    summary: 'copy the data file, also while the service runs, and verify the copy',
    options: [{ flags: '--out <file>', summary: 'the file, which must not be there yet', required: true }],
    run: backUp,
  },
  {
    name: 'restore',
    summary: 'verify a backup and put it into an empty data folder',
    options: [{ flags: '--in <file>', summary: 'the file, as backup writes it', required: true }],
    run: restore,
  },
];

/** What the command line asks for. */
export type Wish =
  | { readonly kind: 'serve'; readonly config: string | undefined }
  | {
      readonly kind: 'command';
      readonly command: Command;
      readonly options: Options;
      readonly names: readonly string[];
      readonly config: string | undefined;
    }
  | { readonly kind: 'help'; readonly text: string };

const addCommand = (parser: Parser, command: Command, wished: (wish: Wish) => void): void => {
  const sub = parser.command(command.name).summary(command.summary).description(command.summary);
  if (command.names !== undefined) sub.argument(`[${command.names.of}...]`, command.names.summary);
  for (const { flags, summary, required } of command.options) {
    if (required === true) sub.requiredOption(flags, summary);
    else sub.option(flags, summary);
  }
  sub.option('--json', 'say what was done as JSON on standard output');
  sub.action(() =>
    wished({
      kind: 'command',
      command,
      options: sub.opts(),
      names: sub.args,
      config: parser.opts<{ config?: string }>().config,
    }),
  );
};

const createParser = (wished: (wish: Wish) => void): Parser => {
  const parser = new Parser('keyledger')
    .description(
      'Starts the service. Settings come from the environment, then from the YAML file; see docs/operations.md.',
    )
    .usage('[--config FILE] [command]')
    .option('--config <file>', 'the YAML file with the settings; else the one that SERVICE_CONFIG names')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .action(({ config }: { config?: string }) => wished({ kind: 'serve', config }));
  for (const command of commands) addCommand(parser, command, wished);
  return parser;
};

/** Reads the arguments behind the program's name. Throws `BadUsage`. */
export const readCommandLine = (args: readonly string[]): Wish => {
  let wish: Wish | undefined;
  let help = '';
  const parser = createParser((wished) => {
    wish = wished;
  });
  for (const one of [parser, ...parser.commands])
    one.exitOverride().configureOutput({ writeOut: (text) => (help += text), writeErr: () => undefined });
  try {
    parser.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The library speaks of arguments where somebody has mistyped a command.
    if (error.code === 'commander.excessArguments' && !commands.some(({ name }) => name === parser.args[0]))
      throw new BadUsage(`there is no command '${parser.args[0]}'`, { cause: error });
    if (error.exitCode !== 0) throw new BadUsage(error.message.replace(/^error: /, ''), { cause: error });
  }
  return wish ?? { kind: 'help', text: help };
};
