import type { JSX } from 'preact';
import type { Act } from '../../../projections/activity.ts';
import type { Notice } from '../layout.tsx';
import { type FieldError } from '../fields.tsx';
import { Actor, Code, EmptyState, Heading } from '../parts.tsx';
import { dayText, instantText } from '../time.tsx';
import { eventPath, eventsPath, FilterForm, isFiltered, type EventFilter } from './filters.tsx';
import { TenantPage, tenantPath, withQuery } from './frame.tsx';
import { keep, type Moment } from './moment.tsx';
import { namesIn, Sentence, type Names } from './sentences.tsx';
import { Turn, type Turning } from './turning.tsx';

const dayMs = 86_400_000;

/** One event, as the API shows it; its place in the log finds it. The log itself says of which tenant it is. */
export type ActRecord = Omit<Act, 'position'> & {
  readonly position?: string;
  readonly tenant_id?: string | null;
};

const dayOf = (at: string): string => at.slice(0, 'yyyy-mm-dd'.length);

/** The acts as they come, those of one day (UTC) together. */
const byDay = (acts: readonly ActRecord[]): ReadonlyMap<string, readonly ActRecord[]> => {
  const days = new Map<string, ActRecord[]>();
  for (const act of acts) {
    const day = dayOf(act.time);
    days.set(day, [...(days.get(day) ?? []), act]);
  }
  return days;
};

const nearDay = (day: string, nowMs: number): string | undefined => {
  if (day === dayOf(new Date(nowMs).toISOString())) return 'Today';
  return day === dayOf(new Date(nowMs - dayMs).toISOString()) ? 'Yesterday' : undefined;
};

/** A service account or an API key by what it is called, where that is known. */
export const namedActor = (actor: string, names: Names): string => {
  const [kind = '', ...rest] = actor.split(':');
  const name = names.get(rest.join(':'));
  return name === undefined ? actor : `${kind}:${name}`;
};

type ItemProps = {
  readonly act: ActRecord;
  readonly names: Names;
  readonly showTenant?: boolean | undefined;
};

const By = ({ act, names, showTenant }: ItemProps): JSX.Element => (
  <p class="by">
    <span>
      <span class="sr">by </span>
      <a href={eventsPath({ actor: act.actor })}>
        <Actor actor={namedActor(act.actor, names)} />
      </a>
    </span>
    {act.address !== null && (
      <span>
        <span class="sr">from </span>
        {act.address}
      </span>
    )}
    {showTenant === true && typeof act.tenant_id === 'string' && (
      <span>
        tenant <a href={tenantPath(act.tenant_id, 'activity')}>{act.tenant_id}</a>
      </span>
    )}
    <span>
      request{' '}
      <a href={eventsPath({ correlation_id: act.correlation_id })}>
        <code>{act.correlation_id}</code>
      </a>
    </span>
    <a href={eventPath(act)}>
      Event<span class="sr"> {act.id}</span>
    </a>
  </p>
);

const ActItem = (props: ItemProps): JSX.Element => {
  const { act, names } = props;
  return (
    <li>
      <time dateTime={act.time} title={instantText(act.time)}>
        {act.time.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm:ss'.length)}
      </time>
      <div>
        <p>
          <Sentence of={act} names={names} />
        </p>
        {act.reason !== null && (
          <p class="reason">
            <span class="sr">Reason: </span>“{act.reason}”
          </p>
        )}
        <By {...props} />
        <details>
          <summary>
            Details<span class="sr"> of {act.type}</span>
          </summary>
          <p>
            <code>{act.type}</code>
          </p>
          <Code id={`data-${act.id}`} label="the data" text={JSON.stringify(act.data, null, 2)} />
        </details>
      </div>
    </li>
  );
};

/** What a list of acts is made of. */
export type TimelineProps = {
  /** In the order in which they are shown. */
  readonly acts: readonly ActRecord[];
  /** What is called by an id of which the acts themselves say no name. */
  readonly names?: Names | undefined;
  readonly nowMs: number;
  /** They are of several tenants, so that each says of which. */
  readonly showTenant?: boolean | undefined;
};

/** Acts as sentences, by day. Its headings are below an `<h2>`, or instead of one. */
export const Timeline = (props: TimelineProps & { readonly under?: 'h1' | 'h2' }): JSX.Element => {
  const names = new Map([...(props.names ?? []), ...namesIn(props.acts)]);
  const Day = props.under === 'h1' ? 'h2' : 'h3';
  return (
    <>
      {[...byDay(props.acts)].map(([day, acts]) => (
        <section class="card day" aria-labelledby={`day-${day}`}>
          <Day id={`day-${day}`}>
            <time dateTime={day}>{dayText(day)}</time>
            <span>{nearDay(day, props.nowMs)}</span>
          </Day>
          <ol class="timeline">
            {acts.map((act) => (
              <ActItem act={act} names={names} showTenant={props.showTenant} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
};

/** What is looked for on a page of acts, and the ways on from it. */
export type FoundProps = TimelineProps &
  Turning & {
    readonly filter?: EventFilter | undefined;
    readonly errors?: readonly FieldError[] | undefined;
    readonly moment?: Moment | undefined;
  };

/** In place of acts where there are none: of so long a log one page looks only through a part. */
const NoActs = (props: FoundProps & { readonly action: string }): JSX.Element => {
  const { filter = {}, olderHref, newerHref } = props;
  if (!isFiltered(filter)) return <EmptyState title="Nothing here" />;
  const isPart = (filter.order === 'asc' ? newerHref : olderHref) !== undefined;
  return (
    <EmptyState title={isPart ? 'Nothing found so far' : 'Nothing found'}>
      <p>
        {isPart
          ? 'None of the events that were looked at has all of this. Look further on the next page.'
          : 'No event has all of this.'}
      </p>
      <p>
        <a href={keep(props.action, props.moment)}>Clear the filter</a>
      </p>
    </EmptyState>
  );
};

/** The form by which acts are looked for, those that were found, and the ways on. Stands below the `<h1>`. */
export const FoundActs = (
  props: FoundProps & { readonly action: string; readonly ofTenant?: boolean },
): JSX.Element => {
  const { filter = {}, errors = [] } = props;
  return (
    <>
      <FilterForm
        action={props.action}
        filter={filter}
        ofTenant={props.ofTenant === true}
        errors={errors}
        moment={props.moment}
      />
      {props.acts.length > 0 && (
        <Timeline
          acts={props.acts}
          names={props.names}
          nowMs={props.nowMs}
          showTenant={props.showTenant}
          under="h1"
        />
      )}
      {props.acts.length === 0 && errors.length === 0 && <NoActs {...props} />}
      <Turn olderHref={props.olderHref} newerHref={props.newerHref} oldestFirst={filter.order === 'asc'} />
    </>
  );
};

/** One page of the activity. */
export type ActivityPageProps = FoundProps & {
  readonly tenant: string;
  /** The tenant is deleted; what was done in it is still known. */
  readonly gone: boolean;
  readonly notice?: Notice | undefined;
};

/** The way to what a tenant was just before it was deleted, where these acts say when that was. */
const AsItWas = ({ tenant, acts }: ActivityPageProps): JSX.Element | null => {
  const end = acts.find(({ type }) => type === 'TenantDeleted');
  if (end === undefined) return null;
  const before = new Date(Date.parse(end.time) - 1).toISOString();
  return (
    <a class="button quiet" href={withQuery(tenantPath(tenant), { as_of: before })}>
      See it as it was
    </a>
  );
};

/** Everything that was done in a tenant and in earlier ones of the same id, with who, when, from where and why. */
export const ActivityPage = (props: ActivityPageProps): JSX.Element => (
  <TenantPage
    tenant={props.tenant}
    title="Activity"
    section="activity"
    gone={props.gone}
    notice={props.notice}
    moment={props.moment}
  >
    <Heading
      title="Activity"
      about={
        props.gone
          ? 'This tenant is deleted. What was done in it stays on record.'
          : 'Every change, with who made it, from where and why. Times are in UTC.'
      }
    >
      {props.gone && <AsItWas {...props} />}
    </Heading>
    <FoundActs {...props} action={tenantPath(props.tenant, 'activity')} ofTenant />
  </TenantPage>
);
