import type { JSX } from 'preact';
import { ApiKeyFacts, ApiKeyTable, type ApiKeyRecord } from '../api-keys.tsx';
import type { Notice } from '../layout.tsx';
import { ErrorSummary, type FieldError } from '../fields.tsx';
import { Confirm, EmptyState, Heading, type Column } from '../parts.tsx';
import { TenantPage, tenantPath } from './frame.tsx';
import { isPast, type Moment } from './moment.tsx';

/** One page of the list. */
export type TenantApiKeysPageProps = {
  readonly tenant: string;
  readonly keys: readonly ApiKeyRecord[];
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
  readonly notice?: Notice | undefined;
  readonly moment?: Moment | undefined;
};

const revokePath = (tenant: string, id: string): string => tenantPath(tenant, 'api-keys', id, 'revoke');

const actions: Column<ApiKeyRecord> = {
  header: 'Actions',
  hideHeader: true,
  cell: ({ workspace_id, id, name, status }) =>
    status === 'active' ? (
      <span class="row-actions">
        <a class="danger" href={revokePath(workspace_id, id)}>
          Revoke<span class="sr"> {name}</span>
        </a>
      </span>
    ) : null,
};

const NoKeys = ({ tenant, moment }: TenantApiKeysPageProps): JSX.Element =>
  isPast(moment) ? (
    <EmptyState title="There were no API keys" />
  ) : (
    <EmptyState title="No API keys yet">
      <p>A user of this tenant makes them, after signing in to the workspace.</p>
      <p>
        <a class="button" href={tenantPath(tenant, 'users')}>
          See users
        </a>
      </p>
    </EmptyState>
  );

/** The API keys that the users of a tenant made; the operator can end them, and make none. */
export const TenantApiKeysPage = (props: TenantApiKeysPageProps): JSX.Element => {
  const { tenant, keys, nextHref, nowMs, moment } = props;
  return (
    <TenantPage tenant={tenant} title="API keys" section="api-keys" notice={props.notice} moment={moment}>
      <Heading
        title="API keys"
        about="Programs use them to call the API of the workspace. Its users make them; here they can be revoked."
      />
      {keys.length === 0 ? (
        <NoKeys {...props} />
      ) : (
        <ApiKeyTable
          keys={keys}
          actions={isPast(moment) ? undefined : actions}
          nextHref={nextHref}
          nowMs={nowMs}
        />
      )}
    </TenantPage>
  );
};

/** What is asked before the operator revokes a key. */
export type RevokeTenantApiKeyPageProps = {
  readonly tenant: string;
  readonly record: ApiKeyRecord;
  readonly errors?: readonly FieldError[] | undefined;
};

/** Posts nothing but itself to the key's `/revoke`. */
export const RevokeTenantApiKeyPage = (props: RevokeTenantApiKeyPageProps): JSX.Element => {
  const list = tenantPath(props.tenant, 'api-keys');
  return (
    <TenantPage tenant={props.tenant} title="Revoke API key" section="api-keys">
      <Heading title="Revoke API key" back={{ href: list, text: 'API keys' }} />
      <Confirm
        action={revokePath(props.tenant, props.record.id)}
        button="Revoke this key"
        cancelHref={list}
        danger
      >
        <ErrorSummary errors={props.errors ?? []} />
        <p>
          <strong>{props.record.name}</strong> stops working immediately, everywhere. Programs that use it are
          refused from then on. This can't be undone.
        </p>
        <ApiKeyFacts record={props.record} />
      </Confirm>
    </TenantPage>
  );
};
