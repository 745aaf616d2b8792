import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { instant } from './fields.ts';

/**
 * The log was sealed up to an event: whatever stands there can't be changed from now on without everybody seeing it who
 * has the public key. It covers at least one event that is none of these.
 */
export const LogSealed = event(
  'LogSealed',
  1,
  z.strictObject({
    /** Counts the checkpoints of the log, from 1. */
    number: z.int().positive(),
    /** The signed note: what is sealed, and by whom. */
    note: z.string(),
    /** The id of the last event that it covers. */
    last: z.string(),
    /** The blocks of 256 events that are whole since: the root of each, base64, and the id and time of its first event. */
    blocks: z.array(z.strictObject({ hash: z.string().length(44), first: z.string(), time: instant })),
    /** The first 8 bytes of the hash of each leaf since the checkpoint before, in the log's order, base64. */
    fingerprints: z.string(),
  }),
);

/** Everything that is stated of the log itself. */
export type CheckpointFact = FactOf<typeof LogSealed>;
