import type { JSX } from 'preact';
import type { Act } from '../../../projections/activity.ts';
import type { Notice } from '../layout.tsx';
import { Actor, Code, dayText, EmptyState, Heading, instantText, Pager } from '../parts.tsx';
import { TenantPage } from './frame.tsx';
import { namesIn, sentences, type Names } from './sentences.tsx';

const dayMs = 86_400_000;

/** One event of a tenant, as the API shows it; its place in the log is not shown. */
export type ActRecord = Omit<Act, 'position'>;

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
const namedActor = (actor: string, names: Names): string => {
  const [kind = '', ...rest] = actor.split(':');
  const name = names.get(rest.join(':'));
  return name === undefined ? actor : `${kind}:${name}`;
};

const By = ({ act, names }: { readonly act: ActRecord; readonly names: Names }): JSX.Element => (
  <p class="by">
    <span>
      <span class="sr">by </span>
      <Actor actor={namedActor(act.actor, names)} />
    </span>
    {act.address !== null && (
      <span>
        <span class="sr">from </span>
        {act.address}
      </span>
    )}
    <span>
      request <code>{act.correlation_id}</code>
    </span>
  </p>
);

const ActItem = ({ act, names }: { readonly act: ActRecord; readonly names: Names }): JSX.Element => (
  <li>
    <time dateTime={act.time} title={instantText(act.time)}>
      {act.time.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm:ss'.length)}
    </time>
    <div>
      <p>{sentences[act.type]?.(act.data, names) ?? <strong>{act.type}</strong>}</p>
      {act.reason !== null && (
        <p class="reason">
          <span class="sr">Reason: </span>“{act.reason}”
        </p>
      )}
      <By act={act} names={names} />
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

/** What a list of acts is made of. */
export type TimelineProps = {
  /** The newest first. */
  readonly acts: readonly ActRecord[];
  /** What is called by an id of which the acts themselves say no name. */
  readonly names?: Names | undefined;
  readonly nowMs: number;
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
              <ActItem act={act} names={names} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
};

/** One page of the activity. */
export type ActivityPageProps = TimelineProps & {
  readonly tenant: string;
  /** The tenant is deleted; what was done in it is still known. */
  readonly gone: boolean;
  readonly nextHref?: string | undefined;
  readonly notice?: Notice | undefined;
};

/** Everything that was done in a tenant and in earlier ones of the same id, with who, when, from where and why. */
export const ActivityPage = (props: ActivityPageProps): JSX.Element => (
  <TenantPage
    tenant={props.tenant}
    title="Activity"
    section="activity"
    gone={props.gone}
    notice={props.notice}
  >
    <Heading
      title="Activity"
      about={
        props.gone
          ? 'This tenant is deleted. What was done in it stays on record.'
          : 'Every change, with who made it, from where and why. Times are in UTC.'
      }
    />
    {props.acts.length === 0 ? (
      <EmptyState title="Nothing here" />
    ) : (
      <Timeline acts={props.acts} names={props.names} nowMs={props.nowMs} under="h1" />
    )}
    <Pager nextHref={props.nextHref} />
  </TenantPage>
);
