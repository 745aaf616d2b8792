import type { Config } from '../config.ts';
import type { Screen } from './screen.ts';

/** What the command line gave for each option, by its name in camel case: a text, or true where it takes none. */
export type Options = Readonly<Record<string, string | true | undefined>>;

/** What a command is run with. */
export type CommandInput = {
  readonly config: Config;
  readonly options: Options;
  /** What stands behind the command, where it takes names. */
  readonly names: readonly string[];
  /** Aborts when the operator wants an end: the command then throws, and leaves nothing half done. */
  readonly signal: AbortSignal;
  /** Where the operator is told how far the work is. */
  readonly screen: Screen;
  /** Writes on standard output; resolves when it has taken it, so that a slow reader is waited for. */
  readonly print: (text: string) => Promise<void>;
};

/** How a command ended, for people and for programs. */
export type Outcome = {
  /** The line that says what was done; none where all has been printed. */
  readonly text?: string;
  /** The same for `--json`, where nothing has been printed. */
  readonly result: object;
  /** Whether the answer is no: the command did its work, and what it looked at is not as it has to be. */
  readonly failed?: boolean;
};

/** An option of a command. */
export type Option = {
  /** As commander reads it: `--out <file>`, `--follow`. */
  readonly flags: string;
  readonly summary: string;
  readonly required?: boolean;
};

/** A command beside serving. */
export type Command = {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Option[];
  /** What the names behind it are, where it takes any. */
  readonly names?: { readonly of: string; readonly summary: string };
  /** Throws `BadUsage` before it does anything, and any other error where it could not be done. */
  readonly run: (input: CommandInput) => Promise<Outcome>;
};

/** The command line is wrong. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage';
}

/** The text of an option; absent where it was not given. */
export const textOf = (options: Options, name: string): string | undefined => {
  const value = options[name];
  return value === true ? undefined : value;
};

/** The text of an option that the parser insists on. */
export const requiredText = (options: Options, name: string): string => textOf(options, name) ?? '';

/** A whole number above zero; absent where it was not given. Throws `BadUsage`. */
export const countOf = (options: Options, name: string): number | undefined => {
  const text = textOf(options, name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!/^\d{1,15}$/.test(text) || count < 1)
    throw new BadUsage(`option '--${name}' takes a whole number above zero`);
  return count;
};
