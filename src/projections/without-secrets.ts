import type { Fact } from '../core/event.ts';
import { catalogue } from '../events/index.ts';

/** What an event says, for whoever sees it from outside: without the digests and hashes that its type names. */
export const withoutSecrets = ({ type, data }: Fact): Readonly<Record<string, unknown>> => {
  const secrets = catalogue.get(type)?.secrets ?? [];
  // Every replay does this for every event: entries that are filtered and put together again take three times as long.
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(data)) if (!secrets.includes(name)) shown[name] = value;
  return shown;
};
