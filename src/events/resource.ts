import { z } from 'zod';
import { event } from './definition.ts';
import { ofTenant } from './fields.ts';

const ofResource = { id: z.string(), ...ofTenant };

/** What every resource of a workspace has beside its name. */
export const described = { description: z.string(), metadata: z.record(z.string(), z.json()) };

/** The three events of a resource of a workspace: made, changed (the whole content as it is then), ended. */
export const resourceEvents = <const N extends string, C extends z.ZodType<object>>(noun: N, content: C) => ({
  created: event(`${noun}Created`, 1, z.strictObject({ ...ofResource, content })),
  changed: event(`${noun}Changed`, 1, z.strictObject({ ...ofResource, content })),
  deleted: event(`${noun}Deleted`, 1, z.strictObject(ofResource)),
});
