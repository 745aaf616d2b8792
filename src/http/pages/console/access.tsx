import type { JSX } from 'preact';
import type { Access } from '../../../projections/access.ts';
import { ErrorSummary, errorOf, Field, Select, type FieldError, type Option } from '../fields.tsx';
import { Actor, DataTable, EmptyState, Heading, Pager, type Column } from '../parts.tsx';
import { Time } from '../time.tsx';
import { AccessChart, kindLabels, spanOf } from './access-chart.tsx';
import { namedActor } from './activity.tsx';
import { eventPath } from './filters.tsx';
import { consolePath, ConsolePage, roleLabels, TenantPage, tenantPath, withQuery } from './frame.tsx';
import { KeptMoment, type Moment } from './moment.tsx';
import type { Names } from './sentences.tsx';
import { fieldTime } from './times.ts';

/** What access is looked for by. Times are ISO 8601, or what was sent for one. */
export type AccessFilter = { readonly kind?: string; readonly from?: string; readonly to?: string };

/** One page of what let somebody in. */
export type AccessListProps = {
  /** The latest granted first. */
  readonly list: readonly Access[];
  readonly filter: AccessFilter;
  readonly errors?: readonly FieldError[] | undefined;
  readonly nextHref?: string | undefined;
  /** What service accounts are called that the list names by their ids. */
  readonly names?: Names | undefined;
  readonly nowMs: number;
  readonly moment?: Moment | undefined;
};

/** Where everything is that a principal ever got into. */
export const principalPath = (principal: string): string => withQuery(consolePath('access'), { principal });

const kinds: readonly Option[] = [
  { value: '', label: 'Any' },
  ...Object.entries(kindLabels).map(([value, label]) => ({ value, label })),
];

const PeriodForm = (
  props: Pick<AccessListProps, 'filter' | 'errors' | 'moment'> & {
    readonly action: string;
    /** What is asked for besides. */
    readonly principal?: string;
  },
): JSX.Element => {
  const { filter, errors = [], principal } = props;
  const time = (name: 'from' | 'to', label: string) => (
    <Field
      name={name}
      label={label}
      error={errorOf(errors, name)}
      input={{ type: 'datetime-local', step: 'any', value: fieldTime(filter[name]) }}
    />
  );
  return (
    <form class="card period" method="get" action={props.action} noValidate>
      <ErrorSummary errors={errors} />
      <KeptMoment moment={props.moment} />
      <div class="fields">
        {principal === undefined ? (
          <Select
            name="kind"
            label="Kind"
            options={kinds}
            value={filter.kind ?? ''}
            error={errorOf(errors, 'kind')}
          />
        ) : (
          <input type="hidden" name="principal" value={principal} />
        )}
        {time('from', 'From (UTC)')}
        {time('to', 'To (UTC)')}
        <div class="actions">
          <button type="submit">Show access</button>
        </div>
      </div>
    </form>
  );
};

type FoundProps = AccessListProps & {
  /** They are of one principal, of whom each says in which tenant. */
  readonly ofOne: boolean;
};

const EventLink = (props: {
  readonly event: { readonly id: string; readonly position: string; readonly type: string };
  readonly of: string;
}): JSX.Element => (
  <a href={eventPath(props.event)}>
    {props.event.type}
    <span class="sr"> of {props.of}</span>
  </a>
);

const Ended = (props: Pick<Access, 'ended_by' | 'name'> & { readonly names: Names }): JSX.Element => {
  const { ended_by, name, names } = props;
  if (ended_by === null) return <span class="none">Not ended</span>;
  if (ended_by.kind === 'expiry') return <>Expiry</>;
  return (
    <>
      <EventLink event={ended_by} of={name} />
      <span class="scope">
        by <Actor actor={namedActor(ended_by.actor, names)} />
        {ended_by.kind === 'cascade' && ', with what it hung from'}
      </span>
    </>
  );
};

const columnsOf = ({ nowMs, ofOne, names = new Map() }: FoundProps): readonly Column<Access>[] => [
  ofOne
    ? { header: 'Tenant', cell: ({ tenant }) => <a href={tenantPath(tenant, 'access')}>{tenant}</a> }
    : {
        header: 'Who',
        cell: ({ name, principal }) => (
          <>
            <a href={principalPath(principal)}>{name}</a>
            <code class="id">{principal}</code>
          </>
        ),
      },
  {
    header: 'As',
    cell: ({ kind, role, write_schemas, generation }) => (
      <>
        {kindLabels[kind]}, {roleLabels[role]}
        {write_schemas !== undefined && <span class="scope">writes to {write_schemas.join(', ')}</span>}
        {generation !== undefined && <span class="scope">secret {generation}</span>}
      </>
    ),
  },
  { header: 'From', cell: ({ from }) => <Time at={from} nowMs={nowMs} /> },
  {
    header: 'Until',
    cell: ({ until }) =>
      until === null ? <span class="none">No end is known</span> : <Time at={until} nowMs={nowMs} />,
  },
  {
    header: 'Granted by',
    cell: ({ granted_by, name }) => (
      <>
        <EventLink event={granted_by} of={name} />
        <span class="scope">
          by <Actor actor={namedActor(granted_by.actor, names)} />
        </span>
      </>
    ),
  },
  {
    header: 'Ended by',
    cell: ({ ended_by, name }) => <Ended ended_by={ended_by} name={name} names={names} />,
  },
];

const hasEnded = ({ until }: Access, nowMs: number): boolean => until !== null && Date.parse(until) <= nowMs;

const Found = (props: FoundProps): JSX.Element => {
  const { list, filter, errors = [], nextHref, nowMs } = props;
  if (errors.length > 0) return <></>;
  return list.length === 0 ? (
    <>
      <EmptyState title={nextHref === undefined ? 'Nobody' : 'Nobody so far'}>
        <p>
          {nextHref === undefined
            ? 'Nobody of this kind could get in at that time.'
            : 'Nobody among those that were looked at. Look further on the next page.'}
        </p>
      </EmptyState>
      <Pager nextHref={nextHref} />
    </>
  ) : (
    <>
      <AccessChart list={list} span={spanOf(list, filter, nowMs)} />
      <DataTable
        id="access"
        caption="Access"
        columns={columnsOf(props)}
        rows={list}
        isFaded={(access) => hasEnded(access, nowMs)}
      />
      <Pager nextHref={nextHref} />
    </>
  );
};

/** Who could get into a tenant, its earlier lives included, as what, and from when until when. */
export const AccessPage = (
  props: AccessListProps & {
    readonly tenant: string;
    /** The tenant is deleted; who could get in is still known. */
    readonly gone: boolean;
  },
): JSX.Element => (
  <TenantPage tenant={props.tenant} title="Access" section="access" gone={props.gone} moment={props.moment}>
    <Heading
      title="Access"
      about="Who could get in, as what, from when until when. Without times, everything that ever was. Times are in UTC."
    />
    <PeriodForm {...props} action={tenantPath(props.tenant, 'access')} />
    <Found {...props} ofOne={false} />
  </TenantPage>
);

/** Everything that one principal could ever get into. */
export const PrincipalAccessPage = (props: AccessListProps & { readonly principal: string }): JSX.Element => (
  <ConsolePage title={`Access of ${props.principal}`} current="tenants">
    <Heading
      title={`Access of ${props.principal}`}
      back={{ href: consolePath(), text: 'Tenants' }}
      about="Everything that it could get into, from when until when. Times are in UTC."
    />
    <PeriodForm {...props} action={consolePath('access')} />
    <Found {...props} ofOne />
  </ConsolePage>
);
