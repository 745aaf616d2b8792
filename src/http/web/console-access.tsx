import type { Access } from '../../projections/access.ts';
import { AccessPage, PrincipalAccessPage, type AccessFilter } from '../pages/console/access.tsx';
import { withQuery } from '../pages/console/frame.tsx';
import { isPast } from '../pages/console/moment.tsx';
import { sendPage } from '../pages/page.ts';
import { ifThere } from './console-look-ups.ts';
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
      sendPage(
        ctx,
        200,
        <AccessPage
          {...page}
          list={body}
          nextHref={nextOf(visit, { ...filter, as_of: moment.asOf }, cursor)}
        />,
      );
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
      sendPage(ctx, 200, <PrincipalAccessPage {...page} list={body} nextHref={nextHref} />);
    },
    (errors) => <PrincipalAccessPage {...page} list={[]} errors={errors} />,
  );
};

/** Who could get into a tenant, and what somebody could get into. */
export const addAccessPages = (pages: Pages<Visit>, atMoment: AtMoment): void => {
  pages.get('/console/tenants/:tenant/access', atMoment(accessPage));
  pages.get('/console/access', principalPage);
};
