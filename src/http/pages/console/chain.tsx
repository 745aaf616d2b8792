import type { JSX } from 'preact';
import { instantText } from '../time.tsx';
import { eventPath, eventsPath } from './filters.tsx';
import { Sentence, type ActData, type Names } from './sentences.tsx';

/** Events of a request that one page shows. */
export const chainRowsMax = 50;

/** An event with those that it led to. */
export type ChainEventRecord = {
  readonly id: string;
  readonly position?: string;
  readonly type: string;
  readonly time: string;
  readonly actor: string;
  readonly tenant_id: string | null;
  readonly data: ActData;
  readonly effects: readonly ChainEventRecord[];
};

/** What led to an event and what its request did, as the API answers it. */
export type ChainRecord = {
  readonly correlation_id: string;
  readonly is_complete: boolean;
  readonly events: readonly ChainEventRecord[];
};

/** The first events of a tree in the order in which they are read, and how many more there were. */
export const cutChain = (
  events: readonly ChainEventRecord[],
  rowsMax: number,
): { readonly events: readonly ChainEventRecord[]; readonly rows: number; readonly more: number } => {
  let rows = 0;
  let more = 0;
  const cut = (tree: readonly ChainEventRecord[]): readonly ChainEventRecord[] =>
    tree.flatMap((event) => {
      const isIn = rows < rowsMax;
      if (isIn) rows += 1;
      else more += 1;
      const effects = cut(event.effects);
      return isIn ? [{ ...event, effects }] : [];
    });
  return { events: cut(events), rows, more };
};

type Shown = { readonly current: string; readonly names: Names };

const Branch = (props: Shown & { readonly events: readonly ChainEventRecord[] }): JSX.Element => (
  <ol class="chain">
    {props.events.map((event) => (
      <li>
        <a href={eventPath(event)} aria-current={event.id === props.current ? 'true' : undefined}>
          <Sentence of={event} names={props.names} />
        </a>
        <time dateTime={event.time} title={instantText(event.time)}>
          {event.time.slice('yyyy-mm-ddT'.length, -'Z'.length)}
        </time>
        {event.effects.length > 0 && <Branch {...props} events={event.effects} />}
      </li>
    ))}
  </ol>
);

/** What led to an event and what its request did: each event below the one that led to it. */
export const ChainSection = (props: Shown & { readonly chain: ChainRecord }): JSX.Element => {
  const { correlation_id, is_complete, events } = props.chain;
  const { events: shown, rows, more } = cutChain(events, chainRowsMax);
  return (
    <section aria-labelledby="chain-title">
      <h2 id="chain-title">Causes and effects</h2>
      <div class="card">
        <p class="hint">
          {rows === 1 && is_complete
            ? 'This is all that the request did.'
            : 'What led to it and all that the request did, each event below the one that led to it.'}
        </p>
        <Branch events={shown} current={props.current} names={props.names} />
        {(more > 0 || !is_complete) && (
          <p>
            {more > 0 && `${more} more are not shown. `}
            {!is_complete && 'More may stand further off in the log. '}
            <a href={eventsPath({ correlation_id })}>Every event of the request</a>
          </p>
        )}
      </div>
    </section>
  );
};
