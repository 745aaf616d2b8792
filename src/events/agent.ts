import { z } from 'zod';
import type { FactOf } from './definition.ts';
import { described, resourceEvents } from './resource.ts';

/** An agent of a workspace was made, was changed, ended. */
export const {
  created: AgentCreated,
  changed: AgentChanged,
  deleted: AgentDeleted,
} = resourceEvents('Agent', z.strictObject({ name: z.string(), ...described }));

/** Everything that can happen to it. */
export type AgentFact = FactOf<typeof AgentCreated | typeof AgentChanged | typeof AgentDeleted>;
