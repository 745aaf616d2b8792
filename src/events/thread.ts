import { z } from 'zod';
import type { FactOf } from './definition.ts';
import { described, resourceEvents } from './resource.ts';

/** A thread of a workspace, which may name the agent that leads it was made, was changed, ended. */
export const {
  created: ThreadCreated,
  changed: ThreadChanged,
  deleted: ThreadDeleted,
} = resourceEvents(
  'Thread',
  z.strictObject({ title: z.string(), ...described, agent_id: z.string().exactOptional() }),
);

/** Everything that can happen to it. */
export type ThreadFact = FactOf<typeof ThreadCreated | typeof ThreadChanged | typeof ThreadDeleted>;
