import type { JSX } from 'preact';
import type { Role } from '../../schemas.ts';
import type { Notice } from '../layout.tsx';
import { ErrorSummary, errorOf, Field, RadioGroup, type FieldError, type Option } from '../fields.tsx';
import { Confirm, DataTable, EmptyState, Heading, Pager, type Column } from '../parts.tsx';
import { Time } from '../time.tsx';
import { roleLabels, TenantPage, tenantPath } from './frame.tsx';
import { isPast, type Moment } from './moment.tsx';

const usernameCharsMax = 63;

/** A user of a tenant; nobody ever sees the password again. */
export type UserRecord = { readonly username: string; readonly role: Role; readonly created_at: string };

/** One page of the list. */
export type UsersPageProps = {
  readonly tenant: string;
  readonly users: readonly UserRecord[];
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
  readonly notice?: Notice | undefined;
  readonly moment?: Moment | undefined;
};

const actionsIn = (tenant: string): Column<UserRecord> => ({
  header: 'Actions',
  hideHeader: true,
  cell: ({ username }) => (
    <span class="row-actions">
      <a class="danger" href={tenantPath(tenant, 'users', username, 'delete')}>
        Delete<span class="sr"> {username}</span>
      </a>
    </span>
  ),
});

const UserTable = ({ tenant, users, nowMs, moment }: UsersPageProps): JSX.Element => (
  <DataTable
    id="users"
    caption="Users"
    rows={users}
    columns={[
      { header: 'Username', cell: ({ username }) => username },
      { header: 'Role', cell: ({ role }) => roleLabels[role] },
      { header: 'Created', cell: ({ created_at }) => <Time at={created_at} nowMs={nowMs} /> },
      ...(isPast(moment) ? [] : [actionsIn(tenant)]),
    ]}
  />
);

const NoUsers = (props: { readonly isPast: boolean; readonly create: JSX.Element }): JSX.Element =>
  props.isPast ? (
    <EmptyState title="There were no users" />
  ) : (
    <EmptyState title="No users yet">
      <p>Create one, and give them the name of the workspace, their username and their password.</p>
      <p>{props.create}</p>
    </EmptyState>
  );

/** Who can sign in to a tenant. */
export const UsersPage = (props: UsersPageProps): JSX.Element => {
  const { tenant, users, moment } = props;
  const create = (
    <a class="button" href={tenantPath(tenant, 'users', 'new')}>
      Create user
    </a>
  );
  return (
    <TenantPage tenant={tenant} title="Users" section="users" notice={props.notice} moment={moment}>
      <Heading title="Users" about="They sign in to the workspace with a password.">
        {users.length > 0 && !isPast(moment) && create}
      </Heading>
      {users.length === 0 ? (
        <NoUsers isPast={isPast(moment)} create={create} />
      ) : (
        <>
          <UserTable {...props} />
          <Pager nextHref={props.nextHref} />
        </>
      )}
    </TenantPage>
  );
};

const roles: readonly Option[] = [
  { value: 'reader', label: 'Reader', hint: 'Reads what is in the workspace, and makes API keys that read.' },
  { value: 'writer', label: 'Writer', hint: 'Also makes API keys that create, change and delete.' },
  { value: 'admin', label: 'Admin', hint: 'Also sees and revokes the API keys of everybody.' },
];

/** The form that makes a user. A password never comes back. */
export type NewUserPageProps = {
  readonly tenant: string;
  readonly values: { readonly username?: string | undefined; readonly role?: string | undefined };
  readonly errors: readonly FieldError[];
};

/** Posts `username`, `password` and `role` to the tenant's `/users`. */
export const NewUserPage = ({ tenant, values, errors }: NewUserPageProps): JSX.Element => (
  <TenantPage tenant={tenant} title="Create user" section="users">
    <Heading title="Create user" back={{ href: tenantPath(tenant, 'users'), text: 'Users' }} />
    <form class="card form" method="post" action={tenantPath(tenant, 'users')} noValidate>
      <ErrorSummary errors={errors} />
      <Field
        name="username"
        label="Username"
        hint="1 to 63 letters, digits or “_ . @ + -”. Upper and lower case are the same name."
        error={errorOf(errors, 'username')}
        input={{
          value: values.username,
          maxLength: usernameCharsMax,
          autocomplete: 'off',
          autocapitalize: 'none',
          spellcheck: false,
          required: true,
        }}
      />
      <Field
        name="password"
        label="Password"
        hint="At least 8 characters. It is stored only as a hash: give it to the user now."
        error={errorOf(errors, 'password')}
        input={{ type: 'password', autocomplete: 'new-password', required: true }}
      />
      <RadioGroup
        name="role"
        label="Role"
        hint="Give them the least that they need."
        options={roles}
        value={values.role ?? 'reader'}
        error={errorOf(errors, 'role')}
      />
      <div class="actions">
        <button type="submit">Create user</button>
        <a class="button quiet" href={tenantPath(tenant, 'users')}>
          Cancel
        </a>
      </div>
    </form>
  </TenantPage>
);

/** What is asked before a user is deleted. */
export type DeleteUserPageProps = {
  readonly tenant: string;
  readonly user: UserRecord;
  readonly errors?: readonly FieldError[] | undefined;
};

/** Posts nothing but itself to the user's `/delete`. */
export const DeleteUserPage = ({ tenant, user, errors = [] }: DeleteUserPageProps): JSX.Element => (
  <TenantPage tenant={tenant} title="Delete user" section="users">
    <Heading title="Delete user" back={{ href: tenantPath(tenant, 'users'), text: 'Users' }} />
    <Confirm
      action={tenantPath(tenant, 'users', user.username, 'delete')}
      button="Delete this user"
      cancelHref={tenantPath(tenant, 'users')}
      danger
    >
      <ErrorSummary errors={errors} />
      <p>
        <strong>{user.username}</strong> is signed out everywhere, immediately, and can't sign in again. This
        can't be undone.
      </p>
      <p class="hint">
        The API keys that they made belong to the workspace and go on working. Revoke those under{' '}
        <a href={tenantPath(tenant, 'api-keys')}>API keys</a>.
      </p>
      <dl class="facts">
        <dt>Username</dt>
        <dd>{user.username}</dd>
        <dt>Role</dt>
        <dd>{roleLabels[user.role]}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={user.created_at} />
        </dd>
      </dl>
    </Confirm>
  </TenantPage>
);
