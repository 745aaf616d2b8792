import { z } from 'zod';
import { positionForm, toPosition, type Position } from '../../core/event.ts';
import { pageItemsMax } from '../../core/ports.ts';
import type { Act } from '../../projections/activity.ts';
import {
  diffKinds,
  differencesBetween,
  TooManyDifferences,
  type Happened,
  type Then,
} from '../../projections/differences.ts';
import type { Incarnation } from '../../projections/tenants.ts';
import { momentOf, servicesAt, type Moment } from '../as-of.ts';
import { pagesOf, shown, type AuditEvent } from '../audit.ts';
import { RequestRefused } from '../problem.ts';
import { route } from '../route.ts';
import { instant, noParams, secondsMax, tenantId } from '../schemas.ts';
import type { Services } from '../services.ts';
import { clocksApartMsMax, eventReference } from './access.ts';
import { unknownTenant } from './found.ts';

/** The most events between the two moments of one diff. */
const eventsMax = 10_000;

const moment = z.iso.datetime({ offset: true }).optional();
const position = z.string().regex(positionForm, 'Must be what an X-Position was.').optional();

const query = z
  .strictObject({
    from: moment.meta({ description: 'The earlier moment; this or `from_position`.' }),
    from_position: position.meta({ description: 'The same, as the position of an event of the log.' }),
    to: moment.meta({ description: 'The later moment; now where neither it nor `to_position` is named.' }),
    to_position: position.meta({ description: 'The same, as the position of an event of the log.' }),
    tenant: tenantId.optional().meta({ description: 'Only what is of this tenant.' }),
  })
  .refine(({ from, from_position }) => (from === undefined) !== (from_position === undefined), {
    path: ['from'],
    message: 'One of `from` and `from_position` must be named.',
  })
  .refine(({ to, to_position }) => to === undefined || to_position === undefined, {
    path: ['to_position'],
    message: 'Must not come with `to`.',
  });

const state = z.record(z.string(), z.unknown()).nullable();

const place = z.object({ position: z.string(), time: instant });

const diff = z
  .object({
    from: place,
    to: place,
    changes: z.array(
      z.object({
        kind: z.enum(diffKinds),
        id: z.string(),
        change: z.enum(['added', 'removed', 'changed']),
        before: state.meta({ description: 'As its list showed it at `from`; `null`: it was not there.' }),
        after: state.meta({ description: 'As its list shows it at `to`; `null`: it is not there.' }),
        events: z.array(eventReference).meta({
          description: 'What did it, in order; none where the clock alone did: something expired.',
        }),
      }),
    ),
  })
  .meta({ id: 'Diff', description: 'What differs between two moments.' });

const invalid = (name: string, detail: string): RequestRefused =>
  new RequestRefused('request.invalid', 'The request is not valid.', {
    errors: [{ pointer: `/${name}`, detail, in: 'query' }],
  });

const happened = ({ id, position: at, type, actor, time, data }: Act | AuditEvent): Happened => ({
  id,
  position: at,
  type,
  actor,
  time,
  data,
});

/** Every event between two moments, of one tenant by the list that it has, else of the whole log. */
async function* eventsBetween(
  after: Position,
  upTo: Position,
  tenant: string | undefined,
  { reads, log }: Services,
): AsyncGenerator<Happened, void> {
  let count = 0;
  const counted = (some: number): void => {
    count += some;
    if (count > eventsMax) throw new TooManyDifferences(`More than ${eventsMax} events lie between.`);
  };
  if (tenant === undefined) {
    const range = { after, before: toPosition(BigInt(upTo) + 1n) };
    for await (const { events } of pagesOf(log, range, 'asc', pageItemsMax)) {
      counted(events.length);
      for (const event of events) yield happened(shown(log.decode(event)));
    }
    return;
  }
  const documents = reads.documentsAsOf<Act>('activity', upTo);
  for (let from = after; ;) {
    const page = await documents.page({ group: tenant, after: from, limit: pageItemsMax });
    counted(page.length);
    for (const { document } of page) yield happened(document);
    if (page.length < pageItemsMax) return;
    from = page.at(-1)?.created ?? from;
  }
}

const thenOf = async (it: Moment, services: Services): Promise<Then> => ({
  ...it,
  reads: (await servicesAt(it, services)).reads,
});

const placeOf = ({ position: at, timeMs }: Moment) => ({
  position: at,
  time: new Date(timeMs).toISOString(),
});

export const diffRoutes = [
  route({
    method: 'GET',
    path: '/admin/v1/diff',
    id: 'diff',
    tag: 'Audit',
    summary: 'Tell what differs between two moments',
    description:
      'Tenants, users, service accounts, credentials, API keys (without their last use), agents, threads and workflows that were added, removed or changed, as their lists showed them at both, with the events that did it. What came and went in between is no difference. Up to 10,000 events may lie between, and up to 10,000 things be touched; beyond it is 400: name a shorter time, or a tenant.',
    callers: ['admin'],
    params: noParams,
    query,
    nowOnly: true,
    responses: { 200: { description: 'The differences, in the order in which they began.', body: diff } },
    refusals: ['tenant.unknown'],
  })(async ({ query: { from, from_position, to, to_position, tenant } }, services) => {
    const { reads, history, clock } = services;
    const first = await momentOf({ as_of: from, at_position: from_position }, services, {
      as_of: 'from',
      at_position: 'from_position',
    });
    const isNow = to === undefined && to_position === undefined;
    // The log's end, which read models beside it have not come to yet: what was acknowledged is there.
    const last = isNow
      ? { position: await history.head(), timeMs: clock() }
      : await momentOf({ as_of: to, at_position: to_position }, services, {
          as_of: 'to',
          at_position: 'to_position',
        });
    if (last.timeMs < first.timeMs || last.position < first.position)
      throw invalid(
        to_position === undefined ? 'to' : 'to_position',
        'Must not lie before the first moment.',
      );
    if (tenant !== undefined) {
      const lives = await reads.documents<Incarnation>('incarnations').page({ group: tenant, limit: 1 });
      if (lives.length === 0) return unknownTenant(tenant);
    }
    const mintedMs = first.timeMs - secondsMax * 1_000 - clocksApartMsMax;
    const input = {
      before: await thenOf(first, services),
      after: await thenOf(last, services),
      tenant,
      credentialsBehind: await history.positionAt(mintedMs),
      events: eventsBetween(first.position, last.position, tenant, services),
    };
    try {
      const changes = await differencesBetween(input);
      const answer = { from: placeOf(first), to: placeOf(last), changes };
      return { status: 200, body: { json: JSON.stringify(answer) } };
    } catch (error) {
      if (!(error instanceof TooManyDifferences)) throw error;
      throw invalid(
        from === undefined ? 'from_position' : 'from',
        `${error.message} Name a shorter time, or a tenant.`,
      );
    }
  }),
];
