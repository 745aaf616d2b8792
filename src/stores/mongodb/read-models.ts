import { startOfLog, type Position, type StoredEvent } from '../../core/event.ts';
import { StoreUnavailable, type Documents, type ReadModels, type ReadModelStatus } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import { reachWithin } from '../reach.ts';
import { createDocumentsAsOf } from './as-of.ts';
import { within, type Server } from './client.ts';
import { createDocuments } from './documents.ts';
import { effectsOfStream, handles, write, type Decode, type Effects } from './effects.ts';
import { withoutPast } from './past.ts';
import type { Pending } from './pending.ts';
import { rebuildAndWait } from './rebuilds.ts';
import { keyOf, type Registered, type Registry } from './registry.ts';
import type { Writer } from './writer.ts';

/** How long a command waits for its documents to be durable, in milliseconds. */
const settleMs = 8_000;

type ReadModelsInput = {
  readonly server: Server;
  readonly registry: Registry;
  readonly writer: Writer;
  readonly projections: readonly Projection[];
  readonly decode: Decode;
  readonly pending: ReadonlyMap<string, Pending>;
  readonly signal: AbortSignal;
};

/** The effects without the versions that a collection's past has already: a stream's events are settled again and again. */
const withoutKept = async (server: Server, target: string, effects: Effects): Promise<Effects> =>
  effects.kind === 'tombstones'
    ? effects
    : { ...effects, documents: await withoutPast(server, target, effects.documents) };

type Planned = { readonly projection: Projection; readonly effects: Effects };

const statusOf = ({ name, version }: Projection, it: Registered | undefined): ReadModelStatus => ({
  name,
  version,
  checkpoint: it?.checkpoint ?? startOfLog,
  rebuilding: it?.building ?? null,
  ...(it?.stopped ? { stopped: it.stopped } : {}),
});

/** The port, on a server: what is settled is written by the node that settles, whatever the projector does. */
export const createReadModels = (input: ReadModelsInput): ReadModels => {
  const { server, registry, writer, projections, pending, signal } = input;
  const documents = new Map<string, Documents<unknown>>(
    projections.map((projection) => [
      projection.name,
      createDocuments(server, registry, keyOf(projection), pending.get(projection.name)?.over),
    ]),
  );
  const named = (name: string): Projection => {
    const found = projections.find((it) => it.name === name);
    if (found === undefined) throw new Error(`There is no read model ${name}.`);
    return found;
  };

  /** What the events do to each read model; the first error of a reducer comes with what the others do. */
  const planAll = (
    stored: readonly StoredEvent[],
  ): { planned: readonly Planned[]; errors: readonly unknown[] } => {
    const planned: Planned[] = [];
    const errors: unknown[] = [];
    for (const projection of projections) {
      try {
        const events = stored.filter(({ type }) => handles(projection, type)).map(input.decode);
        if (events.length > 0) planned.push({ projection, effects: effectsOfStream(projection, events) });
      } catch (error) {
        errors.push(error);
      }
    }
    return { planned, errors };
  };

  /** Where the one that is furthest behind is. */
  const position = (): Position => {
    const { known } = registry.last();
    const all = projections.map((it) => known.get(keyOf(it))?.checkpoint ?? startOfLog);
    return all.reduce((first, one) => (one < first ? one : first), all[0] ?? startOfLog);
  };

  const writeAll = async (planned: readonly Planned[]): Promise<void> => {
    // Asked after the append: whoever registers a collection later than this reads these events from the log.
    const known = await registry.fresh();
    await Promise.all(
      planned.map(async ({ projection, effects }) => {
        const targets = known.get(keyOf(projection))?.targets ?? [];
        if (targets.length === 0)
          throw new StoreUnavailable(`The read model ${projection.name} is not there yet.`);
        await Promise.all(
          targets.map(async (target) => write(writer, [target], await withoutKept(server, target, effects))),
        );
      }),
    );
  };

  const settle = async (stored: readonly StoredEvent[]): Promise<void> => {
    const [first] = stored;
    if (first === undefined) return;
    if (first.revision !== 0) throw new Error(`The events of ${first.stream} do not begin at its first.`);
    const { planned, errors } = planAll(stored);
    // Look-ups on this node see them from now on, whether they can be written or not.
    const written = planned.map(({ projection, effects }) =>
      effects.kind === 'tombstones' ? pending.get(projection.name)?.add(effects.lays) : undefined,
    );
    await within('Writing the read models', settleMs, writeAll(planned));
    for (const take of written) take?.();
    if (errors.length > 0) throw errors[0];
  };

  return {
    // The projection of that name alone knows the type, on both sides of the JSON.
    documents: <D>(name: string) => documents.get(named(name).name) as Documents<D>,
    documentsAsOf: <D>(name: string, at: Position) =>
      createDocumentsAsOf(server, registry, named(name), at) as Documents<D>,
    settle,
    position,
    reach: (wanted) => reachWithin(wanted, position, registry.fresh),
    rebuild: async (name) => rebuildAndWait(server, registry, keyOf(named(name)), signal),
    status: async () => {
      const known = await registry.fresh();
      return projections
        .map((it) => statusOf(it, known.get(keyOf(it))))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
};
