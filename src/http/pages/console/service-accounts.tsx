import type { JSX } from 'preact';
import type { ServiceAccount } from '../../../projections/service-accounts.ts';
import type { Notice } from '../layout.tsx';
import { DataTable, EmptyState, Heading, Pager, type Column } from '../parts.tsx';
import { Time } from '../time.tsx';
import { consolePath, ConsolePage, durationText, roleLabels, TenantPage, tenantPath } from './frame.tsx';
import { isPast, keep, type Moment } from './moment.tsx';

/** A service account as the API answers it, without its bearers. */
export type ServiceAccountRecord = Omit<ServiceAccount, 'incarnation'>;

/** Where something about a service account is. */
export const accountPath = ({ id }: Pick<ServiceAccountRecord, 'id'>, act: 'rotate' | 'delete'): string =>
  consolePath('service-accounts', id, act);

const actions: Column<ServiceAccountRecord> = {
  header: 'Actions',
  hideHeader: true,
  cell: (account) => (
    <span class="row-actions">
      <a href={accountPath(account, 'rotate')}>
        Rotate<span class="sr"> the bearer of {account.name}</span>
      </a>
      <a class="danger" href={accountPath(account, 'delete')}>
        Delete<span class="sr"> {account.name}</span>
      </a>
    </span>
  ),
};

const ofWhich = (moment: Moment | undefined): Column<ServiceAccountRecord> => ({
  header: 'Tenant',
  cell: ({ tenant_id }) => <a href={keep(tenantPath(tenant_id), moment)}>{tenant_id}</a>,
});

/** One page of the list: of one tenant, or of all where none is given. */
export type ServiceAccountsPageProps = {
  readonly tenant?: string | undefined;
  readonly accounts: readonly ServiceAccountRecord[];
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
  readonly notice?: Notice | undefined;
  readonly moment?: Moment | undefined;
};

const columnsOf = ({
  tenant,
  nowMs,
  moment,
}: ServiceAccountsPageProps): readonly Column<ServiceAccountRecord>[] => [
  {
    header: 'Name',
    cell: ({ name, id }) => (
      <>
        {name}
        <code class="id">{id}</code>
      </>
    ),
  },
  ...(tenant === undefined ? [ofWhich(moment)] : []),
  { header: 'Highest role', cell: ({ max_role }) => roleLabels[max_role] },
  { header: 'Longest credential', cell: ({ max_ttl_secs }) => durationText(max_ttl_secs) },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} nowMs={nowMs} brief /> },
  ...(isPast(moment) ? [] : [actions]),
];

const newPath = (tenant: string | undefined): string =>
  consolePath('service-accounts', 'new') +
  (tenant === undefined ? '' : `?tenant=${encodeURIComponent(tenant)}`);

const NoAccounts = (props: { readonly isPast: boolean; readonly create: JSX.Element }): JSX.Element =>
  props.isPast ? (
    <EmptyState title="There were no service accounts" />
  ) : (
    <EmptyState title="No service accounts yet">
      <p>Create one, and put its bearer where the program that mints credentials finds it.</p>
      <p>{props.create}</p>
    </EmptyState>
  );

const List = (props: ServiceAccountsPageProps): JSX.Element => {
  const { tenant, accounts, nextHref, moment } = props;
  const create = (
    <a class="button" href={newPath(tenant)}>
      Create service account
    </a>
  );
  // Of one tenant there may be none on this page, and some on a later one.
  const isEmpty = accounts.length === 0 && nextHref === undefined;
  return (
    <>
      <Heading
        title="Service accounts"
        about="Programs that mint short-lived credentials for one tenant. Each signs in with a bearer that is shown once."
      >
        {!isEmpty && !isPast(moment) && create}
      </Heading>
      {isEmpty ? (
        <NoAccounts isPast={isPast(moment)} create={create} />
      ) : (
        <>
          <DataTable id="accounts" caption="Service accounts" columns={columnsOf(props)} rows={accounts} />
          <Pager nextHref={nextHref} />
        </>
      )}
    </>
  );
};

/** The machine identities that there are. */
export const ServiceAccountsPage = (props: ServiceAccountsPageProps): JSX.Element =>
  props.tenant === undefined ? (
    <ConsolePage
      title="Service accounts"
      current="service-accounts"
      notice={props.notice}
      moment={props.moment}
    >
      <List {...props} />
    </ConsolePage>
  ) : (
    <TenantPage
      tenant={props.tenant}
      title="Service accounts"
      section="service-accounts"
      notice={props.notice}
      moment={props.moment}
    >
      <List {...props} />
    </TenantPage>
  );
