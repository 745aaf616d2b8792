import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import type { Documents, ReadModels, Revised } from '../../src/core/ports.ts';
import { createLog } from '../../src/log.ts';
import type { Tombstone } from '../../src/projections/revocations.ts';

/**
 * The service with one of two classic faults in how it reads, by `KEYLEDGER_TEST_MUTANT`: a test that does not find
 * them would not find anything. For tests alone.
 */
const mutants: Record<string, (real: ReadModels) => ReadModels> = {
  /** Revocations are projected a little after they are answered. */
  delayed: (real) => delaying(real),
  /** Look-ups are cached for a little while, and nothing empties the cache. */
  cached: (real) => caching(real),
};

/** How late the one is, and how long the other remembers, in milliseconds. */
const lagMs = 40;

const delaying = (real: ReadModels): ReadModels => ({
  ...real,
  documents: <D>(name: string): Documents<D> => {
    const documents = real.documents<D>(name);
    if (name !== 'revocations') return documents;
    return {
      ...documents,
      getMany: async (ids) =>
        (await documents.getMany(ids)).map((found) => {
          const laid = found === undefined ? 0 : Date.parse((found as unknown as Tombstone).at);
          return laid > Date.now() - lagMs ? undefined : found;
        }),
    };
  },
});

const caching = (real: ReadModels): ReadModels => {
  const cache = new Map<string, { readonly until: number; readonly found: unknown }>();
  return {
    ...real,
    documents: <D>(name: string): Documents<D> => {
      const documents = real.documents<D>(name);
      const getWithRevision = async (id: string): Promise<Revised<D> | undefined> => {
        const key = `${name}/${id}`;
        const cached = cache.get(key);
        if (cached !== undefined && cached.until > Date.now()) return cached.found as Revised<D> | undefined;
        const found = await documents.getWithRevision(id);
        cache.set(key, { until: Date.now() + lagMs, found });
        return found;
      };
      const get = async (id: string): Promise<D | undefined> => (await getWithRevision(id))?.document;
      return { ...documents, get, getWithRevision, getMany: (ids) => Promise.all(ids.map(get)) };
    },
  };
};

const readModels = mutants[process.env['KEYLEDGER_TEST_MUTANT'] ?? ''];
if (readModels === undefined) throw new Error('KEYLEDGER_TEST_MUTANT names no mutant.');
const { config } = readConfig(process.env);
const log = createLog(config.log_level);
const fatal = (error: unknown): never => {
  throw error;
};
const app = await createApp(config, log.logger, fatal, { readModels });
log.logger.info({ address: app.address, port: app.port }, 'ready');
log.flush();
