import { z } from 'zod';
import { positionForm, type Position, type StoredEvent } from '../../core/event.ts';
import { pageItemsMax } from '../../core/ports.ts';
import { rangeOf, readPage, shown, streamLines, type AuditPage, type Question } from '../audit.ts';
import { findChain, findEvent } from '../event-look-up.ts';
import { RequestRefused } from '../problem.ts';
import { route, type Request } from '../route.ts';
import { checkpoint, checkpointOfSize, checkpointView, treeSize } from './checkpoints.ts';
import { instant, listQuery, noParams, noQuery, tenantId } from '../schemas.ts';
import type { Services } from '../services.ts';

/** How many events one page has unless told: the log is never answered whole by accident. */
const usualLimit = 100;

const nullable = (description: string) => z.string().nullable().meta({ description });

const auditEvent = z
  .object({
    id: z.uuid(),
    position: z.string().meta({ description: 'The place in the whole log.' }),
    stream: z.string().meta({ description: 'What it happened to.', example: 'tenant-acme' }),
    revision: z.int().meta({ description: 'The place in the stream, from 0.' }),
    type: z.string().meta({ description: 'What happened, in the past tense.', example: 'UserCreated' }),
    version: z.int().meta({ description: 'Of the type, as it is shown here.' }),
    time: instant,
    tenant_id: nullable('The tenant that it happened in, where it happened in one.'),
    actor: z.string().meta({ description: 'Who did it.', example: 'user:acme/alice' }),
    address: nullable('From where, as far as is known.'),
    user_agent: nullable('With what program, as that said.'),
    reason: nullable('Why, in the caller’s own words.'),
    correlation_id: z.string().meta({ description: 'The id of the request that did it.' }),
    causation_id: nullable(
      'The event that led to this one: the one that gave out the bearer, key or session that was used. None where the operator’s token was used, for sign-ins, and for earlier events.',
    ),
    token: nullable(
      'The fingerprint of the token, key or session that was used: it tells them apart and gives none away. Earlier events have none.',
    ),
    hash: nullable(
      'SHA-256 in base64 over all that the event says, its secrets too. Earlier events have none.',
    ),
    previous: nullable('The hash of the event before it in its stream.'),
    data: z.record(z.string(), z.unknown()).meta({ description: 'What happened, without secrets.' }),
  })
  .meta({ id: 'Event', description: 'One event of the log.' });

const exact = z.string().min(1).max(512).optional();

const position = z.string().regex(positionForm, 'Must be a position of the log.').optional();

const moment = z.iso.datetime({ offset: true }).optional();

const eventQuery = z.strictObject({
  tenant: tenantId.optional(),
  type: exact.meta({ description: 'Only events of this type.', example: 'UserCreated' }),
  actor: exact.meta({ description: 'Only what this actor did.', example: 'admin' }),
  stream: exact.meta({ description: 'Only what happened to this.', example: 'tenant-acme' }),
  correlation_id: exact.meta({ description: 'Only what this request did.' }),
  causation_id: z
    .guid('Must be the id of an event.')
    .toLowerCase()
    .optional()
    .meta({ description: 'Only what the event of this id led to.' }),
  since: moment.meta({ description: 'Only what happened then or later.' }),
  until: moment.meta({ description: 'Only what happened before.' }),
  after: position.meta({ description: 'Only what stands behind this position of the log.' }),
  before: position.meta({ description: 'Only what stands before this position of the log.' }),
  order: z.enum(['asc', 'desc']).optional().meta({ description: '`asc`, the default, is oldest first.' }),
  limit: listQuery.shape.limit.meta({
    description: `Answers a page of up to this many, ${usualLimit} unless told; of lines, all unless told.`,
    override: { type: 'integer', minimum: 1, maximum: pageItemsMax, pattern: undefined },
  }),
});

type Query = z.output<typeof eventQuery>;

/** An instant in whole milliseconds, as events have it; what lies between two counts as the later one. */
const msOf = (time: string | undefined): number | undefined => {
  if (time === undefined) return undefined;
  const isBetween = /\.\d{3}\d*[1-9]/.test(time);
  return Date.parse(time) + (isBetween ? 1 : 0);
};

const questionOf = async (
  { since, until, after, before, order = 'asc', limit: _limit, ...filters }: Query,
  { log, history }: Services,
): Promise<Question> => {
  const wanted = { ...filters, sinceMs: msOf(since), untilMs: msOf(until) };
  return { wanted, range: await rangeOf(log, history, wanted, { after, before }), order };
};

const invalid = (pointer: string, detail: string, place: 'query' | 'header'): RequestRefused =>
  new RequestRefused('request.invalid', 'The request is not valid.', {
    errors: [{ pointer, detail, in: place }],
  });

/** What a tail can't be asked: it has no end and no order but that of the log. */
const notOfTails = ['until', 'before', 'order', 'limit'] as const;

/** Where a tail begins: behind what its client has had, else where it is told, else at the end of the log. */
const beginningOf = async (
  { query, lastEventId }: Pick<Request<unknown, Query>, 'query' | 'lastEventId'>,
  { log }: Services,
  { range }: Question,
): Promise<Position> => {
  if (lastEventId !== undefined) return lastEventId;
  return query.after === undefined && query.since === undefined ? log.head() : range.after;
};

const notInLog = 'Must not lie behind the end of the log.';

const openTail = async (request: Request<unknown, Query>, services: Services) => {
  const surplus = notOfTails.find((name) => request.query[name] !== undefined);
  if (surplus !== undefined) throw invalid(`/${surplus}`, 'Must not come with a live tail.', 'query');
  if (request.lastEventId !== undefined && !positionForm.test(request.lastEventId))
    throw invalid('/Last-Event-ID', 'Must be the id of an event that the service sent.', 'header');
  const question = await questionOf(request.query, services);
  const after = await beginningOf(request, services, question);
  // An older backup was restored: waiting for the log to come so far would leave out what happens until then.
  if (after > (await services.log.head()))
    throw request.lastEventId === undefined
      ? invalid('/after', notInLog, 'query')
      : invalid('/Last-Event-ID', notInLog, 'header');
  return services.tails.open(services.log, question.wanted, after);
};

const nextLink = (url: string, order: 'asc' | 'desc', next: Position): string => {
  const [path = '', sent] = url.split('?', 2);
  const params = new URLSearchParams(sent);
  params.set(order === 'asc' ? 'after' : 'before', next);
  return `<${path}?${params.toString()}>; rel="next"`;
};

const pageAnswer = ({ events, next }: AuditPage, url: string, order: 'asc' | 'desc') => ({
  body: { json: JSON.stringify(events) },
  ...(next === undefined ? {} : { headers: { Link: nextLink(url, order, next) } }),
});

const listEvents = route({
  method: 'GET',
  path: '/admin/v1/events',
  id: 'listEvents',
  tag: 'Audit',
  summary: 'List what was done',
  description:
    'Every event of the log that has all of what is asked for, a page at a time. At most 20,000 events are looked at for a page: it can be short, and even empty, while `Link` leads to more. As `application/x-ndjson` all of it is answered, up to the end of the log as the request found it. As `text/event-stream` it goes on with what happens: from the end of the log, unless `after`, `since` or `Last-Event-ID` says from where.',
  callers: ['admin'],
  params: noParams,
  query: eventQuery,
  nowOnly: true,
  forms: ['application/x-ndjson', 'text/event-stream'],
  responses: { 200: { description: 'The events.', body: z.array(auditEvent), headers: ['Link'] } },
  refusals: ['service.busy'],
})(async (request, services) => {
  const { form, url, query: asked } = request;
  if (form === 'text/event-stream')
    return { status: 200, body: { form, stream: await openTail(request, services) } };
  const question = await questionOf(asked, services);
  if (form === 'application/x-ndjson')
    return { status: 200, body: { form, stream: await streamLines(services.log, question, asked.limit) } };
  const page = await readPage(services.log, question, asked.limit ?? usualLimit);
  return { status: 200, ...pageAnswer(page, url, question.order) };
});

const params = z.strictObject({
  id: z
    .string()
    .regex(
      /^([0-9]{20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i,
      'Must be the id of an event, or its position.',
    )
    .meta({ description: 'The id of the event, or its position.' }),
});

const getStored = async (id: string, { log, history }: Services): Promise<StoredEvent> => {
  const stored = await findEvent(log, history, id);
  if (stored === undefined) throw new RequestRefused('event.unknown', `There is no event ${id}.`);
  return stored;
};

const getEvent = route({
  method: 'GET',
  path: '/admin/v1/events/{id}',
  id: 'getEvent',
  tag: 'Audit',
  summary: 'Get an event',
  description:
    'By its id, which tells the time around which it is looked for, or by its position, which always finds it.',
  callers: ['admin'],
  params,
  query: noQuery,
  nowOnly: true,
  responses: { 200: { description: 'The event.', body: auditEvent } },
  refusals: ['event.unknown'],
})(async ({ params: { id } }, services) => ({
  status: 200,
  body: shown(services.log.decode(await getStored(id, services))),
}));

const chainEvent = auditEvent
  .extend({
    get effects() {
      return z.array(chainEvent);
    },
  })
  .meta({ id: 'ChainEvent', description: 'An event with those that it led to.' });

const chain = z
  .object({
    correlation_id: z.string().meta({ description: 'The id of the request.' }),
    is_complete: z
      .boolean()
      .meta({ description: 'False where more of the request stood there than is looked at.' }),
    events: z.array(chainEvent).meta({ description: 'Those that no event here led to, oldest first.' }),
  })
  .meta({ id: 'Chain', description: 'What led to an event, and what its request did.' });

const getChain = route({
  method: 'GET',
  path: '/admin/v1/events/{id}/chain',
  id: 'getEventChain',
  tag: 'Audit',
  summary: 'Get what led to an event, and what its request did',
  description:
    'The events of the request that this event belongs to, each with those that it led to. They are looked for within a minute of it and among the 10,000 events on either side, and up to 1,000 are shown. Above them stand the events of other requests that led to this one, up to 16, but nothing else that those led to: `causation_id` of the list tells that.',
  callers: ['admin'],
  params,
  query: noQuery,
  nowOnly: true,
  responses: { 200: { description: 'The tree of causes and effects.', body: chain } },
  refusals: ['event.unknown'],
})(async ({ params: { id } }, services) => ({
  status: 200,
  body: await findChain(services.log, services.history, await getStored(id, services)),
}));

const inclusion = z
  .object({
    event_id: z.uuid(),
    index: z.int().meta({ description: 'The event’s place in the log, from 0.' }),
    hash: z.string().meta({ description: 'Of the event: SHA-256, base64.' }),
    leaf_hash: z.string().meta({ description: 'Of its leaf in the tree, over that.' }),
    hashes: z.array(z.string()).meta({ description: 'The path to the root, the leaf’s neighbour first.' }),
    checkpoint,
  })
  .meta({
    id: 'InclusionProof',
    description: 'Shows that an event is part of what a checkpoint covers (RFC 6962 §2.1.1).',
  });

const getProof = route({
  method: 'GET',
  path: '/admin/v1/events/{id}/proof',
  id: 'getEventProof',
  tag: 'Proofs',
  summary: 'Prove that an event is in the log',
  description: 'By the last checkpoint, or by the one of the size that is asked for.',
  callers: ['admin'],
  params,
  query: z.strictObject({
    tree_size: treeSize.optional().meta({ description: 'The size of the tree of a checkpoint.' }),
  }),
  nowOnly: true,
  responses: { 200: { description: 'The proof.', body: inclusion } },
  refusals: ['event.unknown', 'event.unsealed', 'checkpoint.unknown', 'log.changed'],
})(async ({ params: { id }, query: { tree_size } }, services) => {
  const { prover } = services.proofs;
  const stored = await getStored(id, services);
  const by = tree_size === undefined ? await prover.latest() : await checkpointOfSize(prover, tree_size);
  const proof = by && (await prover.inclusion(stored, by));
  if (proof === undefined)
    throw new RequestRefused('event.unsealed', `No such checkpoint covers event ${stored.id} yet.`);
  return {
    status: 200,
    body: {
      event_id: stored.id,
      ...proof,
      hashes: [...proof.hashes],
      checkpoint: checkpointView(proof.checkpoint),
    },
  };
});

/** The audit: every event of the log, for the operator. */
export const eventRoutes = [listEvents, getEvent, getChain, getProof];
