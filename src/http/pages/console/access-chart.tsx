import type { JSX } from 'preact';
import type { Access } from '../../../projections/access.ts';
import { dayText, instantText } from '../time.tsx';
import { roleLabels } from './frame.tsx';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Marks on the axis, at most: so many labels stand beside each other on a phone. */
const ticksMax = 5;

/** How far apart marks may be: what people count time by. */
const stepsMs: readonly number[] = [
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14, 28, 91, 182, 365].map((days) => days * dayMs),
];

/** The least width of a bar that can be seen, in percent. */
const barPercentMin = 0.4;

const rowHeight = 22;

/** A time that a chart shows, from `fromMs` to `toMs`. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/** What people call those who get in. */
export const kindLabels: Readonly<Record<Access['kind'], string>> = {
  user: 'User',
  service_account: 'Service account',
  credential: 'Credential',
  api_key: 'API key',
};

/** The time that a chart of these spans: as it is asked for, else from the first of them until now. */
export const spanOf = (
  list: readonly Pick<Access, 'from'>[],
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs: number,
): Span => {
  const toMs = to === undefined ? nowMs : Date.parse(to);
  const firstMs = Math.min(toMs, ...list.map((one) => Date.parse(one.from)));
  const fromMs = from === undefined ? firstMs : Date.parse(from);
  // Something that has only just begun is a chart too.
  return { fromMs: Math.min(fromMs, toMs - minuteMs), toMs };
};

/** Where the marks of the axis stand: whole hours, days, … in UTC, not too many. */
export const ticksOf = ({
  fromMs,
  toMs,
}: Span): { readonly stepMs: number; readonly atMs: readonly number[] } => {
  const lengthMs = toMs - fromMs;
  const yearMs = stepsMs.at(-1) ?? dayMs;
  const stepMs =
    stepsMs.find((step) => lengthMs / step <= ticksMax) ?? Math.ceil(lengthMs / ticksMax / yearMs) * yearMs;
  const first = Math.ceil(fromMs / stepMs) * stepMs;
  const count = Math.floor((toMs - first) / stepMs) + 1;
  return { stepMs, atMs: Array.from({ length: Math.max(0, count) }, (_, at) => first + at * stepMs) };
};

const percentAt = (ms: number, { fromMs, toMs }: Span): number =>
  Math.min(100, Math.max(0, ((ms - fromMs) / (toMs - fromMs)) * 100));

const text = (percent: number): string => `${Number(percent.toFixed(2))}%`;

/** A label near an end is written inwards, so that nothing of it is cut off. */
const anchorAt = (percent: number): 'start' | 'middle' | 'end' =>
  percent < 8 ? 'start' : percent > 92 ? 'end' : 'middle';

const Axis = ({ span }: { readonly span: Span }): JSX.Element => {
  const { stepMs, atMs } = ticksOf(span);
  return (
    <svg class="axis" width="100%" height="36" aria-hidden="true" focusable="false">
      {atMs.map((ms) => {
        const at = new Date(ms).toISOString();
        const [day = '', month = '', year = ''] = dayText(at).split(' ');
        const percent = percentAt(ms, span);
        const [x, anchor] = [text(percent), anchorAt(percent)];
        return (
          <>
            <text x={x} y="12" text-anchor={anchor}>
              {stepMs < dayMs ? at.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm'.length) : `${day} ${month}`}
            </text>
            <text x={x} y="28" text-anchor={anchor} class="lesser">
              {stepMs < dayMs ? `${day} ${month}` : year}
            </text>
          </>
        );
      })}
    </svg>
  );
};

/** How an interval goes out of the chart: it goes on, its time came, or somebody ended it. */
type Ending = 'open' | 'expiry' | 'ended';

const endings: Readonly<Record<Ending, { readonly path: string; readonly label: string }>> = {
  open: { path: 'M4 -5L9 0L4 5', label: 'goes on' },
  expiry: { path: 'M0 -4a4 4 0 1 0 .01 0', label: 'expired' },
  ended: { path: 'M-4 -4L4 4M4 -4L-4 4', label: 'was ended' },
};

const endingOf = ({ until, ended_by }: Access, { toMs }: Span): Ending => {
  if (until === null || Date.parse(until) > toMs) return 'open';
  return ended_by?.kind === 'expiry' ? 'expiry' : 'ended';
};

const Mark = ({ ending, x }: { readonly ending: Ending; readonly x: string }): JSX.Element => (
  <svg x={x} y={rowHeight / 2} width="1" height="1" overflow="visible" class={`mark-${ending}`}>
    <path d={endings[ending].path} class="line halo" />
    <path d={endings[ending].path} class="line" />
  </svg>
);

const Bar = ({ access, span }: { readonly access: Access; readonly span: Span }): JSX.Element => {
  const from = percentAt(Date.parse(access.from), span);
  const to = access.until === null ? 100 : percentAt(Date.parse(access.until), span);
  const width = Math.max(to - from, barPercentMin);
  return (
    <>
      <rect
        x={text(Math.min(from, 100 - width))}
        width={text(width)}
        y="5"
        height={rowHeight - 10}
        rx="3"
        class={`bar-${access.kind}`}
      />
      <Mark ending={endingOf(access, span)} x={text(to)} />
    </>
  );
};

const saidOf = (access: Access): string => {
  const until = access.until === null ? 'no end' : `until ${instantText(access.until)}`;
  return `from ${instantText(access.from)}, ${until}`;
};

const Row = ({
  list,
  span,
}: {
  readonly list: readonly Access[];
  readonly span: Span;
}): JSX.Element | null => {
  const [first] = list;
  if (first === undefined) return null;
  const roles = [...new Set(list.map(({ role }) => roleLabels[role]))].join(', ');
  const who = `${kindLabels[first.kind]} ${first.name}`;
  return (
    <li>
      <p>
        <strong>{first.name}</strong>
        <span>
          {kindLabels[first.kind]}, {roles}
        </span>
      </p>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the bars are no picture in a file */}
      <svg width="100%" height={rowHeight} role="img" aria-label={`${who}: ${list.map(saidOf).join('; ')}`}>
        {ticksOf(span).atMs.map((ms) => {
          const x = text(percentAt(ms, span));
          return <line x1={x} x2={x} y1="0" y2={rowHeight} class="grid-line" />;
        })}
        {list.map((access) => (
          <Bar access={access} span={span} />
        ))}
      </svg>
    </li>
  );
};

const Legend = (): JSX.Element => (
  <p class="legend" aria-hidden="true">
    {(Object.keys(endings) as Ending[]).map((ending) => (
      <span>
        <svg width="14" height={rowHeight} focusable="false">
          <Mark ending={ending} x={ending === 'open' ? '1' : '7'} />
        </svg>
        {endings[ending].label}
      </span>
    ))}
  </p>
);

/** Who could get in over time: one row for each, a bar for each time. What the bars say stands in their labels too. */
export const AccessChart = (props: {
  readonly list: readonly Access[];
  readonly span: Span;
}): JSX.Element => {
  const rows = new Map<string, Access[]>();
  for (const access of props.list)
    rows.set(access.principal, [...(rows.get(access.principal) ?? []), access]);
  return (
    <figure class="card chart" aria-label="Access over time, in UTC">
      <Axis span={props.span} />
      <ol>
        {[...rows.values()].map((list) => (
          <Row list={list} span={props.span} />
        ))}
      </ol>
      <Legend />
    </figure>
  );
};
