import type { JSX } from 'preact';
import type { Notice } from '../layout.tsx';
import { ErrorSummary, errorOf, Field, type FieldError } from '../fields.tsx';
import { Confirm, Heading } from '../parts.tsx';
import { Time } from '../time.tsx';
import { Timeline, type ActRecord } from './activity.tsx';
import { consolePath, TenantPage, tenantPath } from './frame.tsx';
import { isPast, keep, type Moment } from './moment.tsx';
import type { TenantRecord } from './tenants.tsx';

/** One tenant, with the latest of what was done in it. */
export type TenantPageProps = {
  readonly tenant: TenantRecord;
  /** At most a handful, the newest first. */
  readonly acts: readonly ActRecord[];
  /** What API keys and service accounts that the acts name by their ids are called. */
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly nowMs: number;
  readonly notice?: Notice | undefined;
  readonly moment?: Moment | undefined;
};

const Steps = ({ id }: { readonly id: string }): JSX.Element => (
  <div class="columns">
    <section class="card step" aria-labelledby="users-title">
      <h2 id="users-title">Users</h2>
      <p>People. They sign in to the workspace, see what is in it and make API keys for their programs.</p>
      <a class="button quiet" href={tenantPath(id, 'users', 'new')}>
        Create user
      </a>
    </section>
    <section class="card step" aria-labelledby="accounts-title">
      <h2 id="accounts-title">Service accounts</h2>
      <p>Programs that mint short-lived credentials, each with a bearer of its own.</p>
      <a
        class="button quiet"
        href={`${consolePath('service-accounts', 'new')}?tenant=${encodeURIComponent(id)}`}
      >
        Create service account
      </a>
    </section>
  </div>
);

const End = ({ id }: { readonly id: string }): JSX.Element => (
  <section class="card end" aria-labelledby="end-title">
    <div>
      <h2 id="end-title">Delete this tenant</h2>
      <p>Ends it and everything in it at once.</p>
    </div>
    <a class="button danger" href={tenantPath(id, 'delete')}>
      Delete tenant
    </a>
  </section>
);

/** What a tenant is, what it can be given, what was done last, and the way to its end. */
export const TenantOverviewPage = (props: TenantPageProps): JSX.Element => {
  const { tenant, acts, names, nowMs, notice, moment } = props;
  return (
    <TenantPage tenant={tenant.id} title="Overview" section="overview" notice={notice} moment={moment}>
      <Heading
        title={tenant.id}
        about={
          <>
            Created <Time at={tenant.created_at} nowMs={nowMs} />
          </>
        }
      />
      {!isPast(moment) && <Steps id={tenant.id} />}
      <section aria-labelledby="latest-title">
        <h2 id="latest-title">Latest activity</h2>
        <Timeline acts={acts} names={names} nowMs={nowMs} />
        <a class="more" href={keep(tenantPath(tenant.id, 'activity'), moment)}>
          All activity
        </a>
      </section>
      {!isPast(moment) && <End id={tenant.id} />}
    </TenantPage>
  );
};

/** What is asked before a tenant is deleted. */
export type DeleteTenantPageProps = {
  readonly tenant: TenantRecord;
  readonly errors?: readonly FieldError[] | undefined;
};

/** Posts `id`, which has to be the tenant's, to its `/delete`. */
export const DeleteTenantPage = ({ tenant, errors = [] }: DeleteTenantPageProps): JSX.Element => (
  <TenantPage tenant={tenant.id} title="Delete tenant" section="overview">
    <Heading title={`Delete tenant ${tenant.id}`} />
    <Confirm
      action={tenantPath(tenant.id, 'delete')}
      button="Delete this tenant"
      cancelHref={tenantPath(tenant.id)}
      danger
    >
      <ErrorSummary errors={errors} />
      <p>
        <strong>{tenant.id}</strong> ends immediately, with everything in it. This can't be undone.
      </p>
      <ul class="ends">
        <li>Its users are signed out and can't sign in again.</li>
        <li>Its service accounts, and every credential that they minted, stop working.</li>
        <li>Its API keys stop working.</li>
        <li>Its agents, threads and workflows are gone.</li>
      </ul>
      <p class="hint">
        Its activity stays on record. Files in object storage are not deleted. A tenant that is made again
        under this ID starts empty.
      </p>
      <Field
        name="id"
        label={`Type “${tenant.id}” to confirm`}
        error={errorOf(errors, 'id')}
        input={{ autocomplete: 'off', autocapitalize: 'none', spellcheck: false, required: true }}
      />
    </Confirm>
  </TenantPage>
);
