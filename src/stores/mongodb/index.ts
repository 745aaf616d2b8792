import type { Health, ReadModels } from '../../core/ports.ts';
import { createServer } from './client.ts';
import { createGate } from './gate.ts';
import { holdLease } from './lease.ts';
import type { MongoDbOptions } from './options.ts';
import { createPending } from './pending.ts';
import { createProjector } from './projector.ts';
import { createReadModels } from './read-models.ts';
import { createRegistry, keyOf, type Known } from './registry.ts';
import { retrying, sleep } from '../retrying.ts';
import { createWriter } from './writer.ts';

export { openMongoDbReader, type MongoDbReader, type ServerPast, type ServerRow } from './checking.ts';
export { keepsPast } from './past.ts';
export type { MongoDbOptions, Observe } from './options.ts';

/** How often a node looks where the read models stand, in milliseconds. */
const lookEveryMs = 1_000;

/** The read models on MongoDB, and this node's part in keeping them. */
export type MongoDb = {
  readonly readModels: ReadModels;
  /** Whether every read model can answer, as last seen. */
  readonly health: () => Health;
  /** Stops projecting, hands the lease over, and leaves the server. */
  readonly close: () => Promise<void>;
};

/**
 * Opens the read models on MongoDB 4.4 or later. Resolves at once and connects in the background: until the server
 * answers and the read models hold what the log held at the start, `health` says why not and reads throw
 * `StoreUnavailable`. Of all nodes that are open, one follows the log. Throws on a connection string that is none.
 */
export const openMongoDb = async (options: MongoDbOptions): Promise<MongoDb> => {
  const { connectionString, projections, decode, events, nodeId, observe = {} } = options;
  const server = createServer(connectionString);
  const closing = new AbortController();
  const { signal } = closing;
  const pending = new Map(
    projections.filter(({ kind }) => kind === 'tombstones').map(({ name }) => [name, createPending()]),
  );
  const passed = (known: Known): void => {
    for (const projection of projections) {
      const checkpoint = known.get(keyOf(projection))?.checkpoint;
      if (checkpoint !== undefined) pending.get(projection.name)?.passed(checkpoint);
    }
  };
  const registry = createRegistry(server, passed);
  const gate = createGate(async () => (await server.limits()).writesAtOnce);
  const writer = createWriter(server, gate);
  const project = createProjector({ server, registry, writer, projections, decode, events, observe });

  const headless = (error: unknown): void => observe.failed?.({ task: 'reading the head of the log', error });
  const begin = async (): Promise<void> => {
    registry.begin(await retrying(signal, () => events.head(), headless));
  };
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await registry.fresh().catch((error: unknown) => observe.failed?.({ task: 'watching', error }));
      await sleep(lookEveryMs, signal);
    }
  };
  const running = Promise.all([
    begin().catch(headless),
    watch(),
    holdLease({ server, nodeId, observe, signal, hold: project }),
  ]);

  const health = (): Health => {
    const { known, error } = registry.last();
    if (error !== undefined) return { ready: false, reason: error.message };
    const why = projections.map((it) => registry.whyNot(keyOf(it))).find((it) => it !== undefined);
    if (why !== undefined) return { ready: false, reason: why };
    const stopped = projections.flatMap((projection) => {
      const at = known.get(keyOf(projection))?.stopped;
      if (at === undefined || at === null) return [];
      return [{ projection, reason: `${keyOf(projection)} stands before event ${at.event}: ${at.reason}` }];
    });
    if (stopped.length === 0) return { ready: true };
    const reason = stopped.map((it) => it.reason).join('; ');
    // What is revoked is told by tombstones: where those may lack one, nobody should be sent here.
    const isUnsafe = stopped.some(({ projection }) => projection.kind === 'tombstones');
    return isUnsafe ? { ready: false, reason } : { ready: true, warning: reason };
  };

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    // Bounded: everything in it waits for the signal or for one call.
    await running;
    await server.close();
  };
  return {
    readModels: createReadModels({ server, registry, writer, projections, decode, pending, signal }),
    health,
    close: () => (closed ??= close()),
  };
};
