import type { Access } from '../../projections/access.ts';
import { AccessPage, PrincipalAccessPage, type AccessFilter } from '../pages/console/access.tsx';
import { withQuery } from '../pages/console/frame.tsx';
import { isPast } from '../pages/console/moment.tsx';
import { sendPage } from '../pages/page.ts';
import { accountNames, ifThere } from './console-look-ups.ts';
import type { AtMoment, MomentVisit } from './moments.tsx';
import { orAgain, pageQuery, textOf, timeOf } from './visits.ts';
import type { Pages, Visit } from './web.ts';

/** What is looked for, as the address says it. */
const filterOf = ({ ctx: { query } }: Visit): AccessFilter => {
  const [kind, from, to] = [textOf(query['kind']), timeOf(query['from']), timeOf(query['to'])];
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
};

const nextOf = ({ ctx }: Visit, filter: object, cursor: string | undefined): string | undefined =>
  cursor === undefined ? undefined : withQuery(ctx.path, { ...filter, cursor });

/** What the service accounts are called that granted something, or ended it. */
const namesIn = (visit: Visit, list: readonly Access[]): Promise<ReadonlyMap<string, string>> => {
  const actors = list.flatMap(({ granted_by, ended_by }) => [
    granted_by.actor,
    ...(ended_by === null || ended_by.kind === 'expiry' ? [] : [ended_by.actor]),
  ]);
  const kind = 'service_account:';
  return accountNames(
    visit,
    actors.filter((actor) => actor.startsWith(kind)).map((actor) => actor.slice(kind.length)),
  );
};

const accessPage = async (visit: MomentVisit): Promise<void> => {
  const { ctx, call, params, nowMs, moment } = visit;
  const tenant = params['tenant'] ?? '';
  const filter = filterOf(visit);
  const isThere = await ifThere(call('getTenant', { params: { id: tenant } }));
  const page = {
    tenant,
    gone: isThere === undefined,
    filter,
    nowMs,
    moment: isPast(moment) ? moment : undefined,
  };
  // Without a time the API would answer who can get in now.
  const everything = { to: new Date(nowMs).toISOString() };
  await orAgain(
    visit,
    async () => {
      const query = { ...(filter.from === undefined ? everything : {}), ...filter, ...pageQuery(visit) };
      const { body, cursor } = await call<readonly Access[]>('listTenantAccess', {
        params: { id: tenant },
        query,
      });
      const nextHref = nextOf(visit, { ...filter, as_of: moment.asOf }, cursor);
      const found = { list: body, names: await namesIn(visit, body), nextHref };
      sendPage(ctx, 200, <AccessPage {...page} {...found} />);
    },
    (errors) => <AccessPage {...page} list={[]} errors={errors} />,
  );
};

const principalPage = async (visit: Visit): Promise<void> => {
  const { ctx, call, nowMs } = visit;
  const principal = textOf(ctx.query['principal']) ?? '';
  const { kind: _kind, ...filter } = filterOf(visit);
  const page = { principal, filter, nowMs };
  await orAgain(
    visit,
    async () => {
      const query = { principal, ...filter, ...pageQuery(visit) };
      const { body, cursor } = await call<readonly Access[]>('listPrincipalAccess', { query });
      const nextHref = nextOf(visit, { principal, ...filter }, cursor);
      const found = { list: body, names: await namesIn(visit, body), nextHref };
      sendPage(ctx, 200, <PrincipalAccessPage {...page} {...found} />);
    },
    (errors) => <PrincipalAccessPage {...page} list={[]} errors={errors} />,
  );
};

/** Who could get into a tenant, and what somebody could get into. */
export const addAccessPages = (pages: Pages<Visit>, atMoment: AtMoment): void => {
  pages.get('/console/tenants/:tenant/access', atMoment(accessPage));
  pages.get('/console/access', principalPage);
};
