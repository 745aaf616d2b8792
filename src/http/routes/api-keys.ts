import { z } from 'zod';
import { createApiKey, revokeApiKey, rollApiKey, type Asker } from '../../commands/api-key.ts';
import { refuse } from '../../core/command.ts';
import type { PageRequest } from '../../core/ports.ts';
import { apiKeyStanding, findApiKey, findLastUse, type ApiKey } from '../../projections/api-keys.ts';
import { findTenant } from '../../projections/tenants.ts';
import { actorOf } from '../authentication.ts';
import { listOf } from '../lists.ts';
import { route, type Caller } from '../route.ts';
import { displayName, instant, listQuery, noQuery, role, tenantId } from '../schemas.ts';
import type { Services } from '../services.ts';
import { unknownTenant } from './found.ts';
import { workspaceOf, type Membership } from './workspace.ts';

/** How much of a key is kept to tell it by, in characters. */
const prefixChars = 10;

/** The longest time for which an earlier key may work beside its successor, in seconds: a week. */
const overlapSecsMax = 604_800;

const fields = {
  id: z.string().meta({ example: 'key_019aa5b0c1d27c3e8f4a5b6c7d8e9f00' }),
  workspace_id: tenantId,
  name: displayName,
  role,
  created_by: z
    .string()
    .meta({ description: 'The actor that made it: `user:<tenant>/<username>` or `api_key:<id>`.' }),
  created_at: instant,
  expires_at: instant.nullable(),
  last_used_at: instant.nullable().meta({ description: 'To within five minutes.' }),
  prefix: z.string().meta({ description: 'How the key begins.', example: 'svc_a1B2c3' }),
  status: z.enum(['active', 'expired', 'revoked']),
};

const apiKey = z.object(fields).meta({ id: 'ApiKey', description: 'An API key without its secret.' });

const withSecret = z
  .object({
    ...fields,
    key: z.string().meta({ description: 'Starts with `svc_`. Shown here only; it cannot be read again.' }),
  })
  .meta({ id: 'ApiKeyWithSecret' });

/** An API key as clients see it. */
export type ApiKeyView = z.output<typeof apiKey>;

/** The same, once, with the key itself. */
export type ApiKeyWithSecret = z.output<typeof withSecret>;

const expiry = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'Must be a date, or an instant with its zone.')
  // A date without a time is good until that day is over.
  .transform((value) => (value.length === 10 ? `${value}T23:59:59.999Z` : new Date(value).toISOString()))
  // Beyond that year an instant is written in more digits than any reader of ours expects.
  .refine((value) => !value.startsWith('+'), 'Must lie before the year 10000.')
  .nullable()
  .default(null)
  .meta({
    description: 'An instant, or a date, whose day’s end (UTC) is meant. `null` or left out: never.',
  });

const keyId = z.string().min(1).max(128);
const ofWorkspace = z.strictObject({ workspace_id: tenantId });
const ofKey = z.strictObject({ workspace_id: tenantId, key_id: keyId });
const tag = 'API keys';
const callers = ['api_key', 'user'] as const;

const viewOf = async (key: ApiKey, { reads, clock }: Services): Promise<ApiKeyView> => {
  const { incarnation: _incarnation, user_id: _user, created_at, expires_at, prefix, ...rest } = key;
  const [last_used_at, status] = await Promise.all([
    findLastUse(reads, key.id),
    apiKeyStanding(reads, key, clock()),
  ]);
  return { ...rest, created_at, expires_at, last_used_at, prefix, status };
};

/** Who asks, and in which workspace. */
const memberOf = (caller: Caller): Asker & Membership => ({ actor: actorOf(caller), ...workspaceOf(caller) });

const notFound = (id: string) => refuse('api-key.not-found', `There is no API key ${id}.`);

/** The key, where the caller may see it: an admin sees all, anybody else their own. */
const findOwn = async (
  id: string,
  { role: own, user_id, incarnation }: Asker & Membership,
  { reads }: Services,
): Promise<ApiKey | undefined> => {
  const found = await findApiKey(reads, incarnation, id);
  return found !== undefined && (own === 'admin' || (user_id !== undefined && found.user_id === user_id))
    ? found
    : undefined;
};

export const apiKeyRoutes = [
  route({
    method: 'GET',
    path: '/api/{workspace_id}/api-keys',
    id: 'listApiKeys',
    tag,
    summary: 'List the API keys of the workspace',
    description:
      'Those that were revoked or have expired are among them, and say so. Keys themselves are never listed.',
    callers,
    tenantParam: 'workspace_id',
    keyRole: 'admin',
    params: ofWorkspace,
    query: listQuery,
    responses: {
      200: { description: 'The API keys, oldest first.', body: z.array(apiKey), headers: ['Link'] },
    },
    refusals: [],
  })(async ({ query, caller, url }, services) => {
    const { actor, role: own, user_id, incarnation } = memberOf(caller);
    const list: Pick<PageRequest, 'group' | 'subgroup'> =
      own === 'admin' ? { group: incarnation } : { subgroup: user_id ?? actor };
    return { status: 200, ...(await listKeys(list, url, query, services)) };
  }),

  route({
    method: 'POST',
    path: '/api/{workspace_id}/api-keys',
    id: 'createApiKey',
    tag,
    summary: 'Create an API key',
    description: 'Of a role up to the caller’s own. The answer holds the `key`, here and never again.',
    callers,
    tenantParam: 'workspace_id',
    keyRole: 'admin',
    params: ofWorkspace,
    query: noQuery,
    body: z.strictObject({ name: displayName, role: role.default('reader'), expires_at: expiry }),
    responses: {
      201: { description: 'The API key with its secret.', body: withSecret, headers: ['Location'] },
    },
    refusals: ['api-key.role-above-own', 'api-key.expiry-in-past', 'api-key.exists'],
  })(async ({ body, caller, cause }, { run, secrets, clock }) => {
    const { tenant_id, incarnation, ...by } = memberOf(caller);
    const secret = secrets.fresh('svc_');
    const id = secrets.newId('key_');
    const prefix = secret.value.slice(0, prefixChars);
    const wish = {
      api_key_id: id,
      tenant_id,
      incarnation,
      ...body,
      key_digest: secret.digest,
      prefix,
      by,
      atMs: clock(),
    };
    const outcome = await run(createApiKey, wish, cause);
    if (!outcome.accepted) return outcome;
    const created_at = outcome.events[0]?.time ?? '';
    return {
      status: 201,
      headers: { Location: `/api/${tenant_id}/api-keys/${id}` },
      body: {
        id,
        workspace_id: tenant_id,
        name: body.name,
        role: body.role,
        created_by: by.actor,
        created_at,
        expires_at: body.expires_at,
        last_used_at: null,
        prefix,
        status: 'active',
        key: secret.value,
      },
    };
  }),

  route({
    method: 'GET',
    path: '/api/{workspace_id}/api-keys/{key_id}',
    id: 'getApiKey',
    tag,
    summary: 'Get an API key',
    callers,
    tenantParam: 'workspace_id',
    keyRole: 'admin',
    params: ofKey,
    query: noQuery,
    responses: { 200: { description: 'The API key.', body: apiKey } },
    refusals: ['api-key.not-found'],
  })(async ({ params: { key_id }, caller }, services) => {
    const found = await findOwn(key_id, memberOf(caller), services);
    return found === undefined ? notFound(key_id) : { status: 200, body: await viewOf(found, services) };
  }),

  route({
    method: 'POST',
    path: '/api/{workspace_id}/api-keys/{key_id}/roll',
    id: 'rollApiKey',
    tag,
    summary: 'Give an API key a new secret',
    description:
      'Role and expiry stay. The old secret stops working at once, or `overlap_secs` later. A roll without overlap ends every earlier secret.',
    callers,
    tenantParam: 'workspace_id',
    keyRole: 'admin',
    params: ofKey,
    query: noQuery,
    body: z.strictObject({ overlap_secs: z.int().min(0).max(overlapSecsMax).default(0) }),
    bodyOptional: true,
    responses: { 200: { description: 'The API key with its new secret.', body: withSecret } },
    refusals: ['api-key.not-found', 'api-key.not-yours', 'api-key.role-above-own', 'api-key.ended'],
  })(async ({ params: { key_id }, body, caller, cause }, services) => {
    const { run, secrets, clock } = services;
    const { tenant_id, incarnation, ...by } = memberOf(caller);
    const secret = secrets.fresh('svc_');
    const wish = {
      api_key_id: key_id,
      tenant_id,
      incarnation,
      key_digest: secret.digest,
      prefix: secret.value.slice(0, prefixChars),
      overlap_secs: body.overlap_secs,
      by,
      atMs: clock(),
    };
    const outcome = await run(rollApiKey, wish, cause);
    if (!outcome.accepted) return outcome;
    const rolled = await findOwn(key_id, memberOf(caller), services);
    // Whoever rolled it a moment later has the newer secret; this one is theirs all the same.
    if (rolled === undefined) return notFound(key_id);
    const view = await viewOf(rolled, services);
    return { status: 200, body: { ...view, prefix: wish.prefix, key: secret.value } };
  }),

  route({
    method: 'DELETE',
    path: '/api/{workspace_id}/api-keys/{key_id}',
    id: 'revokeApiKey',
    tag,
    summary: 'Revoke an API key',
    description:
      'From the answer on it works nowhere, nor does any secret that it had. Asking again answers 204 again.',
    callers,
    tenantParam: 'workspace_id',
    keyRole: 'admin',
    params: ofKey,
    query: noQuery,
    responses: { 204: { description: 'The API key is revoked.' } },
    refusals: ['api-key.not-found', 'api-key.not-yours'],
  })(async ({ params: { key_id }, caller, cause }, { run }) => {
    const { tenant_id, incarnation, ...by } = memberOf(caller);
    const wish = { api_key_id: key_id, tenant_id, incarnation, by };
    const outcome = await run(revokeApiKey, wish, cause);
    return outcome.accepted ? { status: 204 } : outcome;
  }),
];

const listKeys = (
  list: Pick<PageRequest, 'group' | 'subgroup'>,
  url: string,
  query: z.output<typeof listQuery>,
  services: Services,
) =>
  listOf(services.reads.documents<ApiKey>('api_keys'), list, url, query, (keys) =>
    Promise.all(keys.map((key) => viewOf(key, services))),
  );

const ofTenant = z.strictObject({ id: tenantId });
const ofTenantsKey = z.strictObject({ id: tenantId, key_id: keyId });

/** The operator's view of them. */
export const adminApiKeyRoutes = [
  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/api-keys',
    id: 'listTenantApiKeys',
    tag,
    summary: 'List the API keys of a tenant',
    callers: ['admin'],
    params: ofTenant,
    query: listQuery,
    responses: {
      200: { description: 'The API keys, oldest first.', body: z.array(apiKey), headers: ['Link'] },
    },
    refusals: ['tenant.unknown'],
  })(async ({ params: { id }, query, url }, services) => {
    const tenant = await findTenant(services.reads, id);
    if (tenant === undefined) return unknownTenant(id);
    return { status: 200, ...(await listKeys({ group: tenant.incarnation }, url, query, services)) };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/api-keys/{key_id}',
    id: 'getTenantApiKey',
    tag,
    summary: 'Get an API key of a tenant',
    callers: ['admin'],
    params: ofTenantsKey,
    query: noQuery,
    responses: { 200: { description: 'The API key.', body: apiKey } },
    refusals: ['tenant.unknown', 'api-key.not-found'],
  })(async ({ params: { id, key_id } }, services) => {
    const tenant = await findTenant(services.reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const found = await findApiKey(services.reads, tenant.incarnation, key_id);
    return found === undefined ? notFound(key_id) : { status: 200, body: await viewOf(found, services) };
  }),

  route({
    method: 'DELETE',
    path: '/admin/v1/tenants/{id}/api-keys/{key_id}',
    id: 'revokeTenantApiKey',
    tag,
    summary: 'Revoke an API key of a tenant',
    description: 'From the answer on it works nowhere. Asking again answers 204 again.',
    callers: ['admin'],
    params: ofTenantsKey,
    query: noQuery,
    responses: { 204: { description: 'The API key is revoked.' } },
    refusals: ['tenant.unknown', 'api-key.not-found'],
  })(async ({ params: { id, key_id }, cause }, { run, reads }) => {
    const tenant = await findTenant(reads, id);
    if (tenant === undefined) return unknownTenant(id);
    const wish = {
      api_key_id: key_id,
      tenant_id: id,
      incarnation: tenant.incarnation,
      by: { actor: cause.actor, role: 'admin' as const },
    };
    const outcome = await run(revokeApiKey, wish, cause);
    return outcome.accepted ? { status: 204 } : outcome;
  }),
];
