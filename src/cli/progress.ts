import type { Screen } from './screen.ts';

/** How often a line says how far the work is, in milliseconds, and how often a terminal's line changes. */
const everyMs = 1_000;
const drawEveryMs = 200;

/** The widest that a bar is drawn, in characters. */
const barCharsMax = 30;

const digits = (n: number): string => Math.round(n).toLocaleString('en-US');

const duration = (seconds: number): string => {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
};

const bar = (part: number, chars: number): string => {
  const full = Math.round(Math.min(1, part) * chars);
  return `[${'#'.repeat(full)}${'.'.repeat(chars - full)}]`;
};

/** What is counted. */
export type Work = {
  /** What is done to them: `exporting`. */
  readonly what: string;
  /** How many there are, where that is known. */
  readonly total: number | undefined;
  /** What they are; events unless told. */
  readonly unit?: string;
};

/** Counts a piece of work that takes long. */
export type Progress = {
  readonly add: (count: number) => void;
  /** Says how many are done in all. */
  readonly set: (done: number) => void;
  /** Says how many there are, where that is learnt on the way. */
  readonly of: (total: number) => void;
  readonly end: () => void;
};

/**
 * Tells how far the work is, at which rate, and how long it may go on: on a terminal a bar that moves, else a line each
 * second, until `end`. It is told only while the work gives way to timers.
 */
export const createProgress = ({ what, unit = 'events', ...work }: Work, screen: Screen): Progress => {
  const startedMs = performance.now();
  let done = 0;
  let { total } = work;
  const counts = (): string => {
    const perSecond = (done * 1_000) / Math.max(1, performance.now() - startedMs);
    const of = total === undefined ? '' : ` of ${digits(total)}`;
    const left =
      total === undefined || done === 0 ? '' : `, ${duration(Math.max(0, total - done) / perSecond)} left`;
    return `${digits(done)}${of} ${unit}, ${digits(perSecond)}/s${left}`;
  };
  const draw = (): void => {
    const text = counts();
    const chars = Math.min(barCharsMax, screen.columns() - what.length - text.length - 5);
    const drawn = total === undefined || total === 0 || chars < 5 ? '' : `${bar(done / total, chars)} `;
    screen.draw(`${what} ${drawn}${text}`.slice(0, screen.columns() - 1));
  };
  const timer = screen.isTerminal
    ? setInterval(draw, drawEveryMs)
    : setInterval(() => screen.tell(`${what}: ${counts()}`), everyMs);
  return {
    add: (count) => {
      // What is taken in steps of a size can end in the middle of one.
      done = Math.min(done + count, total ?? Infinity);
    },
    set: (count) => {
      done = count;
    },
    of: (count) => {
      total = count;
    },
    end: () => {
      clearInterval(timer);
      screen.draw();
    },
  };
};

/** Does a piece of work, telling how far it is until it ends or throws. */
export const withProgress = async <T>(
  work: Work,
  screen: Screen,
  run: (progress: Progress) => Promise<T>,
): Promise<T> => {
  const progress = createProgress(work, screen);
  try {
    return await run(progress);
  } finally {
    progress.end();
  }
};
