import type { Projection } from '../core/projection.ts';
import type { DomainFact } from '../events/index.ts';

/** States a read model of the domain's events; its document type is known to its own file alone. */
export const projection = <D>(it: Projection<D, DomainFact>): Projection => it as unknown as Projection;
