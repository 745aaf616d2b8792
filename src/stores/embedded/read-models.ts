import { toPosition, type Position } from '../../core/event.ts';
import { StoreUnavailable, type Documents, type ReadModels, type ReadModelStatus } from '../../core/ports.ts';
import type { Projection } from '../../core/projection.ts';
import { reachWithin } from '../reach.ts';
import { reading } from './log.ts';
import type { ProjectionsModule } from './modules.ts';
import { openModel } from './open-model.ts';
import { fromWireError, type LiveModel, type ToWriter, type WireError } from './protocol.ts';
import type { Database } from './sqlite.ts';

/** Documents and known absences that each read model keeps parsed in memory. */
const cacheEntriesMaxDefault = 20_000;

type Waiter = { readonly resolve: () => void; readonly reject: (error: Error) => void };
type Rebuild = { checkpoint: number; readonly waiters: Waiter[] };

type Registered = { readonly name: string; readonly version: number; readonly checkpoint: number };

/** What the read models need around them. */
export type ReadModelsInput = {
  readonly db: Database;
  readonly models: readonly LiveModel[];
  readonly projections: ProjectionsModule;
  readonly post: (message: ToWriter) => void;
  /** The end of the log, which the read models always hold. */
  readonly head: () => Position;
  readonly cacheEntriesMax?: number | undefined;
};

/** The rebuilds that the writer has under way, as those who wait for them see it. */
const createRebuilds = (post: (message: ToWriter) => void) => {
  const running = new Map<string, Rebuild>();
  let ended: Error | undefined;
  return {
    running: (name: string): Rebuild | undefined => running.get(name),
    /** Begins a rebuild, or joins the one that runs. */
    run: (name: string): Promise<void> =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        const rebuild = running.get(name);
        if (rebuild !== undefined) return rebuild.waiters.push({ resolve, reject });
        running.set(name, { checkpoint: 0, waiters: [{ resolve, reject }] });
        post({ kind: 'rebuild', name });
      }),
    progress: (names: readonly string[], checkpoint: number): void => {
      for (const name of names) {
        const rebuild = running.get(name);
        if (rebuild !== undefined) rebuild.checkpoint = checkpoint;
      }
    },
    finish: (name: string, error: Error | undefined): void => {
      const waiters = running.get(name)?.waiters ?? [];
      running.delete(name);
      for (const { resolve, reject } of waiters) {
        if (error === undefined) resolve();
        else reject(error);
      }
    },
    end: (error: Error): void => {
      ended ??= error;
      for (const { waiters } of running.values()) for (const { reject } of waiters) reject(error);
      running.clear();
    },
  };
};

/** The reading side of the read models, on the main thread. */
export const createReadModels = ({
  db,
  models,
  projections: { projections, decode },
  post,
  head,
  cacheEntriesMax = cacheEntriesMaxDefault,
}: ReadModelsInput) => {
  const projectionOf = (name: string): Projection => {
    const found = projections.find((projection) => projection.name === name);
    if (found === undefined) throw new Error(`There is no projection ${name}.`);
    return found;
  };
  const open = models.map(({ name, table }) =>
    openModel(db, table, projectionOf(name), decode, cacheEntriesMax),
  );
  const byName = new Map(models.map(({ name }, index) => [name, index]));
  const registered = db.prepare<Registered>(
    'SELECT name, version, checkpoint FROM read_models ORDER BY name',
  );
  const rebuilds = createRebuilds(post);

  const modelOf = (name: string) => {
    const model = open[byName.get(name) ?? -1];
    if (model === undefined) throw new Error(`There is no read model ${name}.`);
    return model;
  };
  const statusOf = ({ name, version, checkpoint }: Registered): ReadModelStatus => {
    const rebuild = rebuilds.running(name);
    return {
      name,
      version,
      checkpoint: toPosition(checkpoint),
      rebuilding: rebuild === undefined ? null : { checkpoint: toPosition(rebuild.checkpoint) },
    };
  };

  const readModels: ReadModels = {
    // The projection of that name alone knows the type, on both sides of the JSON.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    documents: <D>(name: string) => modelOf(name).documents as Documents<D>,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    documentsAsOf: <D>(name: string, position: Position) => modelOf(name).asOf(position) as Documents<D>,
    // The documents were committed with the events, so whoever has the events has them too.
    settle: async () => undefined,
    position: head,
    reach: (position) => reachWithin(position, head),
    rebuild: async (name) => {
      modelOf(name);
      await rebuilds.run(name);
    },
    status: async () => reading(() => registered.all().map(statusOf)),
  };

  return {
    readModels,
    /** Drops what a commit changed; `touched` is in the order of the models. */
    drop: (touched: readonly (readonly string[])[]): void => {
      for (const [index, ids] of touched.entries()) open[index]?.drop(ids);
    },
    swap: ({ name, table }: LiveModel, left: string): void => {
      modelOf(name).swap(table);
      post({ kind: 'left', table: left });
    },
    progress: rebuilds.progress,
    finish: (name: string, error: WireError | undefined, isRefused: boolean): void => {
      if (error === undefined) return rebuilds.finish(name, undefined);
      const cause = fromWireError(error);
      rebuilds.finish(
        name,
        isRefused ? new StoreUnavailable(`The rebuild stopped: ${error.message}.`, { cause }) : cause,
      );
    },
    /** No more writes: what waits for a rebuild is told, and no cache outlives a commit whose news never came. */
    end: (error: Error): void => {
      rebuilds.end(error);
      for (const model of open) model.clear();
    },
  };
};
