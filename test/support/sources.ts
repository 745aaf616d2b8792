import { readdirSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the sources, seen from the compiled tests. */
const folder = fileURLToPath(new URL('../../../src/', import.meta.url));

/** One source file; paths start at `src` and have slashes: `core/run.ts`. */
export type Source = {
  readonly path: string;
  readonly text: string;
  /** The files of ours that it imports, types included. */
  readonly imports: readonly string[];
  /** The packages that it imports, Node's own with their prefix: `zod`, `node:fs`. */
  readonly packages: readonly string[];
};

/** `from 'x'`, `import 'x'`, `import('x')`, `require('x')`, `require.resolve('x')`. */
const specifiers = /(?:\bfrom|\bimport|\bimport\(|\brequire\(|\brequire\.resolve\()\s*'([^']+)'/g;

/** A package's name without the path into it. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');

const isOurs = (specifier: string): boolean => specifier.startsWith('.');

const readSource = (path: string): Source => {
  const text = withoutComments(readFileSync(folder + path, 'utf8'));
  const named = [...text.matchAll(specifiers)].map(([, specifier = '']) => specifier);
  return {
    path,
    text,
    imports: named.filter(isOurs).map((specifier) => posix.join(dirname(path), specifier)),
    packages: named.filter((specifier) => !isOurs(specifier)).map(packageOf),
  };
};

/** Every source file of the service. */
export const readSources = (): readonly Source[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path))
    .toSorted()
    .map(readSource);

/** The first segment of a path, or the file itself at the top: `core`, `app.ts`. */
export const partOf = (path: string): string => path.split('/', 1)[0] ?? path;
