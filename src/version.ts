import { readFileSync } from 'node:fs';

/** The version that runs, from the package's own manifest. */
export const version = (JSON.parse(readFileSync(findManifest(), 'utf8')) as { version: string }).version;

/** Sources and compiled files lie at different depths below the manifest. */
function findManifest(): URL {
  for (const up of ['../package.json', '../../package.json']) {
    const url = new URL(up, import.meta.url);
    try {
      readFileSync(url);
      return url;
    } catch {
      // Not at this depth.
    }
  }
  throw new Error('package.json is missing.');
}
