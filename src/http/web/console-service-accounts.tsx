import type { JSX } from 'preact';
import { consolePath } from '../pages/console/frame.tsx';
import {
  BearerPage,
  DeleteServiceAccountPage,
  NewServiceAccountPage,
  RotateBearerPage,
} from '../pages/console/service-account.tsx';
import { ServiceAccountsPage, type ServiceAccountRecord } from '../pages/console/service-accounts.tsx';
import { sendPage } from '../pages/page.ts';
import type { InputError } from '../problem.ts';
import { handOver, takeHandedOver } from './cookies.ts';
import type { AtMoment, MomentVisit } from './moments.tsx';
import { nextHref, noticeOf, orAgain, pageQuery } from './visits.ts';
import { goTo, type Pages, type Visit } from './web.ts';

const notices: ReadonlyMap<string, string> = new Map([
  ['deleted', 'The service account is deleted. Its bearer is refused from now on.'],
]);

type WithBearer = ServiceAccountRecord & { readonly bearer: string };

const accountsPage = async (visit: MomentVisit): Promise<void> => {
  const { ctx, call, nowMs, moment } = visit;
  const { body, cursor } = await call<readonly ServiceAccountRecord[]>('listServiceAccounts', {
    query: pageQuery(visit),
  });
  const page = { accounts: body, nextHref: nextHref(visit, cursor), nowMs, moment };
  sendPage(ctx, 200, <ServiceAccountsPage {...page} notice={noticeOf(visit, notices)} />);
};

const accountsOfTenantPage = async (visit: MomentVisit): Promise<void> => {
  const { ctx, call, params, nowMs, moment } = visit;
  const { body: tenant } = await call<{ readonly id: string }>('getTenant', {
    params: { id: params['tenant'] },
  });
  const { body, cursor } = await call<readonly ServiceAccountRecord[]>('listServiceAccounts', {
    query: { ...pageQuery(visit), tenant_id: tenant.id },
  });
  const page = { tenant: tenant.id, accounts: body, nextHref: nextHref(visit, cursor), nowMs, moment };
  sendPage(ctx, 200, <ServiceAccountsPage {...page} />);
};

/** A number as the API takes one; what is none, or is missing, is the API's to refuse. */
const numberOf = (text = ''): number | string => (/^ *\d{1,9} *$/.test(text) ? Number(text) : text);

const newAccountPage = (visit: Visit, errors: readonly InputError[] = []): JSX.Element => {
  const { tenant } = visit.ctx.query;
  const values = { ...(typeof tenant === 'string' ? { tenant_id: tenant } : {}), ...visit.form };
  return <NewServiceAccountPage values={values} errors={errors} />;
};

/** Goes to the page that shows the bearer, which nothing but the browser carries there. */
const showOnce = ({ ctx }: Visit, { id, bearer }: WithBearer): void => {
  const path = consolePath('service-accounts', id);
  handOver(ctx, path, bearer);
  goTo(ctx, path);
};

const createAccount = (visit: Visit): Promise<void> =>
  orAgain(
    visit,
    async () => {
      const { name = '', tenant_id = '', max_role, max_ttl_secs } = visit.form;
      const { body } = await visit.call<WithBearer>('createServiceAccount', {
        body: {
          name: name.trim(),
          tenant_id: tenant_id.trim(),
          max_role,
          max_ttl_secs: numberOf(max_ttl_secs),
        },
      });
      showOnce(visit, body);
    },
    (errors) => newAccountPage(visit, errors),
    { 'tenant.unknown': '/tenant_id' },
  );

const getAccount = async ({ call, params: { id } }: Visit): Promise<ServiceAccountRecord> => {
  const { body } = await call<ServiceAccountRecord>('getServiceAccount', { params: { id } });
  return body;
};

const bearerPage = async (visit: Visit): Promise<void> => {
  const { ctx, baseUrl } = visit;
  const account = await getAccount(visit);
  const bearer = await takeHandedOver(visit, account.id);
  sendPage(ctx, 200, <BearerPage account={account} bearer={bearer} baseUrl={baseUrl} />);
};

const confirmation =
  (Page: typeof RotateBearerPage) =>
  async (visit: Visit): Promise<void> =>
    sendPage(visit.ctx, 200, <Page account={await getAccount(visit)} />);

const rotateBearer = async (visit: Visit): Promise<void> => {
  const account = await getAccount(visit);
  await orAgain(
    visit,
    async () => {
      const { body } = await visit.call<WithBearer>('rotateServiceAccountBearer', {
        params: { id: account.id },
        body: { grace_secs: numberOf(visit.form['grace_secs']) },
      });
      showOnce(visit, body);
    },
    (errors) => <RotateBearerPage account={account} errors={errors} />,
  );
};

const deleteAccount = async (visit: Visit): Promise<void> => {
  const account = await getAccount(visit);
  await orAgain(
    visit,
    async () => {
      const { ctx, call, form } = visit;
      await call('deleteServiceAccount', {
        params: { id: account.id },
        // What is missing here is not taken for the default: it says what else ends.
        query: { credentials: form['credentials'] ?? '' },
      });
      goTo(ctx, `${consolePath('service-accounts')}?done=deleted`);
    },
    (errors) => <DeleteServiceAccountPage account={account} errors={errors} />,
  );
};

/** The service accounts, of all tenants and of one. */
export const addServiceAccountPages = (pages: Pages<Visit>, atMoment: AtMoment): void => {
  const all = '/console/service-accounts';
  pages.get(all, atMoment(accountsPage));
  pages.get('/console/tenants/:tenant/service-accounts', atMoment(accountsOfTenantPage));
  pages.post(all, createAccount);
  pages.get(`${all}/new`, async (visit) => sendPage(visit.ctx, 200, newAccountPage(visit)));
  pages.get(`${all}/:id`, bearerPage);
  pages.get(`${all}/:id/rotate`, confirmation(RotateBearerPage));
  pages.post(`${all}/:id/rotate`, rotateBearer);
  pages.get(`${all}/:id/delete`, confirmation(DeleteServiceAccountPage));
  pages.post(`${all}/:id/delete`, deleteAccount);
};
