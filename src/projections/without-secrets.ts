import type { Fact } from '../core/event.ts';
import { catalogue } from '../events/index.ts';

/** What an event says, for whoever sees it from outside: without the digests and hashes that its type names. */
export const withoutSecrets = ({ type, data }: Fact): Readonly<Record<string, unknown>> => {
  const secrets = catalogue.get(type)?.secrets ?? [];
  return Object.fromEntries(Object.entries(data).filter(([name]) => !secrets.includes(name)));
};
