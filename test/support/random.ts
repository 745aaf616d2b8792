/** Numbers from 0 up to, not including, 1. */
export type Random = () => number;

/** The seed of this run: `KEYLEDGER_TEST_SEED`, else a new one. A test that draws from it says it where it fails. */
export const testSeed = (): number =>
  Number(process.env['KEYLEDGER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** How often a test of chance is repeated: `KEYLEDGER_TEST_ROUNDS`, else the test's own number. */
export const testRounds = (usual: number): number => Number(process.env['KEYLEDGER_TEST_ROUNDS'] ?? usual);

/** The same numbers for the same seed (mulberry32). */
export const seeded = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** One of them; absent where there is none. */
export const pick = <T>(random: Random, from: readonly T[]): T | undefined =>
  from[Math.floor(random() * from.length)];

/** A whole number from `least` to `most`. */
export const between = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));
