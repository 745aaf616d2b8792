/** The most earlier generations of a secret that may still work; a further one ends the oldest at once. */
export const gracedGenerationsMax = 8;

/** A generation of a secret that may work until then, ISO 8601. */
export type Ending = { readonly generation: number; readonly until: string };

/** A secret that is given anew from time to time: its newest generation, and the earlier ones that may still work. */
export type Generations = { readonly generation: number; readonly graced: readonly Ending[] };

/** Both ISO 8601 in UTC of one width, so that text order is time order. */
const earlier = (a: string, b: string): string => (a < b ? a : b);

/**
 * The next generation at `atMs`, and when each one that still works ends: the newest so far after `graceSecs`, earlier
 * ones then at the latest. Without grace every one ends at once.
 */
export const nextGeneration = (
  { generation, graced }: Generations,
  graceSecs: number,
  atMs: number,
): { generation: number; ends: Ending[] } => {
  const graceEnd = new Date(atMs + graceSecs * 1000).toISOString();
  const now = new Date(atMs).toISOString();
  const stillWorking = [...graced.filter(({ until }) => until > now), { generation, until: graceEnd }];
  return {
    generation: generation + 1,
    ends: stillWorking.map((one, at) => ({
      generation: one.generation,
      until: stillWorking.length - at > gracedGenerationsMax ? now : earlier(one.until, graceEnd),
    })),
  };
};
