import type { JSX } from 'preact';

const dayMs = 86_400_000;

/** An expiry that is nearer than this is pointed out. */
const nearMs = 7 * dayMs;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const two = (value: number): string => String(value).padStart(2, '0');

/** The day of an instant, or a day as `2026-12-31`, as a person reads it, in UTC. */
export const dayText = (at: string): string => {
  const date = new Date(at);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
};

/** An instant as a person reads it, in UTC: the server does not know where the reader is. */
export const instantText = (at: string): string => {
  const date = new Date(at);
  return `${dayText(at)}, ${two(date.getUTCHours())}:${two(date.getUTCMinutes())} UTC`;
};

const units: readonly (readonly [string, number])[] = [
  ['year', 365 * dayMs],
  ['month', 30 * dayMs],
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** How far off, rounded down in the largest unit that fits: “in 3 days”, “5 minutes ago”, “just now”. */
export const distanceText = (ms: number): string => {
  const unit = units.find(([, length]) => Math.abs(ms) >= length);
  if (unit === undefined) return ms > 0 ? 'in less than a minute' : 'just now';
  const count = Math.floor(Math.abs(ms) / unit[1]);
  const amount = `${count} ${unit[0]}${count === 1 ? '' : 's'}`;
  return ms > 0 ? `in ${amount}` : `${amount} ago`;
};

/** An instant, and given `nowMs` how far off it is. `expiry` points out one that comes within seven days. */
export const Time = (props: {
  readonly at: string;
  readonly nowMs?: number;
  readonly expiry?: boolean;
  /** The day alone, where many stand beside each other; the whole is its tooltip. */
  readonly brief?: boolean;
}): JSX.Element => {
  const ms = props.nowMs === undefined ? undefined : Date.parse(props.at) - props.nowMs;
  const near = props.expiry === true && ms !== undefined && ms > 0 && ms <= nearMs;
  return (
    <span class={near ? 'time near' : 'time'}>
      <time dateTime={props.at} title={props.brief === true ? instantText(props.at) : undefined}>
        {props.brief === true ? dayText(props.at) : instantText(props.at)}
      </time>
      {ms !== undefined && (
        <span class="distance">
          {near && (
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
              <path d="M8 2l6.5 12h-13zM8 6.5v3.5M8 11.8v.4" class="line" />
            </svg>
          )}
          {near ? `Expires ${distanceText(ms)}` : distanceText(ms)}
        </span>
      )}
    </span>
  );
};
