import { agents, threads, workflows } from '../../src/projections/resources.ts';
import {
  acmeAgain,
  agentChanged,
  agentCreated,
  agentDeleted,
  but,
  cause,
  threadChanged,
  threadCreated,
  threadDeleted,
  time,
  timePlus,
  workflowChanged,
  workflowCreated,
  workflowDeleted,
} from '../support/examples.ts';
import { happened, project } from '../support/given.ts';

const kinds = {
  agents: { model: agents, created: agentCreated, changed: agentChanged, deleted: agentDeleted },
  threads: { model: threads, created: threadCreated, changed: threadChanged, deleted: threadDeleted },
  workflows: {
    model: workflows,
    created: workflowCreated,
    changed: workflowChanged,
    deleted: workflowDeleted,
  },
} as const;

for (const [kind, { model, created, changed, deleted }] of Object.entries(kinds)) {
  const { id } = created.data;
  const one = {
    id,
    workspace_id: 'acme',
    ...created.data.content,
    created_at: time,
    updated_at: time,
    created_by: cause.actor,
  };
  const document = `acme~1/${id}`;

  describe(kind, () => {
    it('has one as clients see it', () =>
      project(model)
        .given(created)
        .hasOnly({ [document]: one }));
    it('has it as it was changed: what was taken away is gone, and who made it and when stays', () => {
      const later = happened(changed, { revision: 1, time: timePlus(1_000) });
      const { id: _, workspace_id, created_at, created_by } = one;
      project(model)
        .given(happened(created), later)
        .hasOnly({
          [document]: {
            id,
            workspace_id,
            ...changed.data.content,
            created_at,
            updated_at: timePlus(1_000),
            created_by,
          },
        });
    });
    it('has none that is deleted', () => project(model).given(created, changed, deleted).hasNothing());
    it('does not raise a deleted one when an event comes late or again', () =>
      project(model)
        .given(
          happened(created),
          happened(deleted, { revision: 2 }),
          happened(changed, { revision: 1 }),
          happened(created),
        )
        .hasNothing());
    it('lists them by the life of their tenant', () => {
      const both = project(model).given(
        happened(created),
        happened(but(created, { ...acmeAgain, id: 'again' })),
      );
      both.lists('acme~1', [document]);
      both.lists('acme~2', ['acme~2/again']);
    });
  });
}
