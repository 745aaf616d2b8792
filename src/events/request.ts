import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { instant } from './fields.ts';

/**
 * Requests of the Admin API that were refused in one minute, all those of one caller together: how many under which
 * code, and of the routes and addresses the first few.
 */
export const RequestsRefused = event(
  'RequestsRefused',
  1,
  z.strictObject({
    /** Who was refused: an actor, `anonymous`, or `others` where they were too many. */
    refused: z.string(),
    minute: instant,
    total: z.int().positive(),
    codes: z.record(z.string(), z.int().positive()),
    routes: z.array(z.string()),
    addresses: z.array(z.string()),
  }),
);

/** Everything that is stated of requests that changed nothing. */
export type RequestFact = FactOf<typeof RequestsRefused>;
