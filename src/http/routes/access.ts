import { z } from 'zod';
import { startOfLog } from '../../core/event.ts';
import {
  accessOf,
  grantedIn,
  grantedTo,
  type Access,
  type GrantedPages,
  type Interval,
  type Principal,
  type Stretch,
} from '../../projections/access.ts';
import { listOf, type ListAnswer } from '../lists.ts';
import { route } from '../route.ts';
import {
  instant,
  listQuery,
  noParams,
  role,
  secondsMax,
  tenantId,
  writeSchemas,
  type ListQuery,
} from '../schemas.ts';
import type { Services } from '../services.ts';
import { unknownTenant } from './found.ts';

/** By how much the clocks of several nodes may differ without a grant being overlooked, in milliseconds. */
export const clocksApartMsMax = 3_600_000;

/** An event that something came, went or changed by. */
export const eventReference = z
  .object({
    id: z.uuid(),
    position: z.string().meta({ description: 'The place in the whole log.' }),
    type: z.string().meta({ example: 'UserCreated' }),
    actor: z.string().meta({ description: 'Who did it.', example: 'admin' }),
    time: instant,
  })
  .meta({ id: 'EventReference', description: 'An event, as far as it takes to name it.' });

const principalKind = z.enum(['user', 'service_account', 'credential', 'api_key']);

const access = z
  .object({
    principal: z.string().meta({
      description:
        '`user:<tenant>/<username>`, `service_account:<id>`, `credential:<username>` or `api_key:<id>`.',
      example: 'user:acme/alice',
    }),
    kind: principalKind,
    tenant: tenantId,
    name: z
      .string()
      .meta({ description: 'Username, name of the account or key, or a credential’s subject.' }),
    role: role.meta({ description: 'Of a service account the highest that it may mint.' }),
    write_schemas: writeSchemas.optional(),
    generation: z.int().optional().meta({ description: 'Which bearer or secret, from 1.' }),
    from: instant,
    until: instant
      .nullable()
      .meta({ description: 'From when on it works no more; it can lie ahead. `null`: no end is known.' }),
    granted_by: eventReference,
    ended_by: z
      .union([
        z.object({ kind: z.literal('expiry') }),
        eventReference.extend({ kind: z.enum(['event', 'cascade']) }).meta({
          id: 'EndingEvent',
          description: '`cascade`: it ended what this hung from, the tenant or the account that minted.',
        }),
      ])
      .nullable(),
  })
  .meta({ id: 'Access', description: 'What let a principal in, and for how long.' });

const moment = z.iso.datetime({ offset: true });

const period = {
  at: moment.optional().meta({ description: 'Who could get in at that instant.' }),
  from: moment.optional().meta({ description: 'Who could get in at some time from that instant on.' }),
  to: moment.optional().meta({ description: 'Who could get in at some time before that instant.' }),
};

type Period = { readonly [name in keyof typeof period]: string | undefined };

const isOne = ({ at, from, to }: Partial<Period>): boolean =>
  at === undefined || (from === undefined && to === undefined);
const isForward = ({ from, to }: Partial<Period>): boolean =>
  from === undefined || to === undefined || Date.parse(from) < Date.parse(to);
const notBoth = { path: ['at'], message: 'Must not come with `from` or `to`.' };
const notBackwards = { path: ['to'], message: 'Must lie behind `from`.' };

const ofPrincipal = z
  .string()
  .regex(
    /^(user:[A-Za-z0-9_-]{1,63}\/[A-Za-z0-9_.@+-]{1,63}|(service_account|credential|api_key):.{1,128})$/u,
    'Must be `user:<tenant>/<username>`, `service_account:<id>`, `credential:<username>` or `api_key:<id>`.',
  )
  .meta({ example: 'user:acme/alice' });

const principalOf = (text: string): Principal => {
  const [, kind = '', id = ''] = /^(\w+):(.*)$/u.exec(text) ?? [];
  switch (kind) {
    case 'service_account':
    case 'credential':
    case 'api_key':
      return { kind, id };
    default:
      return { kind: 'user', tenant: id.slice(0, id.indexOf('/')), username: id.slice(id.indexOf('/') + 1) };
  }
};

/** The time that is asked for: an instant is the millisecond that it begins. */
const intervalOf = ({ at, from, to }: Partial<Period>): Interval => {
  if (at !== undefined) return { fromMs: Date.parse(at), toMs: Date.parse(at) + 1 };
  return {
    fromMs: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
    toMs: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
  };
};

/** Where in the log the grants of an interval can stand, so that the rest of a long list is not looked through. */
const stretchesOf = async (
  { fromMs, toMs }: Interval,
  { history, clock }: Services,
): Promise<{ readonly all: Stretch; readonly recent: Stretch }> => {
  const endMs = toMs + clocksApartMsMax;
  const upTo = endMs >= clock() ? undefined : await history.positionAt(endMs);
  // A credential that had not expired then was minted within the longest life before it.
  const firstMs = fromMs - secondsMax * 1_000 - clocksApartMsMax;
  const behind = firstMs <= 0 ? startOfLog : await history.positionAt(Math.min(firstMs, clock()));
  return { all: { behind: startOfLog, upTo }, recent: { behind, upTo } };
};

const listAccess = (
  pages: GrantedPages,
  interval: Interval,
  url: string,
  query: ListQuery & { readonly kind?: Access['kind'] | undefined },
  { reads }: Services,
): Promise<ListAnswer> =>
  listOf(pages, {}, url, query, async (granted) => {
    const found = await accessOf(reads, granted, interval);
    const { kind: wanted } = query;
    return wanted === undefined ? found : found.map((one) => (one?.kind === wanted ? one : undefined));
  });

/** The links to further pages name the instant that the first one was asked at. */
const withMoment = (url: string, at: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}at=${encodeURIComponent(at)}`;

const tag = 'Access';

const answered = {
  200: {
    description: 'What let them in, in the order of its being granted.',
    body: z.array(access),
    headers: ['Link'],
  },
} as const;

export const accessRoutes = [
  route({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/access',
    id: 'listTenantAccess',
    tag,
    summary: 'List who could get into a tenant',
    description:
      'Users, service accounts by each bearer, credentials, and API keys by each secret that worked at an instant (`at`, now where nothing is named) or at some time of an interval (`from`, `to`). Deleted tenants and earlier lives of the id are among them.',
    callers: ['admin'],
    params: z.strictObject({ id: tenantId }),
    query: listQuery
      .extend({
        ...period,
        kind: principalKind.optional().meta({ description: 'Only principals of this kind.' }),
      })
      .refine(isOne, notBoth)
      .refine(isForward, notBackwards),
    responses: answered,
    refusals: ['tenant.unknown'],
  })(async ({ params: { id }, query, url }, services) => {
    const isNow = query.at === undefined && query.from === undefined && query.to === undefined;
    const at = isNow ? new Date(services.clock()).toISOString() : query.at;
    const interval = intervalOf({ ...query, at });
    const stretches = await stretchesOf(interval, services);
    const pages = await grantedIn(services.reads, id, interval, stretches);
    if (pages === undefined) return unknownTenant(id);
    const own = isNow && at !== undefined ? withMoment(url, at) : url;
    return { status: 200, ...(await listAccess(pages, interval, own, query, services)) };
  }),

  route({
    method: 'GET',
    path: '/admin/v1/access',
    id: 'listPrincipalAccess',
    tag,
    summary: 'List what a principal could get into',
    description:
      'Everything that it ever had, or had at an instant (`at`) or at some time of an interval (`from`, `to`): which tenant, as what, from when until when. A user is everybody who ever had that name in that tenant, in whatever case.',
    callers: ['admin'],
    params: noParams,
    query: listQuery
      .extend({ principal: ofPrincipal, ...period })
      .refine(isOne, notBoth)
      .refine(isForward, notBackwards),
    responses: answered,
    refusals: [],
  })(async ({ query, url }, services) => {
    const pages = await grantedTo(services.reads, principalOf(query.principal));
    return { status: 200, ...(await listAccess(pages, intervalOf(query), url, query, services)) };
  }),
];
