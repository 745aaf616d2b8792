import type { JSX } from 'preact';
import type { ApiKeyRecord } from '../pages/api-keys.tsx';
import { RevokeTenantApiKeyPage, TenantApiKeysPage } from '../pages/console/api-keys.tsx';
import {
  CredentialsPage,
  RevokeCredentialPage,
  type CredentialRecord,
} from '../pages/console/credentials.tsx';
import { tenantPath } from '../pages/console/frame.tsx';
import {
  DeleteUserPage,
  NewUserPage,
  UsersPage,
  type UserRecord,
  type UsersPageProps,
} from '../pages/console/users.tsx';
import { sendPage } from '../pages/page.ts';
import type { InputError } from '../problem.ts';
import { accountNames } from './console-look-ups.ts';
import type { AtMoment, MomentVisit } from './moments.tsx';
import { nextHref, noticeOf, orAgain, pageQuery } from './visits.ts';
import { goTo, type Pages, type Visit } from './web.ts';

const notices: ReadonlyMap<string, string> = new Map([
  ['user-created', 'The user is created and can sign in.'],
  ['user-deleted', 'The user is deleted, and can sign in nowhere.'],
  ['credential-revoked', 'The credential is revoked. Nothing that uses it works any more.'],
  ['key-revoked', 'The key is revoked. Nothing that uses it works any more.'],
]);

const tenantOf = ({ params }: Visit): string => params['tenant'] ?? '';

/** What a list of the tenant is asked for with. */
const ofList = (visit: Visit) => ({ params: { id: tenantOf(visit) }, query: pageQuery(visit) });

/** What every page that shows a list of the tenant is given. */
const listPage = (visit: MomentVisit, cursor: string | undefined): Omit<UsersPageProps, 'users'> => ({
  tenant: tenantOf(visit),
  nextHref: nextHref(visit, cursor),
  nowMs: visit.nowMs,
  notice: noticeOf(visit, notices),
  moment: visit.moment,
});

const usersPage = async (visit: MomentVisit): Promise<void> => {
  const { body, cursor } = await visit.call<readonly UserRecord[]>('listUsers', ofList(visit));
  sendPage(visit.ctx, 200, <UsersPage {...listPage(visit, cursor)} users={body} />);
};

const newUserPage = (visit: Visit, errors: readonly InputError[] = []): JSX.Element => (
  <NewUserPage tenant={tenantOf(visit)} values={visit.form} errors={errors} />
);

const createUser = (visit: Visit): Promise<void> =>
  orAgain(
    visit,
    async () => {
      const { ctx, call, form } = visit;
      const { username = '', password = '', role } = form;
      await call('createUser', {
        params: { id: tenantOf(visit) },
        body: { username: username.trim(), password, role },
      });
      goTo(ctx, `${tenantPath(tenantOf(visit), 'users')}?done=user-created`);
    },
    (errors) => newUserPage(visit, errors),
    { 'user.exists': '/username' },
  );

const ofUser = (visit: Visit) => ({ id: tenantOf(visit), username: visit.params['username'] });

const deleteUserPage = async (visit: Visit): Promise<void> => {
  const { body } = await visit.call<UserRecord>('getUser', { params: ofUser(visit) });
  sendPage(visit.ctx, 200, <DeleteUserPage tenant={tenantOf(visit)} user={body} />);
};

const deleteUser = async (visit: Visit): Promise<void> => {
  await visit.call('deleteUser', { params: ofUser(visit) });
  goTo(visit.ctx, `${tenantPath(tenantOf(visit), 'users')}?done=user-deleted`);
};

const credentialsPage = async (visit: MomentVisit): Promise<void> => {
  const { body, cursor } = await visit.call<readonly CredentialRecord[]>('listCredentials', ofList(visit));
  const accounts = await accountNames(
    visit,
    body.map(({ service_account_id }) => service_account_id),
  );
  sendPage(
    visit.ctx,
    200,
    <CredentialsPage {...listPage(visit, cursor)} credentials={body} accounts={accounts} />,
  );
};

const revokeCredentialPage = async (visit: Visit): Promise<void> => {
  const params = { id: tenantOf(visit), username: visit.params['username'] };
  const { body: record } = await visit.call<CredentialRecord>('getCredential', { params });
  const page = { tenant: tenantOf(visit), record };
  sendPage(visit.ctx, 200, <RevokeCredentialPage {...page} />);
};

const revokeCredential = async (visit: Visit): Promise<void> => {
  const id = tenantOf(visit);
  await visit.call('revokeCredential', { params: { id, username: visit.params['username'] } });
  goTo(visit.ctx, `${tenantPath(id, 'credentials')}?done=credential-revoked`);
};

const keysPage = async (visit: MomentVisit): Promise<void> => {
  const { body, cursor } = await visit.call<readonly ApiKeyRecord[]>('listTenantApiKeys', ofList(visit));
  sendPage(visit.ctx, 200, <TenantApiKeysPage {...listPage(visit, cursor)} keys={body} />);
};

const revokeKeyPage = async (visit: Visit): Promise<void> => {
  const params = { id: tenantOf(visit), key_id: visit.params['key'] };
  const { body: record } = await visit.call<ApiKeyRecord>('getTenantApiKey', { params });
  sendPage(visit.ctx, 200, <RevokeTenantApiKeyPage tenant={tenantOf(visit)} record={record} />);
};

const revokeKey = async (visit: Visit): Promise<void> => {
  const id = tenantOf(visit);
  await visit.call('revokeTenantApiKey', { params: { id, key_id: visit.params['key'] } });
  goTo(visit.ctx, `${tenantPath(id, 'api-keys')}?done=key-revoked`);
};

/** The users, credentials and API keys of one tenant. */
export const addTenantPartPages = (pages: Pages<Visit>, atMoment: AtMoment): void => {
  const users = '/console/tenants/:tenant/users';
  const credentials = '/console/tenants/:tenant/credentials';
  const keys = '/console/tenants/:tenant/api-keys';
  pages.get(users, atMoment(usersPage));
  pages.post(users, createUser);
  pages.get(`${users}/new`, async (visit) => {
    await visit.call('getTenant', { params: { id: tenantOf(visit) } });
    sendPage(visit.ctx, 200, newUserPage(visit));
  });
  pages.get(`${users}/:username/delete`, deleteUserPage);
  pages.post(`${users}/:username/delete`, deleteUser);
  pages.get(credentials, atMoment(credentialsPage));
  pages.get(`${credentials}/:username/revoke`, revokeCredentialPage);
  pages.post(`${credentials}/:username/revoke`, revokeCredential);
  pages.get(keys, atMoment(keysPage));
  pages.get(`${keys}/:key/revoke`, revokeKeyPage);
  pages.post(`${keys}/:key/revoke`, revokeKey);
};
