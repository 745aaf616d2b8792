/** How often a line says how far the work is, in milliseconds. */
const everyMs = 1_000;

const digits = (n: number): string => Math.round(n).toLocaleString('en-US');

/** Counts a piece of work that takes long, and tells each second how far it is, until `end`. */
export const createProgress = (what: string, total: number | undefined, tell: (line: string) => void) => {
  let done = 0;
  let before = 0;
  const timer = setInterval(() => {
    const of = total === undefined ? '' : ` of ${digits(total)}`;
    tell(`${what}: ${digits(done)}${of} events, ${digits(((done - before) * 1_000) / everyMs)}/s`);
    before = done;
  }, everyMs);
  return {
    add: (events: number): void => {
      done += events;
    },
    end: (): void => clearInterval(timer),
  };
};
