import { z } from 'zod';
import type { Act } from '../../projections/activity.ts';
import { listAsStored } from '../lists.ts';
import { route } from '../route.ts';
import { instant, listQuery, tenantId } from '../schemas.ts';

const act = z
  .object({
    id: z.uuid(),
    position: z.string().meta({ description: 'The place in the whole log.' }),
    type: z.string().meta({ description: 'What happened, in the past tense.', example: 'UserCreated' }),
    time: instant,
    actor: z.string().meta({ description: 'Who did it.', example: 'user:acme/alice' }),
    address: z.string().nullable().meta({ description: 'From where, as far as is known.' }),
    reason: z.string().nullable().meta({ description: 'Why, in the caller’s own words.' }),
    correlation_id: z.string().meta({ description: 'The id of the request that did it.' }),
    data: z.record(z.string(), z.unknown()).meta({ description: 'What happened, without secrets.' }),
  })
  .meta({ id: 'Act', description: 'One event of a tenant.' });

export const activityRoutes = [
  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/activity',
    id: 'listActivity',
    tag: 'Activity',
    summary: 'List what was done in a tenant',
    description:
      'Every change, with who made it, when, from where and why; earlier lives of the id among them, so that a deleted tenant’s is still there. An id that there never was has none.',
    callers: ['admin'],
    params: z.strictObject({ id: tenantId }),
    query: listQuery,
    responses: { 200: { description: 'The acts, oldest first.', body: z.array(act), headers: ['Link'] } },
    refusals: [],
  })(async ({ params: { id }, query, url }, { reads }) => ({
    status: 200,
    ...(await listAsStored(reads.documents<Act>('activity'), { group: id }, url, query)),
  })),
];
