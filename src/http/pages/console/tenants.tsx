import type { JSX } from 'preact';
import type { Notice } from '../layout.tsx';
import { errorOf, Field, type FieldError } from '../fields.tsx';
import { DataTable, EmptyState, Heading, Pager } from '../parts.tsx';
import { Time } from '../time.tsx';
import { consolePath, ConsolePage, tenantPath } from './frame.tsx';
import { isPast, keep, type Moment } from './moment.tsx';

const idCharsMax = 63;

/** A tenant, which its users know as a workspace. */
export type TenantRecord = { readonly id: string; readonly created_at: string };

/** One page of the list, and the form that makes a tenant. */
export type TenantsPageProps = {
  readonly tenants: readonly TenantRecord[];
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
  /** What the form was sent with, where it was refused. */
  readonly id?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  readonly notice?: Notice | undefined;
  readonly moment?: Moment | undefined;
};

const CreateTenant = ({ id, errors }: Pick<TenantsPageProps, 'id' | 'errors'>): JSX.Element => (
  <form class="one-field" method="post" action={consolePath('tenants')} noValidate>
    <Field
      name="id"
      label="ID of the new tenant"
      hint="1 to 63 letters, digits, “_” or “-”. It can't be changed."
      error={errorOf(errors ?? [], 'id')}
      input={{
        value: id,
        maxLength: idCharsMax,
        autocomplete: 'off',
        autocapitalize: 'none',
        spellcheck: false,
        required: true,
      }}
    />
    <button type="submit">Create tenant</button>
  </form>
);

const TenantTable = ({ tenants, nowMs, moment }: TenantsPageProps): JSX.Element => (
  <DataTable
    id="tenants"
    caption="Tenants"
    rows={tenants}
    columns={[
      { header: 'ID', cell: ({ id }) => <a href={keep(tenantPath(id), moment)}>{id}</a> },
      { header: 'Created', cell: ({ created_at }) => <Time at={created_at} nowMs={nowMs} /> },
      {
        header: 'Actions',
        hideHeader: true,
        cell: ({ id }) => (
          <span class="row-actions">
            <a href={keep(tenantPath(id, 'activity'), moment)}>
              Activity<span class="sr"> of {id}</span>
            </a>
            {!isPast(moment) && (
              <a class="danger" href={tenantPath(id, 'delete')}>
                Delete<span class="sr"> {id}</span>
              </a>
            )}
          </span>
        ),
      },
    ]}
  />
);

const NoTenants = (props: TenantsPageProps): JSX.Element =>
  isPast(props.moment) ? (
    <EmptyState title="There were no tenants" />
  ) : (
    <EmptyState title="No tenants yet">
      <p>Create the first one, and then its users or service accounts.</p>
      <CreateTenant id={props.id} errors={props.errors} />
    </EmptyState>
  );

/** Where the operator starts. The form posts `id` to `/console/tenants`. */
export const TenantsPage = (props: TenantsPageProps): JSX.Element => (
  <ConsolePage title="Tenants" current="tenants" notice={props.notice} moment={props.moment}>
    <Heading
      title="Tenants"
      about="A tenant is a database that clients connect to, and the workspace of its users."
    />
    {props.tenants.length === 0 ? (
      <NoTenants {...props} />
    ) : (
      <>
        {!isPast(props.moment) && (
          <section class="card" aria-label="Create a tenant">
            <CreateTenant id={props.id} errors={props.errors} />
          </section>
        )}
        <TenantTable {...props} />
        <Pager nextHref={props.nextHref} />
      </>
    )}
  </ConsolePage>
);
