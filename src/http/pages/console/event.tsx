import type { JSX } from 'preact';
import { Actor, Code, DataTable, Heading } from '../parts.tsx';
import { Time } from '../time.tsx';
import { namedActor, type ActRecord } from './activity.tsx';
import { ChainSection, type ChainRecord } from './chain.tsx';
import { eventsPath } from './filters.tsx';
import { consolePath, ConsolePage, tenantPath, withQuery } from './frame.tsx';
import { ProofSection, type ProofRecord } from './proof.tsx';
import { namesIn, Sentence, type Names } from './sentences.tsx';

/** Members of the data in the table; of an event that says more the rest stands in the JSON alone. */
const memberRowsMax = 50;

/** What gives out the bearer, key or session with which other things are done. */
const giving: ReadonlySet<string> = new Set([
  'ServiceAccountCreated',
  'ServiceAccountBearerRotated',
  'ApiKeyCreated',
  'ApiKeyRolled',
  'UserSignedIn',
  'OperatorSignedIn',
]);

/** Characters of one value in the table; the JSON has it whole. */
const valueCharsMax = 300;

/** One event with all that the log has of it but its secrets. */
export type EventRecord = ActRecord & {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly version: number;
  readonly tenant_id: string | null;
  readonly user_agent: string | null;
  readonly causation_id: string | null;
  readonly token: string | null;
  /** SHA-256, base64; `null` on what was written before events had one. */
  readonly hash: string | null;
  /** The hash of the event before it in its stream. */
  readonly previous: string | null;
};

/** One event, what led to it, what its request did, and the proof that the log has it. */
export type EventPageProps = {
  readonly event: EventRecord;
  readonly chain: ChainRecord;
  /** `unsealed` while no checkpoint covers the event. */
  readonly proof: ProofRecord | 'unsealed';
  readonly names?: Names | undefined;
  readonly nowMs: number;
};

const None = (): JSX.Element => <span class="none">Not recorded</span>;

/** Why an event names no other one before it. */
const NoPrevious = ({ event }: { readonly event: EventRecord }): JSX.Element =>
  event.revision === 0 ? <span class="none">None: it is the first of its stream</span> : <None />;

const Who = ({ event, names }: { readonly event: EventRecord; readonly names: Names }): JSX.Element => (
  <>
    <dt>Who</dt>
    <dd>
      <a href={eventsPath({ actor: event.actor })}>
        <Actor actor={namedActor(event.actor, names)} />
      </a>{' '}
      <code>{event.actor}</code>
    </dd>
    <dt>Token</dt>
    <dd>{event.token === null ? <None /> : <code>{event.token}</code>}</dd>
    <dt>From</dt>
    <dd>{event.address ?? <None />}</dd>
    <dt>With</dt>
    <dd>{event.user_agent ?? <None />}</dd>
    <dt>Why</dt>
    <dd>{event.reason === null ? <None /> : `“${event.reason}”`}</dd>
  </>
);

/** What stands behind it in the log: nothing before it has to be looked at. */
const effectsPath = ({ id, position }: EventRecord): string =>
  eventsPath({ causation_id: id, order: 'asc', after: position });

const Origin = ({ event }: { readonly event: EventRecord }): JSX.Element => (
  <>
    <dt>Request</dt>
    <dd>
      <a href={eventsPath({ correlation_id: event.correlation_id })}>
        <code>{event.correlation_id}</code>
      </a>
    </dd>
    {event.causation_id !== null && (
      <>
        <dt>Caused by</dt>
        <dd>
          <a href={consolePath('events', event.causation_id)}>
            <code>{event.causation_id}</code>
          </a>
        </dd>
      </>
    )}
    {giving.has(event.type) && (
      <>
        <dt>Effects</dt>
        <dd>
          <a href={effectsPath(event)}>What it led to</a>
        </dd>
      </>
    )}
    {event.tenant_id !== null && (
      <>
        <dt>Tenant</dt>
        <dd>
          <a href={tenantPath(event.tenant_id, 'activity')}>{event.tenant_id}</a>,{' '}
          <a href={withQuery(tenantPath(event.tenant_id), { as_of: event.time })}>as it was then</a>
        </dd>
      </>
    )}
  </>
);

const Place = ({ event }: { readonly event: EventRecord }): JSX.Element => (
  <>
    <dt>Stream</dt>
    <dd>
      <a href={eventsPath({ stream: event.stream })}>
        <code>{event.stream}</code>
      </a>
      , revision {event.revision}
    </dd>
    <dt>Position</dt>
    <dd>
      <code>{event.position}</code>
    </dd>
    <dt>Event</dt>
    <dd>
      <code>{event.id}</code>
    </dd>
    <dt>Hash</dt>
    <dd>{event.hash === null ? <None /> : <code>{event.hash}</code>}</dd>
    <dt>Previous hash</dt>
    <dd>{event.previous === null ? <NoPrevious event={event} /> : <code>{event.previous}</code>}</dd>
  </>
);

type Member = { readonly name: string; readonly value: unknown };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of the data, those of an object in it each for itself, one level deep. */
const membersOf = (data: Readonly<Record<string, unknown>>): readonly Member[] =>
  Object.entries(data).flatMap(([name, value]) =>
    isObject(value)
      ? Object.entries(value).map(([inner, one]) => ({ name: `${name}.${inner}`, value: one }))
      : [{ name, value }],
  );

const valueText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}…` : text;
};

const Changed = ({ event }: { readonly event: EventRecord }): JSX.Element => {
  const members = membersOf(event.data);
  return (
    <section aria-labelledby="changed-title">
      <h2 id="changed-title">What changed</h2>
      <DataTable
        id="members"
        caption="Members of the data"
        columns={[
          { header: 'Member', cell: ({ name }) => name },
          {
            header: 'Value',
            cell: ({ value }) => (value === null ? <span class="none">None</span> : valueText(value)),
          },
        ]}
        rows={members.slice(0, memberRowsMax)}
      />
      <details class="whole">
        <summary>
          As JSON{members.length > memberRowsMax && `, with ${members.length - memberRowsMax} more`}
        </summary>
        <Code id="data" label="the data" text={JSON.stringify(event.data, null, 2)} />
      </details>
    </section>
  );
};

/** Everything of one event: who, from where, when, why, by which request, what changed, and what came of it. */
export const EventPage = (props: EventPageProps): JSX.Element => {
  const { event, chain, nowMs } = props;
  const names = new Map([...(props.names ?? []), ...namesIn([event, ...chain.events])]);
  return (
    <ConsolePage title={event.type} current="events">
      <Heading
        title={event.type}
        back={{ href: consolePath('events'), text: 'Audit log' }}
        about={<Sentence of={event} names={names} />}
      />
      <div class="card">
        <dl class="facts">
          <dt>When</dt>
          <dd>
            <Time at={event.time} nowMs={nowMs} /> <code>{event.time}</code>
          </dd>
          <Who event={event} names={names} />
          <Origin event={event} />
          <Place event={event} />
        </dl>
      </div>
      <Changed event={event} />
      <ChainSection chain={chain} current={event.id} names={names} />
      <ProofSection proof={props.proof} />
    </ConsolePage>
  );
};
