import type { Config } from '../config.ts';

/** What a command is run with. */
export type CommandInput = {
  readonly config: Config;
  /** The file that its option names. */
  readonly file: string;
  /** Aborts when the operator wants an end: the command then throws, and leaves nothing half done. */
  readonly signal: AbortSignal;
  /** Takes a line for the operator, about how far the work is. */
  readonly tell: (line: string) => void;
};

/** A command beside serving. */
export type Command = {
  readonly name: string;
  readonly summary: string;
  /** The one option, which names a file and must be there. */
  readonly option: { readonly flag: 'in' | 'out'; readonly summary: string };
  /** Resolves with the line that says what was done; throws where it was not. */
  readonly run: (input: CommandInput) => Promise<string>;
};
