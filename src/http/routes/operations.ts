import { z } from 'zod';
import { refuse } from '../../core/command.ts';
import { route } from '../route.ts';
import { noParams, noQuery } from '../schemas.ts';

const capabilities = z
  .object({
    'mint.write_schemas': z.boolean(),
    mint: z.object({ write_schemas: z.boolean() }),
  })
  .meta({ id: 'Capabilities', description: 'What this server can do; clients look before they ask for it.' });

const readModel = z
  .object({
    name: z.string(),
    version: z.int(),
    checkpoint: z.string().meta({ description: 'The last position that the read model holds.' }),
    rebuilding: z
      .object({ checkpoint: z.string() })
      .nullable()
      .meta({ description: 'How far a rebuild has come, while one runs.' }),
    stopped: z
      .object({ position: z.string(), event: z.string(), reason: z.string() })
      .optional()
      .meta({ description: 'The event that can’t be projected, while there is one.' }),
  })
  .meta({ id: 'ReadModel', description: 'A read model and how far it has come in the log.' });

export const operationRoutes = [
  route({
    method: 'GET',
    path: '/admin/v1/capabilities',
    id: 'getCapabilities',
    nowOnly: true,
    tag: 'Operations',
    summary: 'Tell what this server can do',
    callers: ['admin', 'service_account'],
    params: noParams,
    query: noQuery,
    responses: { 200: { description: 'The capabilities.', body: capabilities } },
    refusals: [],
  })(async () => ({ status: 200, body: { 'mint.write_schemas': true, mint: { write_schemas: true } } })),

  route({
    method: 'GET',
    path: '/admin/v1/projections',
    id: 'listReadModels',
    nowOnly: true,
    tag: 'Operations',
    summary: 'List the read models',
    callers: ['admin'],
    params: noParams,
    query: noQuery,
    responses: { 200: { description: 'The read models.', body: z.array(readModel) } },
    refusals: [],
  })(async (_, { reads }) => ({ status: 200, body: [...(await reads.status())] })),

  route({
    method: 'POST',
    path: '/admin/v1/projections/{name}/rebuild',
    id: 'rebuildReadModel',
    tag: 'Operations',
    summary: 'Rebuild a read model from the log',
    description:
      'It goes on answering from what it has while the new one is filled, and is swapped at the end. Progress is at GET /admin/v1/projections. Asked again while it runs, it joins.',
    callers: ['admin'],
    params: z.strictObject({ name: z.string().min(1).max(63) }),
    query: noQuery,
    responses: { 202: { description: 'The rebuild has begun.', body: readModel } },
    refusals: ['projection.unknown'],
  })(async ({ params: { name } }, { reads, rebuild }) => {
    const known = await reads.status();
    if (!known.some((one) => one.name === name)) {
      return refuse('projection.unknown', `There is no read model ${name}.`);
    }
    rebuild(name);
    const now = (await reads.status()).find((one) => one.name === name);
    if (now === undefined) throw new Error(`The read model ${name} went away.`);
    return { status: 202, body: now };
  }),
];
