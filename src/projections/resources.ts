import type { RecordedEvent } from '../core/event.ts';
import type { Documents, ReadModels } from '../core/ports.ts';
import type { Change, Projection } from '../core/projection.ts';
import type { AgentFact } from '../events/agent.ts';

/** The kinds of resources of a workspace, as paths and read models name them. */
export const resourceKinds = ['agents', 'threads', 'workflows'] as const;

/** One of them. */
export type ResourceKind = (typeof resourceKinds)[number];

/**
 * A resource as clients see it, with what its makers chose between `workspace_id` and `created_at`: the documents are
 * answered as they are.
 */
export type Resource = {
  readonly id: string;
  readonly workspace_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly created_by: string;
} & Readonly<Record<string, unknown>>;

const idOf = (incarnation: string, id: string): string => `${incarnation}/${id}`;

/** The three events are alike for every noun; which of them it is, the names of its reducers say. */
type Written = RecordedEvent<Extract<AgentFact, { data: { content: object } }>>;
type Ended = RecordedEvent<Extract<AgentFact, { type: 'AgentDeleted' }>>;

const reducersOf = (noun: 'Agent' | 'Thread' | 'Workflow') => ({
  [`${noun}Created`]: ({ data, time, cause }: Written): readonly Change<Resource>[] => [
    {
      id: idOf(data.incarnation, data.id),
      to: () => ({
        id: data.id,
        workspace_id: data.tenant_id,
        ...data.content,
        created_at: time,
        updated_at: time,
        created_by: cause.actor,
      }),
    },
  ],
  [`${noun}Changed`]: ({ data, time }: Written): readonly Change<Resource>[] => [
    {
      id: idOf(data.incarnation, data.id),
      to: (was) =>
        was && {
          id: was.id,
          workspace_id: was.workspace_id,
          ...data.content,
          created_at: was.created_at,
          updated_at: time,
          created_by: was.created_by,
        },
    },
  ],
  [`${noun}Deleted`]: ({ data }: Ended): readonly Change<Resource>[] => [
    { id: idOf(data.incarnation, data.id), to: () => undefined },
  ],
});

const resources = (name: ResourceKind, noun: 'Agent' | 'Thread' | 'Workflow'): Projection =>
  ({
    name,
    version: 1,
    kind: 'stream',
    group: (_: unknown, id: string) => id.slice(0, id.indexOf('/')),
    on: reducersOf(noun),
  }) as Projection;

/** The agents of all workspaces, listed by the tenant's incarnation. */
export const agents = resources('agents', 'Agent');

/** The threads of all workspaces, listed by the tenant's incarnation. */
export const threads = resources('threads', 'Thread');

/** The workflows of all workspaces, listed by the tenant's incarnation. */
export const workflows = resources('workflows', 'Workflow');

/** The resources of a kind, for pages of them. */
export const resourcesOf = (reads: ReadModels, kind: ResourceKind): Documents<Resource> =>
  reads.documents<Resource>(kind);

/** The resource of this id with the revision of its stream, if this incarnation of the tenant has it. */
export const findResource = (
  reads: ReadModels,
  kind: ResourceKind,
  incarnation: string,
  id: string,
): Promise<{ readonly document: Resource; readonly revision: number } | undefined> =>
  resourcesOf(reads, kind).getWithRevision(idOf(incarnation, id));
