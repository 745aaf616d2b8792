/** When something was asked and answered, on one clock; without an answer it may still happen at any time. */
export type Span = { readonly start: number; readonly end: number };

/** A request whose answer never came: it happened, it will happen, or it never did. */
export const unanswered = Number.POSITIVE_INFINITY;

/** One look-up of a secret. */
export type LookUp = Span & { readonly taken: boolean };

/**
 * The whole life of one secret as its clients saw it. A secret only ever goes from not there to there to ended, so
 * these intervals are enough to tell whether any order of the requests explains all answers: no search is needed.
 */
export type Life = {
  readonly what: string;
  readonly made: Span;
  /** Each request that ended it, or anything that it hangs from. */
  readonly ends: readonly Span[];
  readonly lookUps: readonly LookUp[];
};

const earliest = (spans: readonly Span[], edge: keyof Span): number =>
  spans.reduce((least, span) => Math.min(least, span[edge]), unanswered);

/** Every answer that no order of the requests explains, one line each; none where the life is linearizable. */
export const faultsOf = ({ what, made, ends, lookUps }: Life): readonly string[] => {
  const faults: string[] = [];
  const endedAt = earliest(ends, 'end');
  const endBegan = earliest(ends, 'start');
  const refusedAfterMade = lookUps.filter(({ taken, start }) => !taken && start > made.end);
  const refusedAt = earliest(refusedAfterMade, 'end');
  for (const { start, end, taken } of lookUps) {
    const at = `${what}: look-up [${start.toFixed(2)}, ${end.toFixed(2)}]`;
    if (taken && start > endedAt) faults.push(`${at} was taken after its end at ${endedAt.toFixed(2)}`);
    if (taken && end < made.start) faults.push(`${at} was taken before it was made`);
    if (taken && start > refusedAt) faults.push(`${at} was taken after a refusal at ${refusedAt.toFixed(2)}`);
    if (!taken && start > made.end && end < endBegan) faults.push(`${at} was refused while it was alive`);
  }
  return faults;
};
