import { z } from 'zod';
import {
  agentCommands,
  threadCommands,
  workflowCommands,
  type Content,
  type ResourceCommands,
} from '../../commands/resource.ts';
import { refuse } from '../../core/command.ts';
import { findResource, resourcesOf, type ResourceKind } from '../../projections/resources.ts';
import type { RefusalCode } from '../../refusals.ts';
import { listAsStored } from '../lists.ts';
import { etagOf, hasAlready } from '../preconditions.ts';
import { route, type Route } from '../route.ts';
import { description, displayName, instant, listQuery, noQuery, tenantId } from '../schemas.ts';
import type { Services } from '../services.ts';
import { workspaceOf } from './workspace.ts';

const resourceId = z.string().min(1).max(128);

/** JSON has no infinity, but a number that is too large for a double is read as one. */
const isFinite = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value !== 'object' || value === null || Object.values(value).every(isFinite);

const metadata = z
  .record(z.string(), z.unknown())
  .refine(isFinite, 'Must have no number that is out of bounds.')
  .meta({
    description: 'Whatever the application keeps with it: a JSON object of up to 16 KiB.',
  });

/** One kind of resource: what it is called, what of it its makers choose, and the commands that change it. */
type Kind = {
  readonly kind: ResourceKind;
  readonly noun: 'agent' | 'thread' | 'workflow';
  readonly Noun: 'Agent' | 'Thread' | 'Workflow';
  /** With its article. */
  readonly aNoun: string;
  readonly unknownCode: RefusalCode;
  readonly commands: ResourceCommands;
  /** What is chosen beside `description` and `metadata`; those that may be left out are optional. */
  readonly own: z.ZodRawShape;
};

const kinds: readonly Kind[] = [
  {
    kind: 'agents',
    noun: 'agent',
    Noun: 'Agent',
    aNoun: 'an agent',
    unknownCode: 'agent.unknown',
    commands: agentCommands,
    own: { name: displayName },
  },
  {
    kind: 'threads',
    noun: 'thread',
    Noun: 'Thread',
    aNoun: 'a thread',
    unknownCode: 'thread.unknown',
    commands: threadCommands,
    own: { title: displayName, agent_id: resourceId.optional() },
  },
  {
    kind: 'workflows',
    noun: 'workflow',
    Noun: 'Workflow',
    aNoun: 'a workflow',
    unknownCode: 'workflow.unknown',
    commands: workflowCommands,
    own: { name: displayName },
  },
];

/** What a resource has where nothing was chosen, and what a member becomes that a patch takes away. */
const defaults: Content = { description: '', metadata: {} };

const schemasOf = ({ Noun, own }: Kind) => {
  const optional = Object.entries(own).filter(([, schema]) => schema instanceof z.ZodOptional);
  return {
    shown: z
      .object({
        id: z.string(),
        workspace_id: tenantId,
        ...own,
        description,
        metadata,
        created_at: instant,
        updated_at: instant,
        created_by: z.string().meta({ description: 'The actor that made it.' }),
      })
      .meta({ id: Noun }),
    made: z.strictObject({ ...own, description: description.default(''), metadata: metadata.default({}) }),
    patch: z
      .strictObject({ ...own, description: description.nullable(), metadata: metadata.nullable() })
      .extend(Object.fromEntries(optional.map(([name, schema]) => [name, (schema as z.ZodType).nullable()])))
      .partial()
      .meta({ description: 'A JSON merge patch (RFC 7396): `null` takes a member away.' }),
  };
};

/** A thread may name an agent of its workspace, and no other. */
const refuseUnknownAgent = async ({ agent_id }: Content, incarnation: string, { reads }: Services) => {
  if (typeof agent_id !== 'string') return undefined;
  if ((await findResource(reads, 'agents', incarnation, agent_id)) !== undefined) return undefined;
  return refuse('thread.agent-unknown', 'There is no such agent in this workspace.', '/agent_id');
};

/** Where a kind's operations are, and how their ids end. */
type Place = { readonly base: string; readonly isScoped: boolean; readonly suffix: string };

/** What the operations of a kind at a place share. */
const sharedOf = (it: Kind, schemas: ReturnType<typeof schemasOf>, { base, isScoped, suffix }: Place) => {
  const { kind, noun, Noun, aNoun, unknownCode, commands } = it;
  const ofWorkspace = isScoped ? { workspace_id: tenantId } : {};
  const agentRefusals: readonly RefusalCode[] = kind === 'threads' ? ['thread.agent-unknown'] : [];
  return {
    ...schemas,
    kind,
    noun,
    Noun,
    aNoun,
    plural: `${Noun}s`,
    unknownCode,
    commands,
    base,
    suffix,
    many: z.strictObject(ofWorkspace),
    one: z.strictObject({ ...ofWorkspace, id: resourceId }),
    unknown: (id: string) => refuse(unknownCode, `There is no ${noun} ${id}.`),
    agentRefusals,
    shared: {
      tag: `${Noun}s`,
      callers: ['api_key', 'user'],
      ...(isScoped ? { tenantParam: 'workspace_id' as const } : {}),
    } as const,
    ofOwn: isScoped ? '' : ' of the API key’s own workspace',
  };
};

type Shared = ReturnType<typeof sharedOf>;

const listRoute = ({ shared, shown, kind, plural, base, suffix, many, ofOwn }: Shared): Route =>
  route({
    ...shared,
    method: 'GET',
    path: base,
    id: `list${plural}${suffix}`,
    summary: `List the ${kind}${ofOwn}`,
    keyRole: 'reader',
    params: many,
    query: listQuery,
    responses: { 200: { description: 'Oldest first.', body: z.array(shown), headers: ['Link'] } },
    refusals: [],
  })(async ({ query, caller, url }, { reads }) => {
    const { incarnation } = workspaceOf(caller);
    return {
      status: 200,
      ...(await listAsStored(resourcesOf(reads, kind), { group: incarnation }, url, query)),
    };
  });

const createRoute = ({
  shared,
  agentRefusals,
  shown,
  made,
  noun,
  Noun,
  aNoun,
  commands,
  base,
  suffix,
  many,
  ofOwn,
}: Shared): Route =>
  route({
    ...shared,
    method: 'POST',
    path: base,
    id: `create${Noun}${suffix}`,
    summary: `Create ${aNoun}${ofOwn}`,
    keyRole: 'writer',
    params: many,
    query: noQuery,
    body: made,
    responses: { 201: { description: `The ${noun}.`, body: shown, headers: ['Location', 'ETag'] } },
    refusals: ['resource.exists', 'resource.metadata-too-large', ...agentRefusals],
  })(async ({ body, caller, cause, url }, services) => {
    const { run, secrets } = services;
    const workspace = workspaceOf(caller);
    const content = body as Content;
    const refused = await refuseUnknownAgent(content, workspace.incarnation, services);
    if (refused !== undefined) return refused;
    const id = secrets.newId(`${noun}_`);
    const outcome = await run(commands.create, { id, ...workspace, content }, cause);
    if (!outcome.accepted) return outcome;
    const time = outcome.events[0]?.time ?? '';
    const resource = {
      id,
      workspace_id: workspace.tenant_id,
      ...content,
      created_at: time,
      updated_at: time,
      created_by: cause.actor,
    };
    return {
      status: 201,
      headers: { Location: `${url.split('?', 1)[0]}/${id}`, ETag: etagOf(0) },
      body: resource as never,
    };
  });

const getRoute = ({
  shared,
  shown,
  kind,
  noun,
  Noun,
  aNoun,
  unknownCode,
  base,
  suffix,
  one,
  unknown,
  ofOwn,
}: Shared): Route =>
  route({
    ...shared,
    method: 'GET',
    path: `${base}/{id}`,
    id: `get${Noun}${suffix}`,
    summary: `Get ${aNoun}${ofOwn}`,
    keyRole: 'reader',
    conditional: 'read',
    params: one,
    query: noQuery,
    responses: {
      200: { description: `The ${noun}.`, body: shown, headers: ['ETag'] },
      304: { description: 'The client has it already.', headers: ['ETag'] },
    },
    refusals: [unknownCode],
  })(async ({ params, caller, preconditions }, { reads }) => {
    const { id } = params as { readonly id: string };
    const found = await findResource(reads, kind, workspaceOf(caller).incarnation, id);
    if (found === undefined) return unknown(id);
    const headers = { ETag: etagOf(found.revision) };
    return hasAlready(preconditions, found.revision)
      ? { status: 304, headers }
      : { status: 200, headers, body: found.document as never };
  });

const changeRoute = ({
  shared,
  agentRefusals,
  shown,
  patch,
  kind,
  noun,
  Noun,
  aNoun,
  unknownCode,
  commands,
  base,
  suffix,
  one,
  unknown,
  ofOwn,
}: Shared): Route =>
  route({
    ...shared,
    method: 'PATCH',
    path: `${base}/{id}`,
    id: `change${Noun}${suffix}`,
    summary: `Change ${aNoun}${ofOwn}`,
    description:
      'A JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`. With `If-Match` only where the resource has not been changed since.',
    keyRole: 'writer',
    conditional: 'change',
    params: one,
    query: noQuery,
    body: patch,
    responses: { 200: { description: `The ${noun} as it is now.`, body: shown, headers: ['ETag'] } },
    refusals: [unknownCode, 'resource.changed', 'resource.metadata-too-large', ...agentRefusals],
  })(async ({ params, body, caller, cause, preconditions }, services) => {
    const { run, reads } = services;
    const { id } = params as { readonly id: string };
    const workspace = workspaceOf(caller);
    const refused = await refuseUnknownAgent(body, workspace.incarnation, services);
    if (refused !== undefined) return refused;
    const wish = {
      id,
      ...workspace,
      patch: body as Content,
      defaults,
      if_revision: preconditions.ifRevision,
    };
    const outcome = await run(commands.change, wish, cause);
    if (!outcome.accepted) return outcome;
    // What it had before is not in the event; where somebody changed it since, tag and body are both the newer ones.
    const found = await findResource(reads, kind, workspace.incarnation, id);
    if (found === undefined) return unknown(id);
    return { status: 200, headers: { ETag: etagOf(found.revision) }, body: found.document as never };
  });

const removeRoute = ({
  shared,
  Noun,
  aNoun,
  unknownCode,
  commands,
  base,
  suffix,
  one,
  ofOwn,
}: Shared): Route =>
  route({
    ...shared,
    method: 'DELETE',
    path: `${base}/{id}`,
    id: `delete${Noun}${suffix}`,
    summary: `Delete ${aNoun}${ofOwn}`,
    keyRole: 'writer',
    conditional: 'change',
    params: one,
    query: noQuery,
    responses: { 204: { description: 'It is gone.' } },
    refusals: [unknownCode, 'resource.changed'],
  })(async ({ params, caller, cause, preconditions }, { run }) => {
    const { id } = params as { readonly id: string };
    const wish = { id, ...workspaceOf(caller), if_revision: preconditions.ifRevision };
    const outcome = await run(commands.delete, wish, cause);
    return outcome.accepted ? { status: 204 } : outcome;
  });

const operationsOf = (it: Kind, schemas: ReturnType<typeof schemasOf>, place: Place): readonly Route[] => {
  const shared = sharedOf(it, schemas, place);
  return [listRoute, createRoute, getRoute, changeRoute, removeRoute].map((make) => make(shared));
};

/** The two older forms of the path of workflows, which name no workspace: they act on the API key's own. */
const unscopedPlaces: readonly Place[] = [
  { base: '/workflows', isScoped: false, suffix: 'OfKey' },
  { base: '/api/workflows', isScoped: false, suffix: 'OfKeyBelowApi' },
];

const described = kinds.map((it) => ({ it, schemas: schemasOf(it) }));

/** The operations below a workspace's path. */
export const resourceRoutes: readonly Route[] = described.flatMap(({ it, schemas }) =>
  operationsOf(it, schemas, { base: `/api/{workspace_id}/${it.kind}`, isScoped: true, suffix: '' }),
);

/** Those of the older paths. They come behind all that name the workspace, for `workflows` can be its id. */
export const unscopedRoutes: readonly Route[] = unscopedPlaces.flatMap((place) =>
  described
    .filter(({ it }) => it.kind === 'workflows')
    .flatMap(({ it, schemas }) => operationsOf(it, schemas, place)),
);
