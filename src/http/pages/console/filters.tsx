import type { JSX } from 'preact';
import { ErrorSummary, errorOf, Field, Select, type FieldError, type Option } from '../fields.tsx';
import { consolePath, withQuery } from './frame.tsx';
import { keep, KeptMoment, type Moment } from './moment.tsx';
import { logSentences } from './sentences.tsx';
import { fieldTime } from './times.ts';

const textCharsMax = 512;

/** What events are looked for by, as the Admin API calls it. */
export const filterNames = [
  'tenant',
  'type',
  'actor',
  'stream',
  'correlation_id',
  'causation_id',
  'since',
  'until',
  'order',
] as const;

/** Which events are looked for: those that have all of this. Times are ISO 8601, or what was sent for one. */
export type EventFilter = { readonly [name in (typeof filterNames)[number]]?: string };

/** Whether fewer than all events are looked for. */
export const isFiltered = ({ order: _order, ...wanted }: EventFilter): boolean =>
  Object.values(wanted).some(Boolean);

/** Where the events are that have all of this, from behind a position on where one is told. */
export const eventsPath = (filter: EventFilter & { readonly after?: string }): string =>
  withQuery(consolePath('events'), filter);

/**
 * Where one event is: by its id, which says the same in every copy of the log, with its position, by which it is always
 * found.
 */
export const eventPath = (event: { readonly id: string; readonly position?: string | undefined }): string =>
  withQuery(consolePath('events', event.id), { at: event.position });

const types: readonly Option[] = [
  { value: '', label: 'Any' },
  ...Object.keys(logSentences)
    .toSorted()
    .map((type) => ({ value: type, label: type })),
];

const orders: readonly Option[] = [
  { value: 'desc', label: 'Newest first' },
  { value: 'asc', label: 'Oldest first' },
];

/** The type that is looked for is among those that can be chosen, whatever it is. */
const typesWith = (type: string | undefined): readonly Option[] =>
  type === undefined || types.some(({ value }) => value === type)
    ? types
    : [...types, { value: type, label: type }];

/** The form by which events are looked for, and what is wrong with it. */
export type FilterFormProps = {
  /** The path of the page that shows what is found. */
  readonly action: string;
  readonly filter: EventFilter;
  /** The page is of one tenant, which is not asked for. */
  readonly ofTenant?: boolean;
  readonly errors?: readonly FieldError[] | undefined;
  readonly moment?: Moment | undefined;
};

/** Asks for the same page with another filter; folded while nothing is looked for. */
export const FilterForm = (props: FilterFormProps): JSX.Element => {
  const { action, filter, ofTenant, errors = [], moment } = props;
  const text = (name: keyof EventFilter, label: string) => (
    <Field
      name={name}
      label={label}
      error={errorOf(errors, name)}
      input={{
        value: filter[name],
        maxLength: textCharsMax,
        autocomplete: 'off',
        autocapitalize: 'none',
        spellcheck: false,
      }}
    />
  );
  const time = (name: 'since' | 'until', label: string) => (
    <Field
      name={name}
      label={label}
      error={errorOf(errors, name)}
      input={{ type: 'datetime-local', step: 'any', value: fieldTime(filter[name]) }}
    />
  );
  return (
    <details class="card filters" open={isFiltered(filter) || errors.length > 0}>
      <summary>Filter</summary>
      <form method="get" action={action} noValidate>
        <ErrorSummary errors={errors} />
        <KeptMoment moment={moment} />
        <div class="fields">
          {ofTenant !== true && text('tenant', 'Tenant')}
          <Select
            name="type"
            label="Type"
            options={typesWith(filter.type)}
            value={filter.type ?? ''}
            error={errorOf(errors, 'type')}
          />
          {text('actor', 'Actor')}
          {text('stream', 'Stream')}
          {text('correlation_id', 'Request')}
          {text('causation_id', 'Caused by')}
          {time('since', 'Since (UTC)')}
          {time('until', 'Until (UTC)')}
          <Select name="order" label="Order" options={orders} value={filter.order ?? 'desc'} />
        </div>
        <div class="actions">
          <button type="submit">Show events</button>
          {isFiltered(filter) && (
            <a class="button quiet" href={keep(action, moment)}>
              Clear
            </a>
          )}
        </div>
      </form>
    </details>
  );
};
