import type { RecordedEvent, StoredEvent } from '../../core/event.ts';
import type { Faults } from '../../core/faults.ts';
import type { Projection } from '../../core/projection.ts';

/** What the module that `projectionsModule` names exports. */
export type ProjectionsModule = {
  readonly projections: readonly Projection[];
  readonly decode: (event: StoredEvent) => RecordedEvent;
};

const isProjectionsModule = (it: object): it is ProjectionsModule =>
  'projections' in it && Array.isArray(it.projections) && 'decode' in it && typeof it.decode === 'function';

const isFaultsModule = (it: object): it is { readonly faults: Faults } =>
  'faults' in it && typeof it.faults === 'function';

/** Loads the read models into this thread; throws where the module has none. */
export const loadProjections = async (url: string): Promise<ProjectionsModule> => {
  const module: object = await import(url);
  if (!isProjectionsModule(module)) throw new Error(`${url} exports no projections and decode.`);
  return module;
};

/** Loads the fail points of a test's program; the service names no such module. */
export const loadFaults = async (url: string | undefined): Promise<Faults | undefined> => {
  if (url === undefined) return undefined;
  const module: object = await import(url);
  if (!isFaultsModule(module)) throw new Error(`${url} exports no faults.`);
  return module.faults;
};
