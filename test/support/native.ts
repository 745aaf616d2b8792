import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder } from './program.ts';

/** Where the sources lie: they are not compiled with the tests, but when a test asks. */
const sources = fileURLToPath(new URL('../../../test/support/native/', import.meta.url));

const isTool = (name: string): boolean =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((dir) =>
    existsSync(join(dir, name)),
  );

/** Why a test can't run here; absent where it can. It needs Linux, these tools, and `root` where that is among them. */
export const whyNot = (...needs: readonly string[]): string | undefined => {
  if (process.platform !== 'linux') return 'it needs Linux';
  const missing = needs.filter((need) => (need === 'root' ? process.getuid?.() !== 0 : !isTool(need)));
  return missing.length === 0 ? undefined : `it needs ${missing.join(', ')}`;
};

/** `it`, or where there is a reason against it a skipped test that says so. */
export const itUnless = (reason: string | undefined, title: string, test: () => Promise<void>): Mocha.Test =>
  reason === undefined ? it(title, test) : it.skip(`${title} (skipped: ${reason})`, test);

/** Compiles one of the native sources; `shared` for a library that is preloaded. Answers its path and how to remove it. */
export const compileNative = (
  name: 'failing-disk' | 'cut-power',
  kind: 'program' | 'shared',
): { readonly path: string; readonly remove: () => void } => {
  const dir = mkdtempSync(join(tmpdir(), 'keyledger-native-'));
  const path = join(dir, kind === 'shared' ? `${name}.so` : name);
  const flags = kind === 'shared' ? ['-shared', '-fPIC'] : [];
  execFileSync('cc', ['-O1', '-Wall', ...flags, '-o', path, join(sources, `${name}.c`), '-ldl'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { path, remove: () => removeFolder(dir) };
};
