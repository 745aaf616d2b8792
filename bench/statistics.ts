/** The value below which the share `q` of the values lies (nearest rank). `sorted` ascending; `NaN` where empty. */
export const percentile = (sorted: ArrayLike<number>, q: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] ?? Number.NaN;

/** The middle value, or the mean of the two middle ones; `NaN` where empty. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
};
