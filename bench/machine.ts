import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';

/** Where the figures come from; absolute figures mean little without it. */
export const describeMachine = (): Record<string, string | number> => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1e9),
  system: `${type()} ${release()} ${arch()}`,
  node: process.version,
  // Above 0 before the start, others use the machine too: believe the ratios, not the rates.
  loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
});
