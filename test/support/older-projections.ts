import { upcasts } from '../../src/events/upcasts.ts';
import { olderUpcasts } from './older-events.ts';

/**
 * The service's read models, in a program whose event types have a past that they do not have: the engine's thread
 * loads this module in the place of the service's own.
 */
Object.assign(upcasts, olderUpcasts);

export { decode, projections } from '../../src/projections/index.ts';
