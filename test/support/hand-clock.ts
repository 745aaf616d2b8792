/** A computer's wall clock and its monotonic one, both moved by hand. */
export type HandClock = {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  /** Time passes, on both. */
  pass(ms: number): void;
  /** Somebody sets the wall clock, forward or back. */
  step(ms: number): void;
};

/** The wall clock starts where it is told. */
export const createHandClock = (startMs: number): HandClock => {
  let wall = startMs;
  let monotonic = 5;
  return {
    wallMs: () => wall,
    monotonicMs: () => monotonic,
    pass: (ms) => {
      wall += ms;
      monotonic += ms;
    },
    step: (ms) => {
      wall += ms;
    },
  };
};
