import { z } from 'zod';
import { event, type FactOf } from './definition.ts';
import { ofTenant } from './fields.ts';

/** A tenant came to be, under an id that was free. */
export const TenantCreated = event('TenantCreated', 1, z.strictObject(ofTenant));

/** A tenant ended, and with it everything that hangs from this incarnation. */
export const TenantDeleted = event('TenantDeleted', 1, z.strictObject(ofTenant));

/** Everything that can happen to a tenant. */
export type TenantFact = FactOf<typeof TenantCreated | typeof TenantDeleted>;
