import type { JSX } from 'preact';
import type { ActRecord } from '../pages/console/activity.tsx';
import { tenantPath } from '../pages/console/frame.tsx';
import type { Moment } from '../pages/console/moment.tsx';
import { DeleteTenantPage, TenantOverviewPage } from '../pages/console/tenant.tsx';
import { TenantsPage, type TenantRecord } from '../pages/console/tenants.tsx';
import { sendPage } from '../pages/page.ts';
import { RequestRefused, type InputError } from '../problem.ts';
import { namesFor } from './console-look-ups.ts';
import type { AtMoment, MomentVisit } from './moments.tsx';
import { nextHref, noticeOf, orAgain, pageQuery } from './visits.ts';
import { goTo, type Pages, type Visit } from './web.ts';

/** Acts on the page of a tenant. */
const latestActs = 5;

const notices: ReadonlyMap<string, string> = new Map([['created', 'The tenant is created.']]);

const idOf = ({ params }: Visit): string => params['tenant'] ?? '';

const getTenant = async (visit: Visit): Promise<TenantRecord> => {
  const { body } = await visit.call<TenantRecord>('getTenant', { params: { id: idOf(visit) } });
  return body;
};

const tenantsPage = async (
  visit: Visit & { readonly moment?: Moment },
  errors: readonly InputError[] = [],
): Promise<JSX.Element> => {
  const { call, form, nowMs, moment } = visit;
  const { body, cursor } = await call<readonly TenantRecord[]>('listTenants', { query: pageQuery(visit) });
  const page = { tenants: body, nextHref: nextHref(visit, cursor), nowMs, moment };
  return <TenantsPage {...page} id={form['id']} errors={errors} />;
};

const createTenant = (visit: Visit): Promise<void> =>
  orAgain(
    visit,
    async () => {
      const { ctx, call, form } = visit;
      const { body } = await call<TenantRecord>('createTenant', { body: { id: (form['id'] ?? '').trim() } });
      goTo(ctx, `${tenantPath(body.id)}?done=created`);
    },
    (errors) => tenantsPage(visit, errors),
    { 'tenant.exists': '/id' },
  );

const overviewPage = async (visit: MomentVisit): Promise<void> => {
  const { ctx, call, nowMs, moment } = visit;
  const tenant = await getTenant(visit);
  const query = { limit: String(latestActs), order: 'desc' };
  const { body: acts } = await call<readonly ActRecord[]>('listActivity', {
    params: { id: tenant.id },
    query,
  });
  const page = { tenant, acts, names: await namesFor(visit, tenant.id, acts), nowMs, moment };
  sendPage(ctx, 200, <TenantOverviewPage {...page} notice={noticeOf(visit, notices)} />);
};

const deleteTenant = async (visit: Visit): Promise<void> => {
  const { ctx, call, form } = visit;
  const tenant = await getTenant(visit);
  await orAgain(
    visit,
    async () => {
      if (form['id']?.trim() !== tenant.id) {
        const errors = [{ pointer: '/id', detail: 'This is not the ID of the tenant.' }];
        throw new RequestRefused('request.invalid', 'The tenant is not confirmed.', { errors });
      }
      await call('deleteTenant', { params: { id: tenant.id } });
      goTo(ctx, `${tenantPath(tenant.id, 'activity')}?done=deleted`);
    },
    (errors) => <DeleteTenantPage tenant={tenant} errors={errors} />,
  );
};

/** The tenants, each one's overview, and their beginning and end. */
export const addTenantPages = (pages: Pages<Visit>, atMoment: AtMoment): void => {
  const one = '/console/tenants/:tenant';
  pages.get(
    '/console',
    atMoment(async (visit) => sendPage(visit.ctx, 200, await tenantsPage(visit))),
  );
  pages.post('/console/tenants', createTenant);
  pages.get(one, atMoment(overviewPage));
  pages.get(`${one}/delete`, async (visit) =>
    sendPage(visit.ctx, 200, <DeleteTenantPage tenant={await getTenant(visit)} />),
  );
  pages.post(`${one}/delete`, deleteTenant);
};
