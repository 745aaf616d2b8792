import { readFile } from 'node:fs/promises';

/** The resident memory of a process, as Linux counts it. */
export type Memory = {
  readonly rssBytes: number;
  /** The most that it has been since the process began. */
  readonly peakBytes: number;
};

const bytesOf = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;

/** What a process takes now and took at most; throws where there is no such process. */
export const readMemory = async (pid: number | undefined): Promise<Memory> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return { rssBytes: bytesOf(status, 'VmRSS'), peakBytes: bytesOf(status, 'VmHWM') };
};

/** Bytes as people read them. */
export const formatMegabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
