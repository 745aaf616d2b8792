import type { VNode } from 'preact';
import type { ApiKeyRecord } from '../../src/http/pages/api-keys.tsx';
import { ActivityPage, type ActRecord } from '../../src/http/pages/console/activity.tsx';
import { RevokeTenantApiKeyPage, TenantApiKeysPage } from '../../src/http/pages/console/api-keys.tsx';
import {
  CredentialsPage,
  RevokeCredentialPage,
  type CredentialRecord,
} from '../../src/http/pages/console/credentials.tsx';
import {
  BearerPage,
  DeleteServiceAccountPage,
  NewServiceAccountPage,
  RotateBearerPage,
} from '../../src/http/pages/console/service-account.tsx';
import {
  ServiceAccountsPage,
  type ServiceAccountRecord,
} from '../../src/http/pages/console/service-accounts.tsx';
import { DeleteTenantPage, TenantOverviewPage } from '../../src/http/pages/console/tenant.tsx';
import { TenantsPage, type TenantRecord } from '../../src/http/pages/console/tenants.tsx';
import {
  DeleteUserPage,
  NewUserPage,
  UsersPage,
  type UserRecord,
} from '../../src/http/pages/console/users.tsx';
import { time, timeMs, timePlus } from './examples.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = timeMs;
const baseUrl = 'https://keyledger.example.com';

/** A bearer as one page alone shows it. */
export const bearer = `sab_${'aB3dE5gH7k'.repeat(5)}`;

const tenant: TenantRecord = { id: 'acme', created_at: timePlus(-40 * dayMs) };
const user: UserRecord = { username: 'alice', role: 'writer', created_at: timePlus(-3 * dayMs) };

/** A service account that mints for an hour. */
export const account: ServiceAccountRecord = {
  id: 'sa_019aa5b0c1d27c3e8f4a5b6c7d8e9f00',
  name: 'Deploys',
  tenant_id: 'acme',
  max_role: 'writer',
  max_ttl_secs: 3_600,
  created_at: timePlus(-9 * dayMs),
};

/** A credential that works. */
export const credential: CredentialRecord = {
  username: 'cred_019aa5b0c1d27c3e8f4a5b6c7d8e9f01',
  tenant: 'acme',
  subject: 'build 42',
  role: 'writer',
  service_account_id: account.id,
  minted_at: timePlus(-hourMs / 2),
  expires_at: timePlus(hourMs / 2),
  status: 'active',
};

/** A key that works. */
export const key: ApiKeyRecord = {
  id: 'key_019a1b2c',
  workspace_id: 'acme',
  name: 'Reports',
  role: 'reader',
  created_by: 'user:acme/alice',
  created_at: timePlus(-2 * dayMs),
  expires_at: timePlus(88 * dayMs),
  last_used_at: timePlus(-5 * 60_000),
  prefix: 'svc_aB3dE5',
  status: 'active',
};

const ofAcme = { tenant_id: 'acme', incarnation: 'acme~1' };

/** One act by the operator just now. */
export const act = (type: string, data: ActRecord['data'], other: Partial<ActRecord> = {}): ActRecord => ({
  id: `019a0000-0000-7000-8000-${type.padEnd(12, '0').slice(0, 12)}`,
  type,
  time,
  actor: 'admin',
  address: '192.0.2.1',
  reason: null,
  correlation_id: '019a0000-0000-7000-8000-000000000042',
  data: { ...ofAcme, ...data },
  ...other,
});

/** What was done in a tenant, the newest first. */
export const acts: readonly ActRecord[] = [
  act(
    'ApiKeyRevoked',
    { api_key_id: key.id },
    { reason: 'It was in a screenshot.', time: timePlus(-60_000) },
  ),
  act('CredentialRevoked', { username: credential.username }, { time: timePlus(-5 * 60_000) }),
  act(
    'CredentialMinted',
    { ...credential, password_digest: undefined },
    { actor: `service_account:${account.id}`, time: credential.minted_at },
  ),
  act(
    'ApiKeyCreated',
    { api_key_id: key.id, name: key.name, role: 'reader', expires_at: key.expires_at },
    { actor: 'user:acme/alice', address: '2001:db8::8a2e:370:7334', time: timePlus(-2 * hourMs) },
  ),
  act(
    'UserSignedIn',
    { username: 'alice', role: 'writer', session_id: 's_1' },
    { actor: 'user:acme/alice', time: timePlus(-3 * hourMs) },
  ),
  act('ServiceAccountCreated', { ...account, service_account_id: account.id }, { time: timePlus(-dayMs) }),
  act('UserCreated', { username: 'alice', role: 'writer' }, { time: timePlus(-3 * dayMs) }),
  act('TenantMoved', {}, { actor: 'system', address: null, time: timePlus(-4 * dayMs) }),
  act('TenantCreated', {}, { time: timePlus(-40 * dayMs) }),
];

const accounts = new Map([[account.id, account.name]]);

const userErrors = [
  { pointer: '/username', detail: 'There is a user alice in acme already.' },
  { pointer: '/password', detail: 'Must be 8 to 1,024 bytes of UTF-8.' },
  { pointer: '/role', detail: 'Choose a role.' },
];

const accountErrors = [
  { pointer: '/name', detail: 'Give it a name.' },
  { pointer: '/tenant_id', detail: 'There is no tenant nope.' },
  { pointer: '/max_role', detail: 'Choose a role.' },
  { pointer: '/max_ttl_secs', detail: 'Must be at most 86400.' },
];

/** Every page of the operator console, in each of the states that look different. */
export const consolePages: Readonly<Record<string, VNode>> = {
  'console-tenants': (
    <TenantsPage
      tenants={[tenant, { id: 'staging', created_at: timePlus(-hourMs) }]}
      nextHref="/console?cursor=2"
      nowMs={nowMs}
      notice={{ kind: 'success', text: 'The tenant “staging” is created.' }}
    />
  ),
  'console-tenants-wrong': (
    <TenantsPage
      tenants={[tenant, { id: 't'.repeat(63), created_at: time }]}
      nowMs={nowMs}
      id="acme"
      errors={[{ pointer: '/id', detail: 'There is a tenant acme already.' }]}
    />
  ),
  'console-tenants-empty': <TenantsPage tenants={[]} nowMs={nowMs} />,
  'console-tenant': <TenantOverviewPage tenant={tenant} acts={acts.slice(0, 5)} nowMs={nowMs} />,
  'console-tenant-delete': <DeleteTenantPage tenant={tenant} />,
  'console-tenant-delete-wrong': (
    <DeleteTenantPage tenant={tenant} errors={[{ pointer: '/id', detail: 'This is not its ID.' }]} />
  ),
  'console-users': (
    <UsersPage
      tenant="acme"
      users={[user, { ...user, username: 'u'.repeat(63), role: 'admin' }]}
      nextHref="?cursor=2"
      nowMs={nowMs}
    />
  ),
  'console-users-empty': <UsersPage tenant="acme" users={[]} nowMs={nowMs} />,
  'console-user-new': <NewUserPage tenant="acme" values={{}} errors={[]} />,
  'console-user-new-wrong': (
    <NewUserPage tenant="acme" values={{ username: 'alice', role: 'admin' }} errors={userErrors} />
  ),
  'console-user-delete': <DeleteUserPage tenant="acme" user={user} />,
  'console-accounts': (
    <ServiceAccountsPage
      accounts={[
        account,
        { ...account, name: 'n'.repeat(128), tenant_id: 't'.repeat(63), max_ttl_secs: 5_400 },
      ]}
      nextHref="?cursor=2"
      nowMs={nowMs}
    />
  ),
  'console-accounts-empty': <ServiceAccountsPage accounts={[]} nowMs={nowMs} />,
  'console-accounts-of-tenant': <ServiceAccountsPage tenant="acme" accounts={[account]} nowMs={nowMs} />,
  'console-account-new': <NewServiceAccountPage values={{ tenant_id: 'acme' }} errors={[]} />,
  'console-account-new-wrong': (
    <NewServiceAccountPage values={{ tenant_id: 'nope', max_ttl_secs: '99999' }} errors={accountErrors} />
  ),
  'console-bearer': <BearerPage account={account} bearer={bearer} baseUrl={baseUrl} />,
  'console-bearer-again': <BearerPage account={account} bearer={undefined} baseUrl={baseUrl} />,
  'console-account-rotate': <RotateBearerPage account={account} />,
  'console-account-delete': <DeleteServiceAccountPage account={account} />,
  'console-credentials': (
    <CredentialsPage
      tenant="acme"
      accounts={accounts}
      credentials={[
        credential,
        { ...credential, subject: 'nightly export', write_schemas: ['staging', 'exports_2026'] },
        { ...credential, subject: 'build 41', service_account_id: 'sa_gone', status: 'expired' },
        { ...credential, subject: 's'.repeat(256), role: 'reader', status: 'revoked' },
      ]}
      nextHref="?cursor=2"
      nowMs={nowMs}
    />
  ),
  'console-credentials-empty': (
    <CredentialsPage tenant="acme" accounts={accounts} credentials={[]} nowMs={nowMs} />
  ),
  'console-credential-revoke': <RevokeCredentialPage tenant="acme" record={credential} />,
  'console-keys': (
    <TenantApiKeysPage
      tenant="acme"
      keys={[
        key,
        { ...key, name: 'CI', role: 'admin', expires_at: null, last_used_at: null },
        { ...key, name: 'Laptop of Bob', created_by: 'user:acme/bob', status: 'revoked' },
      ]}
      nextHref="?cursor=2"
      nowMs={nowMs}
    />
  ),
  'console-keys-empty': <TenantApiKeysPage tenant="acme" keys={[]} nowMs={nowMs} />,
  'console-key-revoke': <RevokeTenantApiKeyPage tenant="acme" record={key} />,
  'console-activity': (
    <ActivityPage tenant="acme" gone={false} acts={acts} olderHref="?before=2" nowMs={nowMs} />
  ),
  'console-activity-gone': (
    <ActivityPage tenant="acme" gone acts={[act('TenantDeleted', {}), ...acts.slice(-1)]} nowMs={nowMs} />
  ),
  'console-activity-empty': <ActivityPage tenant="acme" gone={false} acts={[]} nowMs={nowMs} />,
};

/** Pages of the console with every text that comes from elsewhere being this one. */
export const hostileConsolePages = (hostile: string): readonly VNode[] => {
  const errors = [{ pointer: `/${hostile}`, detail: hostile }];
  const hostileUser = { ...user, username: hostile };
  const hostileAccount = { ...account, id: hostile, name: hostile, tenant_id: hostile };
  const hostileKey = { ...key, id: hostile, workspace_id: hostile, name: hostile, created_by: hostile };
  const hostileCredential = {
    ...credential,
    username: hostile,
    tenant: hostile,
    subject: hostile,
    write_schemas: [hostile],
    service_account_id: hostile,
  };
  const hostileActs = acts.map((one) => ({
    ...one,
    type: one.type === 'TenantMoved' ? hostile : one.type,
    actor: hostile,
    address: hostile,
    reason: hostile,
    correlation_id: hostile,
    data: Object.fromEntries(Object.keys(one.data).map((name) => [name, hostile])),
  }));
  const names = new Map([[hostile, hostile]]);
  return [
    <TenantsPage
      tenants={[{ ...tenant, id: hostile }]}
      nowMs={nowMs}
      id={hostile}
      errors={errors}
      notice={{ kind: 'error', text: hostile }}
    />,
    <TenantOverviewPage tenant={{ ...tenant, id: hostile }} acts={hostileActs} names={names} nowMs={nowMs} />,
    <DeleteTenantPage tenant={{ ...tenant, id: hostile }} errors={errors} />,
    <UsersPage tenant={hostile} users={[hostileUser]} nextHref={hostile} nowMs={nowMs} />,
    <NewUserPage tenant={hostile} values={{ username: hostile, role: hostile }} errors={errors} />,
    <DeleteUserPage tenant={hostile} user={hostileUser} errors={errors} />,
    <ServiceAccountsPage accounts={[hostileAccount]} nowMs={nowMs} />,
    <ServiceAccountsPage tenant={hostile} accounts={[hostileAccount]} nowMs={nowMs} />,
    <NewServiceAccountPage
      values={{ name: hostile, tenant_id: hostile, max_role: hostile, max_ttl_secs: hostile }}
      errors={errors}
    />,
    <BearerPage account={hostileAccount} bearer={hostile} baseUrl={hostile} />,
    <RotateBearerPage account={hostileAccount} errors={errors} />,
    <DeleteServiceAccountPage account={hostileAccount} errors={errors} />,
    <CredentialsPage tenant={hostile} accounts={names} credentials={[hostileCredential]} nowMs={nowMs} />,
    <RevokeCredentialPage tenant={hostile} record={hostileCredential} errors={errors} />,
    <TenantApiKeysPage tenant={hostile} keys={[hostileKey]} nowMs={nowMs} />,
    <RevokeTenantApiKeyPage tenant={hostile} record={hostileKey} errors={errors} />,
    <ActivityPage tenant={hostile} gone={false} acts={hostileActs} names={names} nowMs={nowMs} />,
  ];
};
