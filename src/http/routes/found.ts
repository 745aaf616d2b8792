import { refuse } from '../../core/command.ts';

/** What every route says of a tenant that is not there. */
export const unknownTenant = (id: string) => refuse('tenant.unknown', `There is no tenant ${id}.`);
