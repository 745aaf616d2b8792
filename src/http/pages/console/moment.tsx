import type { JSX } from 'preact';
import { errorOf, Field, type FieldError } from '../fields.tsx';
import { dayText } from '../time.tsx';
import { fieldTime } from './times.ts';

/** Steps of the slider, about: the whole of the log's life lies between its ends. */
const sliderSteps = 500;

const fieldName = 'as_of';

/** The moment as of which a page is shown, and what it takes to choose another one. */
export type Moment = {
  /** The page's own path, which shows it as it is now. */
  readonly path: string;
  /** ISO 8601, or what was sent for it; absent now. */
  readonly asOf?: string | undefined;
  /** When the log begins; absent while nothing stands in it. */
  readonly firstMs?: number | undefined;
  /** Now, whatever the moment. */
  readonly nowMs: number;
};

/** Whether the page shows the past, where nothing can be changed. */
export const isPast = (moment: Moment | undefined): boolean => moment?.asOf !== undefined;

/** The same place as of the same moment. */
export const keep = (href: string, moment: Moment | undefined): string =>
  moment?.asOf === undefined
    ? href
    : `${href}${href.includes('?') ? '&' : '?'}${fieldName}=${encodeURIComponent(moment.asOf)}`;

/** In a form that asks for the same page: it stays as of the same moment. */
export const KeptMoment = ({ moment }: { readonly moment: Moment | undefined }): JSX.Element | null =>
  moment?.asOf === undefined ? null : <input type="hidden" name={fieldName} value={moment.asOf} />;

/** A moment to the second, as a person reads it. */
export const momentText = (at: string): string => {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return at;
  const time = new Date(ms).toISOString().slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm:ss'.length);
  return `${dayText(new Date(ms).toISOString())}, ${time} UTC`;
};

/** The ends of the slider and how far apart its places are, in seconds; the last place means now. */
export const sliderOf = (
  firstMs: number,
  nowMs: number,
): { readonly min: number; readonly max: number; readonly step: number } => {
  const max = Math.ceil(nowMs / 1000);
  const length = Math.max(1, max - Math.floor(firstMs / 1000));
  const step = Math.ceil(length / sliderSteps);
  // A whole number of steps, lest the last place could not be reached.
  return { min: max - Math.ceil(length / step) * step, max, step };
};

/** Hidden until the script, without which it would do nothing, shows it. */
const Slider = ({ asOf, firstMs, nowMs }: Moment): JSX.Element | null => {
  if (firstMs === undefined) return null;
  const range = sliderOf(firstMs, nowMs);
  const asOfMs = Date.parse(asOf ?? '');
  const value = Number.isNaN(asOfMs) ? range.max : Math.floor(asOfMs / 1000);
  return (
    <div class="slider" hidden>
      <label>
        Move through time
        <input
          type="range"
          {...range}
          value={value}
          aria-valuetext={asOf === undefined ? 'Now' : momentText(asOf)}
          data-slider
        />
      </label>
      <p aria-hidden="true">
        <span>{dayText(new Date(firstMs).toISOString())}</span>
        <span>Now</span>
      </p>
    </div>
  );
};

/** Chooses the moment as of which the page is shown: by a field, and with a script by a slider too. */
export const MomentForm = (props: Moment & { readonly errors?: readonly FieldError[] }): JSX.Element => (
  <form method="get" action={props.path} noValidate>
    <Slider {...props} />
    <Field
      name={fieldName}
      label="Date and time (UTC)"
      error={errorOf(props.errors ?? [], fieldName)}
      input={{ type: 'datetime-local', step: 'any', value: fieldTime(props.asOf) }}
    />
    <button type="submit" class="quiet">
      Show
    </button>
  </form>
);

/** Says as of when the page is, with the way back to now, or offers to look at the past. */
export const MomentBar = ({ moment }: { readonly moment: Moment }): JSX.Element =>
  moment.asOf === undefined ? (
    <details class="moment">
      <summary>Look at the past</summary>
      <div class="card">
        <MomentForm {...moment} />
      </div>
    </details>
  ) : (
    <section class="card moment past" aria-label="The moment that is shown">
      <p>
        <strong>As of {momentText(moment.asOf)}</strong>
        <span>This is how it was. Nothing can be changed here.</span>
        <a class="button" href={moment.path}>
          Back to now
        </a>
      </p>
      <MomentForm {...moment} />
    </section>
  );
