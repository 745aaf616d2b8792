import { z } from 'zod';
import type { FactOf } from './definition.ts';
import { described, resourceEvents } from './resource.ts';

/** A workflow of a workspace was made, was changed, ended. */
export const {
  created: WorkflowCreated,
  changed: WorkflowChanged,
  deleted: WorkflowDeleted,
} = resourceEvents('Workflow', z.strictObject({ name: z.string(), ...described }));

/** Everything that can happen to it. */
export type WorkflowFact = FactOf<typeof WorkflowCreated | typeof WorkflowChanged | typeof WorkflowDeleted>;
