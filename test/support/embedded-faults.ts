import { existsSync } from 'node:fs';
import type { Faults } from '../../src/core/faults.ts';

/**
 * What goes wrong, from this module's URL: `?at=<fail point>&do=kill|throw|full|ioerr`, every time, or with
 * `&while=<path>` as long as that file is there. The codes are those of SQLite.
 */
const { searchParams } = new URL(import.meta.url);
const at = searchParams.get('at');
const file = searchParams.get('while');

const sqliteError = (message: string, errcode: number): Error =>
  Object.assign(new Error(message), { errcode });

export const faults: Faults = (point) => {
  if (point !== at || (file !== null && !existsSync(file))) return;
  const what = searchParams.get('do');
  if (what === 'kill') process.kill(process.pid, 'SIGKILL');
  if (what === 'full') throw sqliteError('database or disk is full', 13);
  if (what === 'ioerr') throw sqliteError('disk I/O error', 10 | (4 << 8));
  throw new Error(`A fault ${point}.`);
};
