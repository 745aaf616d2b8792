import type { JSX } from 'preact';
import type { Role } from '../../schemas.ts';
import type { Notice } from '../layout.tsx';
import { ErrorSummary, type FieldError } from '../fields.tsx';
import {
  Confirm,
  DataTable,
  EmptyState,
  Heading,
  Pager,
  Status,
  type Column,
  type StatusName,
} from '../parts.tsx';
import { Time } from '../time.tsx';
import { roleLabels, TenantPage, tenantPath } from './frame.tsx';
import { isPast, type Moment } from './moment.tsx';

/** A minted credential without its password. */
export type CredentialRecord = {
  readonly username: string;
  readonly tenant: string;
  readonly subject: string;
  readonly role: Role;
  /** There for a writer that may write to these schemas only. */
  readonly write_schemas?: readonly string[] | undefined;
  readonly service_account_id: string;
  readonly minted_at: string;
  readonly expires_at: string;
  readonly status: StatusName;
};

/** One page of the list. */
export type CredentialsPageProps = {
  readonly tenant: string;
  readonly credentials: readonly CredentialRecord[];
  /** What the service accounts are called, by their ids; one that is gone has its id alone. */
  readonly accounts: ReadonlyMap<string, string>;
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
  readonly notice?: Notice | undefined;
  readonly moment?: Moment | undefined;
};

const revokePath = (tenant: string, username: string): string =>
  tenantPath(tenant, 'credentials', username, 'revoke');

const Scope = ({ record }: { readonly record: CredentialRecord }): JSX.Element => (
  <>
    {roleLabels[record.role]}
    {record.write_schemas !== undefined && (
      <span class="scope">
        writes to <code>{record.write_schemas.join(', ')}</code>
      </span>
    )}
  </>
);

const actions: Column<CredentialRecord> = {
  header: 'Actions',
  hideHeader: true,
  cell: (record) =>
    record.status === 'active' ? (
      <span class="row-actions">
        <a class="danger" href={revokePath(record.tenant, record.username)}>
          Revoke<span class="sr"> {record.username}</span>
        </a>
      </span>
    ) : null,
};

const columnsOf = ({
  accounts,
  nowMs,
  moment,
}: CredentialsPageProps): readonly Column<CredentialRecord>[] => [
  {
    header: 'Subject',
    cell: ({ subject, username }) => (
      <>
        {subject}
        <code class="id">{username}</code>
      </>
    ),
  },
  { header: 'Status', cell: ({ status }) => <Status status={status} /> },
  { header: 'Role', cell: (record) => <Scope record={record} /> },
  { header: 'Minted', cell: ({ minted_at }) => <Time at={minted_at} nowMs={nowMs} /> },
  { header: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} nowMs={nowMs} /> },
  {
    header: 'Minted by',
    cell: ({ service_account_id: id }) => <span class="actor">{accounts.get(id) ?? id}</span>,
  },
  ...(isPast(moment) ? [] : [actions]),
];

const NoCredentials = ({ tenant, moment }: CredentialsPageProps): JSX.Element =>
  isPast(moment) ? (
    <EmptyState title="There were no credentials" />
  ) : (
    <EmptyState title="No credentials yet">
      <p>
        A service account of this tenant mints them. Its page shows, once, the bearer to do it with and a
        command to try.
      </p>
      <p>
        <a class="button" href={tenantPath(tenant, 'service-accounts')}>
          See service accounts
        </a>
      </p>
    </EmptyState>
  );

/** What the service accounts of a tenant minted, those that no longer work faded. */
export const CredentialsPage = (props: CredentialsPageProps): JSX.Element => (
  <TenantPage
    tenant={props.tenant}
    title="Credentials"
    section="credentials"
    notice={props.notice}
    moment={props.moment}
  >
    <Heading
      title="Credentials"
      about="Short-lived usernames and passwords that service accounts mint for whoever connects."
    />
    {props.credentials.length === 0 ? (
      <NoCredentials {...props} />
    ) : (
      <>
        <DataTable
          id="credentials"
          caption="Credentials"
          columns={columnsOf(props)}
          rows={props.credentials}
          isFaded={({ status }) => status !== 'active'}
        />
        <Pager nextHref={props.nextHref} />
      </>
    )}
  </TenantPage>
);

/** What is asked before a credential is revoked. */
export type RevokeCredentialPageProps = {
  readonly tenant: string;
  readonly record: CredentialRecord;
  readonly errors?: readonly FieldError[] | undefined;
};

const CredentialFacts = ({ record }: { readonly record: CredentialRecord }): JSX.Element => (
  <dl class="facts">
    <dt>Username</dt>
    <dd>
      <code>{record.username}</code>
    </dd>
    <dt>Subject</dt>
    <dd>{record.subject}</dd>
    <dt>Role</dt>
    <dd>
      <Scope record={record} />
    </dd>
    <dt>Expires</dt>
    <dd>
      <Time at={record.expires_at} />
    </dd>
  </dl>
);

/** Posts nothing but itself to the credential's `/revoke`. */
export const RevokeCredentialPage = (props: RevokeCredentialPageProps): JSX.Element => {
  const list = tenantPath(props.tenant, 'credentials');
  return (
    <TenantPage tenant={props.tenant} title="Revoke credential" section="credentials">
      <Heading title="Revoke credential" back={{ href: list, text: 'Credentials' }} />
      <Confirm
        action={revokePath(props.tenant, props.record.username)}
        button="Revoke this credential"
        cancelHref={list}
        danger
      >
        <ErrorSummary errors={props.errors ?? []} />
        <p>
          The credential of <strong>{props.record.subject}</strong> stops working immediately, everywhere.
          This can't be undone.
        </p>
        <CredentialFacts record={props.record} />
      </Confirm>
    </TenantPage>
  );
};
