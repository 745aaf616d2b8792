/** Where the operator reads how far the work is: lines that stay, and on a terminal one line that changes. */
export type Screen = {
  /** Whether somebody looks at it, so that a line may change in its place. */
  readonly isTerminal: boolean;
  /** How many characters a line has. */
  readonly columns: () => number;
  /** Writes a line that stays. */
  readonly tell: (line: string) => void;
  /** Puts this in the place of the changing line; nothing where absent. On a terminal alone. */
  readonly draw: (line?: string) => void;
};

/** The width that is taken where the terminal does not say. */
const columnsDefault = 80;

/** The part of a stream that a screen needs. */
type Output = { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };

/** ANSI: to the line's beginning, and nothing left of it. */
const clear = '\r\u001b[2K';

/** A screen on standard error, or what stands for it. */
export const createScreen = (output: Output): Screen => {
  const isTerminal = output.isTTY === true;
  let drawn: string | undefined;
  const draw = (line?: string): void => {
    if (!isTerminal || (line === undefined && drawn === undefined)) return;
    drawn = line;
    output.write(line === undefined ? clear : clear + line);
  };
  return {
    isTerminal,
    columns: () => output.columns ?? columnsDefault,
    draw,
    tell: (line) => {
      const before = drawn;
      draw();
      output.write(`${line}\n`);
      draw(before);
    },
  };
};
