import type { ComponentChildren, JSX } from 'preact';
import type { ApiKeyView } from '../routes/api-keys.ts';
import type { Role } from '../schemas.ts';
import { Layout, workspacePath, type Notice, type SignedInUser } from './layout.tsx';
import { ErrorSummary, errorOf, Field, RadioGroup, Select, type FieldError, type Option } from './fields.tsx';
import {
  Actor,
  Code,
  Confirm,
  DataTable,
  EmptyState,
  Heading,
  Pager,
  Secret,
  Status,
  type Column,
} from './parts.tsx';
import { Time } from './time.tsx';
import { apiUrl, listCommand } from './resources.tsx';

const nameCharsMax = 128;

/** An API key as the API answers it. */
export type ApiKeyRecord = ApiKeyView;

const roles: Readonly<Record<Role, Option>> = {
  reader: { value: 'reader', label: 'Reader', hint: 'Reads agents, threads and workflows.' },
  writer: { value: 'writer', label: 'Writer', hint: 'Also creates, changes and deletes them.' },
  admin: { value: 'admin', label: 'Admin', hint: 'Also manages the API keys of this workspace.' },
};

const expirations: readonly Option[] = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '60', label: '60 days' },
  { value: '90', label: '90 days' },
  { value: 'date', label: 'Custom date' },
  { value: 'never', label: 'No expiration' },
];

const overlaps: readonly Option[] = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'After 1 hour' },
  { value: '86400', label: 'After 24 hours' },
  { value: '604800', label: 'After 7 days' },
];

const keyPath = ({ workspace_id, id }: ApiKeyRecord, act?: 'revoke' | 'roll'): string =>
  workspacePath(workspace_id, 'api-keys', id, ...(act === undefined ? [] : [act]));

const listOf = (who: SignedInUser): string => workspacePath(who.workspace, 'api-keys');

const KeyActions = ({ record }: { readonly record: ApiKeyRecord }): JSX.Element | null =>
  record.status === 'active' ? (
    <span class="row-actions">
      <a href={keyPath(record, 'roll')}>
        Roll<span class="sr"> {record.name}</span>
      </a>
      <a class="danger" href={keyPath(record, 'revoke')}>
        Revoke<span class="sr"> {record.name}</span>
      </a>
    </span>
  ) : null;

const never = <span class="none">Never</span>;

/** What is shown of a key in a list, but for what can be done with it. */
const columnsAt = (nowMs: number): readonly Column<ApiKeyRecord>[] => [
  { header: 'Name', cell: ({ name }) => name },
  { header: 'Key', cell: ({ prefix }) => <code class="prefix">{prefix}…</code> },
  { header: 'Status', cell: ({ status }) => <Status status={status} /> },
  { header: 'Role', cell: ({ role }) => roles[role].label },
  { header: 'Created by', cell: ({ created_by }) => <Actor actor={created_by} /> },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} nowMs={nowMs} brief /> },
  {
    header: 'Expires',
    cell: ({ expires_at, status }) =>
      expires_at === null ? never : <Time at={expires_at} nowMs={nowMs} expiry={status === 'active'} />,
  },
  {
    header: 'Last used',
    cell: ({ last_used_at }) => (last_used_at === null ? never : <Time at={last_used_at} nowMs={nowMs} />),
  },
];

const actions: Column<ApiKeyRecord> = {
  header: 'Actions',
  hideHeader: true,
  cell: (record) => <KeyActions record={record} />,
};

/** One page of a list of API keys, those that no longer work faded; `actions` is the last column, if any. */
export const ApiKeyTable = (props: {
  readonly keys: readonly ApiKeyRecord[];
  readonly actions?: Column<ApiKeyRecord> | undefined;
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
}): JSX.Element => (
  <>
    <DataTable
      id="keys"
      caption="API keys"
      columns={[...columnsAt(props.nowMs), ...(props.actions === undefined ? [] : [props.actions])]}
      rows={props.keys}
      isFaded={({ status }) => status !== 'active'}
    />
    <Pager nextHref={props.nextHref} />
  </>
);

/** One page of the list. */
export type ApiKeysPageProps = {
  readonly who: SignedInUser;
  readonly keys: readonly ApiKeyRecord[];
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
  readonly baseUrl: string;
  readonly notice?: Notice | undefined;
};

/** The API keys of a workspace, those that no longer work faded. */
export const ApiKeysPage = (props: ApiKeysPageProps): JSX.Element => {
  const create = (
    <a class="button" href={workspacePath(props.who.workspace, 'api-keys', 'new')}>
      Create New API Key
    </a>
  );
  return (
    <Layout title="API Keys" who={props.who} current="api-keys" notice={props.notice}>
      <Heading
        title="API Keys"
        about="Programs use them to call the API of this workspace. They belong to the workspace, not to who made them."
      >
        {props.keys.length > 0 && create}
      </Heading>
      {props.keys.length === 0 ? (
        <EmptyState title="No API keys yet">
          <p>Create one, put it where your program finds it, and call the API with it:</p>
          <Code
            id="command"
            label="the command"
            text={listCommand(apiUrl(props.baseUrl, props.who.workspace, 'agents'))}
          />
          <p>{create}</p>
        </EmptyState>
      ) : (
        <ApiKeyTable keys={props.keys} actions={actions} nextHref={props.nextHref} nowMs={props.nowMs} />
      )}
    </Layout>
  );
};

/** What the form holds: as it was sent, or at first its defaults. */
export type NewApiKeyValues = {
  readonly name?: string | undefined;
  readonly role?: string | undefined;
  /** Days as `7`, `30`, `60` or `90`; `date`, with `expires_date`; or `never`. Without it `90`. */
  readonly expires?: string | undefined;
  /** A day as `2026-12-31`, in UTC. */
  readonly expires_date?: string | undefined;
};

/** The form that makes a key. */
export type NewApiKeyPageProps = {
  readonly who: SignedInUser;
  readonly values: NewApiKeyValues;
  readonly errors: readonly FieldError[];
  /** Those that this user may give, the least first; the least is chosen at first. */
  readonly roles: readonly Role[];
};

const Expiration = ({ values, errors }: Pick<NewApiKeyPageProps, 'values' | 'errors'>): JSX.Element => (
  <RadioGroup
    name="expires"
    label="Expiration"
    hint="A key that is short-lived does less harm when it leaks."
    options={expirations}
    value={values.expires ?? '90'}
    error={errorOf(errors, 'expires')}
    compact
  >
    <div data-when="expires=date">
      <Field
        name="expires_date"
        label="Custom date"
        hint="The last day, in UTC, on which the key works. Counts only with “Custom date” above."
        error={errorOf(errors, 'expires_date')}
        input={{ type: 'date', value: values.expires_date }}
      />
    </div>
    <p class="warning" data-when="expires=never">
      <strong>No expiration</strong> means that the key works until someone revokes it, for whoever has it.
    </p>
  </RadioGroup>
);

/** Posts `name`, `role`, `expires` and `expires_date` to the list's path. */
export const NewApiKeyPage = (props: NewApiKeyPageProps): JSX.Element => (
  <Layout title="Create New API Key" who={props.who} current="api-keys">
    <Heading title="Create New API Key" back={{ href: listOf(props.who), text: 'API Keys' }} />
    <form class="card form" method="post" action={listOf(props.who)} noValidate>
      <ErrorSummary errors={props.errors} />
      <Field
        name="name"
        label="Name"
        hint="Which program will use it, such as “Billing, production”."
        error={errorOf(props.errors, 'name')}
        input={{ value: props.values.name, maxLength: nameCharsMax, autocomplete: 'off', required: true }}
      />
      <RadioGroup
        name="role"
        label="Role"
        hint="Give it the least that the program needs."
        options={props.roles.map((role) => roles[role])}
        value={props.values.role ?? props.roles[0] ?? ''}
        error={errorOf(props.errors, 'role')}
      />
      <Expiration values={props.values} errors={props.errors} />
      <div class="actions">
        <button type="submit">Create API Key</button>
        <a class="button quiet" href={listOf(props.who)}>
          Cancel
        </a>
      </div>
    </form>
  </Layout>
);

/** What comes after a key was made or rolled. */
export type CreatedApiKeyPageProps = {
  readonly who: SignedInUser;
  readonly record: ApiKeyRecord;
  /** Undefined where it has been shown already: nobody can show it again. */
  readonly secret: string | undefined;
  readonly baseUrl: string;
};

/** What tells one key from another, in a list of facts. */
export const ApiKeyFacts = ({ record }: { readonly record: ApiKeyRecord }): JSX.Element => (
  <dl class="facts">
    <dt>Name</dt>
    <dd>{record.name}</dd>
    <dt>Key</dt>
    <dd>
      <code>{record.prefix}…</code>
    </dd>
    <dt>Role</dt>
    <dd>{roles[record.role].label}</dd>
    <dt>Expires</dt>
    <dd>{record.expires_at === null ? never : <Time at={record.expires_at} />}</dd>
  </dl>
);

/** The one page that ever shows the secret, and what it says when it is asked for again. */
export const CreatedApiKeyPage = ({ who, record, secret, baseUrl }: CreatedApiKeyPageProps): JSX.Element => (
  <Layout title={secret === undefined ? 'API key' : 'Your new API key'} who={who} current="api-keys">
    <Heading
      title={secret === undefined ? 'This key was shown once' : 'Your new API key'}
      back={{ href: listOf(who), text: 'API Keys' }}
      about={
        secret === undefined
          ? "It is not stored, so it can't be shown again. Roll it to get a new secret in its place, or create another key."
          : undefined
      }
    />
    {secret === undefined ? (
      <div class="actions">
        <a class="button" href={keyPath(record, 'roll')}>
          Roll this key
        </a>
        <a class="button quiet" href={workspacePath(who.workspace, 'api-keys', 'new')}>
          Create another key
        </a>
      </div>
    ) : (
      <>
        <Secret id="secret" label="API key" secret={secret} />
        <section aria-labelledby="try-title">
          <h2 id="try-title">Try it</h2>
          <p>This lists the agents of the workspace with the new key.</p>
          <Code
            id="command"
            label="the command"
            text={listCommand(apiUrl(baseUrl, who.workspace, 'agents'), secret)}
            secret
          />
        </section>
      </>
    )}
    <section aria-labelledby="about-title">
      <h2 id="about-title">About this key</h2>
      <div class="card">
        <ApiKeyFacts record={record} />
      </div>
    </section>
    {secret !== undefined && (
      <div class="actions">
        <a class="button" href={listOf(who)}>
          Done
        </a>
      </div>
    )}
  </Layout>
);

/** What is asked before a key is revoked or rolled. */
export type ApiKeyConfirmationProps = {
  readonly who: SignedInUser;
  readonly record: ApiKeyRecord;
  readonly errors?: readonly FieldError[] | undefined;
};

const Confirmation = (
  props: ApiKeyConfirmationProps & {
    readonly title: string;
    readonly act: 'revoke' | 'roll';
    readonly button: string;
    readonly children: ComponentChildren;
  },
): JSX.Element => (
  <Layout title={props.title} who={props.who} current="api-keys">
    <Heading title={props.title} back={{ href: listOf(props.who), text: 'API Keys' }} />
    <Confirm
      action={keyPath(props.record, props.act)}
      button={props.button}
      cancelHref={listOf(props.who)}
      danger={props.act === 'revoke'}
    >
      <ErrorSummary errors={props.errors ?? []} />
      {props.children}
    </Confirm>
  </Layout>
);

/** Posts nothing but itself to the key's `/revoke`. */
export const RevokeApiKeyPage = (props: ApiKeyConfirmationProps): JSX.Element => (
  <Confirmation {...props} act="revoke" title="Revoke API key" button="Revoke this key">
    <p>
      <strong>{props.record.name}</strong> stops working immediately, everywhere. Programs that use it are
      refused from then on. This can't be undone.
    </p>
    <ApiKeyFacts record={props.record} />
  </Confirmation>
);

/** Posts `overlap_secs` to the key's `/roll`. */
export const RollApiKeyPage = (props: ApiKeyConfirmationProps): JSX.Element => (
  <Confirmation {...props} act="roll" title="Roll API key" button="Roll this key">
    <p>
      You get a new secret for <strong>{props.record.name}</strong>. The present one stops working when you
      say, so that there is time to put the new one in place.
    </p>
    <ApiKeyFacts record={props.record} />
    <Select
      name="overlap_secs"
      label="The present key stops working"
      hint="Choose “At once” where it may have leaked."
      options={overlaps}
      value="86400"
      error={errorOf(props.errors ?? [], 'overlap_secs')}
    />
  </Confirmation>
);
