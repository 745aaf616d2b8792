import { readFileSync } from 'node:fs';

const mebibyte = 1_048_576;

/** A running process's resident memory, in MiB. */
export const residentMebibytes = (pid: number): number => {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kibibytes) * 1_024) / mebibyte;
};

/** Watches a process's resident memory until `stop`, which answers the most that was seen, in MiB. */
export const watchMemory = (pid: number): { readonly stop: () => number } => {
  let most = residentMebibytes(pid);
  const look = (): void => {
    most = Math.max(most, residentMebibytes(pid));
  };
  const timer = setInterval(look, 100);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most;
    },
  };
};
