import { readFileSync } from 'node:fs';

const mebibyte = 1_048_576;

/**
 * A running process's resident memory, in MiB, without what it has mapped of files: its program's own text is among that,
 * and a system takes it and gives it back as it likes, some fifty MiB at a time.
 */
export const residentMebibytes = (pid: number): number => {
  const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
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
