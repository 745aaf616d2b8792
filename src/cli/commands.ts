import { Command as Parser, CommanderError } from 'commander';
import type { Command } from './command.ts';
import { exportLog } from './export.ts';
import { importLog } from './import.ts';

const commands: readonly Command[] = [
  {
    name: 'export',
    summary: 'write the log into a file, also while the service runs',
    option: { flag: 'out', summary: 'the file, which must not be there yet' },
    run: exportLog,
  },
  {
    name: 'import',
    summary: 'put the log of a file into an empty event store, or go on with an import that was interrupted',
    option: { flag: 'in', summary: 'the file, as export writes it' },
    run: importLog,
  },
];

/** What the command line asks for. */
export type Wish =
  | { readonly kind: 'serve'; readonly config: string | undefined }
  | {
      readonly kind: 'command';
      readonly command: Command;
      readonly file: string;
      readonly config: string | undefined;
    }
  | { readonly kind: 'help'; readonly text: string };

/** The command line is wrong. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage';
}

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
  for (const command of commands) {
    const { flag, summary } = command.option;
    parser
      .command(command.name)
      .summary(command.summary)
      .description(command.summary)
      .requiredOption(`--${flag} <file>`, summary)
      .action((options: Record<string, string>) =>
        wished({
          kind: 'command',
          command,
          file: options[flag] ?? '',
          config: parser.opts<{ config?: string }>().config,
        }),
      );
  }
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
    if (error.code === 'commander.excessArguments')
      throw new BadUsage(`there is no command '${parser.args[0]}'`, { cause: error });
    if (error.exitCode !== 0) throw new BadUsage(error.message.replace(/^error: /, ''), { cause: error });
  }
  return wish ?? { kind: 'help', text: help };
};
