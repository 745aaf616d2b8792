import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of a test's own. */
export type Mount = {
  /** A folder on it; not there before `mount`. */
  readonly dir: string;
  mount(): void;
  unmount(): void;
  /** Unmounts it, however it stands, and removes what held it. */
  remove(): void;
};

const run = (command: string, ...args: readonly string[]): void => {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

const createMount = (mount: (at: string) => void, held: string): Mount => {
  const at = join(held, 'mounted');
  mkdirSync(at);
  let isMounted = false;
  const unmount = (): void => {
    run('umount', at);
    isMounted = false;
  };
  return {
    dir: join(at, 'data'),
    mount: () => {
      mount(at);
      isMounted = true;
    },
    unmount,
    remove: () => {
      // Detached at once, should something still have a file on it open.
      if (isMounted) run('umount', '-l', at);
      isMounted = false;
      rmSync(held, { recursive: true, force: true });
    },
  };
};

/** A file system in memory of that size, not mounted yet. */
export const createTmpfs = (megabytes: number): Mount =>
  createMount(
    (at) => run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', at),
    mkdtempSync(join(tmpdir(), 'keyledger-tmpfs-')),
  );

/** An ext4 of that size in a file of its own, not mounted yet; what is on it outlives `unmount`. */
export const createExt4 = (megabytes: number): Mount => {
  const held = mkdtempSync(join(tmpdir(), 'keyledger-ext4-'));
  const image = join(held, 'image');
  closeSync(openSync(image, 'w'));
  truncateSync(image, megabytes * 1_048_576);
  // Nothing is kept back for root, as whom these tests run.
  run('mkfs.ext4', '-q', '-F', '-b', '4096', '-m', '0', image);
  return createMount((at) => run('mount', '-o', 'loop', image, at), held);
};

/** Takes all the space that is left beside the folder; answers how to give it back. */
export const fillDisk = ({ dir }: Mount): (() => void) => {
  const path = join(dir, '..', 'filler');
  const file = openSync(path, 'w');
  // The last bytes go in small pieces, so that not even a page is left.
  for (const bytes of [1_048_576, 4_096, 1]) {
    try {
      for (;;) if (writeSync(file, Buffer.alloc(bytes)) < bytes) break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  closeSync(file);
  return () => rmSync(path, { force: true });
};
