import type { JSX } from 'preact';
import { positionForm, toPosition, type Position } from '../../core/event.ts';
import { ActivityPage, type ActRecord } from '../pages/console/activity.tsx';
import { EventsPage } from '../pages/console/events.tsx';
import { filterNames, isFiltered, type EventFilter } from '../pages/console/filters.tsx';
import { withQuery } from '../pages/console/frame.tsx';
import type { Turning } from '../pages/console/turning.tsx';
import { isPast, keep, type Moment } from '../pages/console/moment.tsx';
import { sendPage } from '../pages/page.ts';
import { RequestRefused, type InputError } from '../problem.ts';
import { ifThere, namesFor, namesForLog } from './console-look-ups.ts';
import type { Answered } from './operations.ts';
import type { AtMoment, MomentVisit } from './moments.tsx';
import { noticeOf, orAgain, pageRows, textOf, timeOf } from './visits.ts';
import type { Pages, Visit } from './web.ts';

type Order = 'asc' | 'desc';

type Placed = ActRecord & { readonly position: Position };

/** Asks for up to a page of acts in that order, from behind a place on. */
type Ask = (order: Order, from: Position | undefined) => Promise<Answered<readonly Placed[]>>;

const notices: ReadonlyMap<string, string> = new Map([
  ['deleted', 'The tenant is deleted, with everything in it. Nothing of it works any more.'],
]);

/** What is looked for, as the address says it. */
const filterOf = ({ ctx: { query } }: Visit): EventFilter => {
  const wanted = filterNames.map((name) => {
    const read = name === 'since' || name === 'until' ? timeOf : textOf;
    return [name, read(query[name])] as const;
  });
  return Object.fromEntries(wanted.filter(([, text]) => text !== undefined));
};

/** The place beside one: what is asked for from behind it has the one itself. */
const beside = (position: Position, by: 1n | -1n): Position =>
  positionForm.test(position) && BigInt(position) + by >= 0n ? toPosition(BigInt(position) + by) : position;

/**
 * One page of acts and the ways to those beside it. `before` and `after` in the address say where it starts; the one
 * against the order of reading leads back, so that page is read backwards and turned round.
 */
const readActs = async (
  { ctx: { path, query }, moment }: Visit & { readonly moment?: Moment },
  filter: EventFilter,
  ask: Ask,
): Promise<Turning & { readonly acts: readonly Placed[] }> => {
  const shown: Order = filter.order === 'asc' ? 'asc' : 'desc';
  const [before, after] = [textOf(query['before']), textOf(query['after'])];
  const reading: Order =
    after !== undefined && before === undefined ? 'asc' : before !== undefined ? 'desc' : shown;
  const from = reading === 'asc' ? after : before;
  const { body, cursor } = await ask(reading, from);
  const href = (place: object): string => keep(withQuery(path, { ...filter, ...place }), moment);
  // The way back begins at the first of this page, or where that would have stood.
  const [back] = from === undefined ? [] : [body[0]?.position ?? beside(from, reading === 'asc' ? 1n : -1n)];
  const acts = reading === shown ? body : body.toReversed();
  return reading === 'asc'
    ? {
        acts,
        newerHref: cursor === undefined ? undefined : href({ after: cursor }),
        olderHref: back === undefined ? undefined : href({ before: back }),
      }
    : {
        acts,
        olderHref: cursor === undefined ? undefined : href({ before: cursor }),
        newerHref: back === undefined ? undefined : href({ after: back }),
      };
};

/** Asks the log itself. */
const askLog =
  ({ call }: Visit, filter: EventFilter): Ask =>
  (order, from) => {
    const place = from === undefined ? {} : { [order === 'asc' ? 'after' : 'before']: from };
    return call('listEvents', { query: { ...filter, ...place, order, limit: String(pageRows) } });
  };

/** Asks for all acts of a tenant, which has a list of its own. */
const askTenant =
  ({ call }: Visit, id: string): Ask =>
  (order, from) => {
    const query = { order, limit: String(pageRows), ...(from === undefined ? {} : { cursor: from }) };
    return call('listActivity', { params: { id }, query });
  };

const eventsPage = (visit: Visit): Promise<void> => {
  const { ctx, nowMs } = visit;
  const filter = filterOf(visit);
  return orAgain(
    visit,
    async () => {
      const found = await readActs(visit, filter, askLog(visit, filter));
      const names = await namesForLog(visit, found.acts);
      sendPage(ctx, 200, <EventsPage {...found} names={names} filter={filter} nowMs={nowMs} />);
    },
    (errors) => <EventsPage acts={[]} filter={filter} errors={errors} nowMs={nowMs} />,
  );
};

/** The past of a tenant that is gone can still be seen; an id that there never was has none. */
const isGone = async ({ call }: Visit, id: string): Promise<boolean> => {
  if ((await ifThere(call('getTenant', { params: { id } }))) !== undefined) return false;
  const { body } = await call<readonly unknown[]>('listActivity', { params: { id }, query: { limit: '1' } });
  if (body.length === 0) throw new RequestRefused('tenant.unknown', `There is no tenant ${id}.`);
  return true;
};

/** The log itself has no past: what had happened at a moment is what happened before the next one. */
const untilThen = (filter: EventFilter, { asOf }: Moment): EventFilter => {
  if (asOf === undefined) return filter;
  const then = new Date(Date.parse(asOf) + 1).toISOString();
  return filter.until !== undefined && Date.parse(filter.until) < Date.parse(then)
    ? filter
    : { ...filter, until: then };
};

const activityPage = async (visit: MomentVisit): Promise<void> => {
  const { ctx, params, nowMs, moment } = visit;
  const tenant = params['tenant'] ?? '';
  const { tenant: _other, ...filter } = filterOf(visit);
  const shown = isPast(moment) ? { moment } : {};
  const page = { tenant, gone: await isGone(visit, tenant), filter, nowMs, ...shown };
  await orAgain(
    visit,
    async () => {
      const ask = isFiltered(filter)
        ? askLog(visit.now, untilThen({ ...filter, tenant }, moment))
        : askTenant(visit, tenant);
      const found = await readActs(visit, filter, ask);
      const names = await namesFor(visit, tenant, found.acts);
      const notice = noticeOf(visit, notices);
      sendPage(ctx, 200, <ActivityPage {...page} {...found} names={names} notice={notice} />);
    },
    (errors: readonly InputError[]): JSX.Element => <ActivityPage {...page} acts={[]} errors={errors} />,
  );
};

/** The log: of all, of one tenant, by what is looked for. */
export const addEventPages = (pages: Pages<Visit>, atMoment: AtMoment): void => {
  pages.get('/console/events', eventsPage);
  pages.get('/console/tenants/:tenant/activity', atMoment(activityPage));
};
