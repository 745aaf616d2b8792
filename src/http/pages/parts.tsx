import type { ComponentChildren, JSX } from 'preact';

const dayMs = 86_400_000;

/** An expiry that is nearer than this is pointed out. */
const nearMs = 7 * dayMs;

/** A fault of one field: `pointer` is `/` and the name of the field in the form, or empty for the form as a whole. */
export type FieldError = { readonly pointer: string; readonly detail: string };

/** The id of the field that a fault is about, which is its name. */
const fieldOf = (pointer: string): string => pointer.slice(1).replaceAll('/', '-');

/** What is wrong with one field, in one text; undefined where nothing is. */
export const errorOf = (errors: readonly FieldError[], name: string): string | undefined => {
  const details = errors.filter(({ pointer }) => fieldOf(pointer) === name).map(({ detail }) => detail);
  return details.length === 0 ? undefined : details.join(' ');
};

/** All that is wrong with a form, each a link to its field; nothing where nothing is. The script focuses it. */
export const ErrorSummary = ({ errors }: { readonly errors: readonly FieldError[] }): JSX.Element | null =>
  errors.length === 0 ? null : (
    <div class="notice error" role="alert" tabIndex={-1} data-focus>
      <h2>{errors.length === 1 ? 'There is a problem' : 'There are problems'}</h2>
      <ul>
        {errors.map(({ pointer, detail }) => (
          <li>{pointer === '' ? detail : <a href={`#${fieldOf(pointer)}`}>{detail}</a>}</li>
        ))}
      </ul>
    </div>
  );

type Described = {
  /** The name in the form, and the id of the element. */
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** The id of a fault that is said elsewhere, about more fields than this one. */
  readonly describedBy?: string;
};

/** The ids of what describes a field: its hint and its faults. */
const describing = ({ name, hint, error, describedBy }: Described): string | undefined =>
  [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`, describedBy]
    .filter(Boolean)
    .join(' ') || undefined;

const isInvalid = ({ error, describedBy }: Described): 'true' | undefined =>
  error === undefined && describedBy === undefined ? undefined : 'true';

const Hint = ({ name, hint }: Described): JSX.Element | null =>
  hint === undefined ? null : (
    <p class="hint" id={`${name}-hint`}>
      {hint}
    </p>
  );

const Fault = ({ name, error }: Described): JSX.Element | null =>
  error === undefined ? null : (
    <p class="fault" id={`${name}-error`}>
      <span class="sr">Error: </span>
      {error}
    </p>
  );

/** What an input may be told, beside what its field says. */
export type InputAttributes = {
  readonly type?: 'text' | 'password' | 'date' | 'datetime-local' | 'number';
  readonly value?: string | undefined;
  readonly autocomplete?: 'organization' | 'username' | 'current-password' | 'new-password' | 'off';
  readonly autocapitalize?: 'none';
  readonly spellcheck?: boolean;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly min?: string | number;
  readonly max?: string | number;
  readonly step?: string | number;
};

/** A label, what helps to fill it in, what is wrong with it, and one input. */
export const Field = (props: Described & { readonly input?: InputAttributes }): JSX.Element => {
  // The types know one shape for each type of input; what is allowed above is the same in all of them.
  const attributes = {
    type: 'text',
    ...props.input,
    id: props.name,
    name: props.name,
    'aria-describedby': describing(props),
    'aria-invalid': isInvalid(props),
  } as JSX.IntrinsicElements['input'];
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      <Hint {...props} />
      <Fault {...props} />
      <input {...attributes} />
    </div>
  );
};

/** One of the things that a person can choose. */
export type Option = { readonly value: string; readonly label: string; readonly hint?: string };

/** One of a short list, folded. */
export const Select = (
  props: Described & { readonly options: readonly Option[]; readonly value?: string },
): JSX.Element => (
  <div class="field">
    <label for={props.name}>{props.label}</label>
    <Hint {...props} />
    <Fault {...props} />
    <select
      id={props.name}
      name={props.name}
      aria-describedby={describing(props)}
      aria-invalid={isInvalid(props)}
    >
      {props.options.map(({ value, label }) => (
        <option value={value} selected={value === props.value}>
          {label}
        </option>
      ))}
    </select>
  </div>
);

/** One of a few, all in sight. The first one has the group's name as its id, so that a link can lead to it. */
export const RadioGroup = (
  props: Described & {
    readonly options: readonly Option[];
    readonly value?: string;
    /** Small ones beside each other, instead of cards with hints below each other. */
    readonly compact?: boolean;
    readonly children?: ComponentChildren;
  },
): JSX.Element => (
  <fieldset
    class={props.compact === true ? 'radios compact' : 'radios'}
    role="radiogroup"
    aria-describedby={describing(props)}
    aria-invalid={isInvalid(props)}
  >
    <legend>{props.label}</legend>
    <Hint {...props} />
    <Fault {...props} />
    <div class="options">
      {props.options.map(({ value, label, hint }, at) => {
        const id = at === 0 ? props.name : `${props.name}-${value}`;
        return (
          <div class="option">
            <input
              type="radio"
              id={id}
              name={props.name}
              value={value}
              checked={value === props.value}
              required
              aria-describedby={hint === undefined ? undefined : `${id}-about`}
            />
            <label for={id}>{label}</label>
            {hint !== undefined && (
              <p class="hint" id={`${id}-about`}>
                {hint}
              </p>
            )}
          </div>
        );
      })}
    </div>
    {props.children}
  </fieldset>
);

/** Whether something still works. */
export type StatusName = 'active' | 'expired' | 'revoked';

const statuses: Readonly<Record<StatusName, { readonly text: string; readonly shape: JSX.Element }>> = {
  active: { text: 'Active', shape: <circle cx="8" cy="8" r="4" /> },
  expired: { text: 'Expired', shape: <path d="M8 2.5a5.5 5.5 0 1 0 .01 0M8 5v3.2l2.2 1.6" class="line" /> },
  revoked: { text: 'Revoked', shape: <path d="M4 4l8 8M12 4l-8 8" class="line" /> },
};

/** Says it by a word and a shape; colour only repeats it. */
export const Status = ({ status }: { readonly status: StatusName }): JSX.Element => (
  <span class={`status ${status}`}>
    <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true" focusable="false">
      {statuses[status].shape}
    </svg>
    {statuses[status].text}
  </span>
);

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

/** Who did something, as the log names them, for a person: a user of the workspace by the username alone. */
export const Actor = ({ actor }: { readonly actor: string }): JSX.Element => {
  const [kind = '', ...rest] = actor.split(':');
  const name = rest.join(':');
  if (kind === 'user') return <span class="actor">{name.slice(name.indexOf('/') + 1)}</span>;
  if (kind === 'api_key') return <span class="actor">API key {name}</span>;
  if (kind === 'service_account') return <span class="actor">Service account {name}</span>;
  return <span class="actor">{actor}</span>;
};

/** Hidden until the script, without which it could do nothing, shows it. */
const Copy = ({ of, label }: { readonly of: string; readonly label: string }): JSX.Element => (
  <button type="button" class="quiet copy" data-copy={of} aria-label={`Copy ${label}`} hidden>
    Copy
  </button>
);

/** Something to take along, with a button that copies it. A `secret` one is emptied when the page is left. */
export const Code = (props: {
  readonly id: string;
  /** Says what it is, after “Copy”: “the command”. */
  readonly label: string;
  readonly text: string;
  readonly secret?: boolean;
}): JSX.Element => (
  <div class="code">
    <pre>
      <code id={props.id} data-secret={props.secret === true ? '' : undefined}>
        {props.text}
      </code>
    </pre>
    <Copy of={props.id} label={props.label} />
  </div>
);

/** A secret that the service does not keep, on the one page that ever shows it. */
export const Secret = (props: {
  readonly id: string;
  /** “API key”, “bearer”. */
  readonly label: string;
  readonly secret: string;
}): JSX.Element => (
  <section class="card secret" aria-labelledby={`${props.id}-label`}>
    <h2 id={`${props.id}-label`}>{props.label}</h2>
    <Code id={props.id} label={`the ${props.label}`} text={props.secret} secret />
    <p class="warning">
      <strong>Copy it now.</strong> It is not stored and can't be shown again.
    </p>
  </section>
);

/** In place of a list that has nothing in it: what it is for, and what to do next. */
export const EmptyState = (props: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <div class="card empty">
    <h2>{props.title}</h2>
    {props.children}
  </div>
);

/** The way to the next page of a list; nothing on the last one. */
export const Pager = ({ nextHref }: { readonly nextHref?: string | undefined }): JSX.Element | null =>
  nextHref === undefined ? null : (
    <nav class="pager" aria-label="Pages">
      <a class="button quiet" href={nextHref} rel="next">
        Next page
      </a>
    </nav>
  );

/** What is asked before something that can't be undone; `children` say what will happen. */
export const Confirm = (props: {
  readonly action: string;
  readonly button: string;
  readonly cancelHref: string;
  readonly danger?: boolean;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <form class="card form" method="post" action={props.action}>
    {props.children}
    <div class="actions">
      <button type="submit" class={props.danger === true ? 'danger' : undefined}>
        {props.button}
      </button>
      <a class="button quiet" href={props.cancelHref}>
        Cancel
      </a>
    </div>
  </form>
);

/** One column: the first of a table names the row. */
export type Column<Row> = {
  readonly header: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The header is for those who can't see that the column holds what can be done. */
  readonly hideHeader?: boolean;
};

/** Rows of one kind. On a phone each becomes a card; where it is too wide it scrolls, by the keyboard too. */
export function DataTable<Row>(props: {
  readonly id: string;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Rows that are kept for the record alone. */
  readonly isFaded?: (row: Row) => boolean;
}): JSX.Element {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be in reach of the keyboard
    <section class="card table" aria-labelledby={props.id} tabIndex={0}>
      <table>
        <caption id={props.id} class="sr">
          {props.caption}
        </caption>
        <thead>
          <tr>
            {props.columns.map(({ header, hideHeader }) => (
              <th scope="col">{hideHeader === true ? <span class="sr">{header}</span> : header}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr class={props.isFaded?.(row) === true ? 'faded' : undefined}>
              {props.columns.map(({ header, cell, hideHeader }, at) =>
                at === 0 ? (
                  <th scope="row">{cell(row)}</th>
                ) : (
                  <td data-label={hideHeader === true ? undefined : header}>{cell(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The one `<h1>` of a page, what it is about, and the main thing to do there. */
export const Heading = (props: {
  readonly title: string;
  readonly about?: ComponentChildren;
  /** A way back up, as a link above the title. */
  readonly back?: { readonly href: string; readonly text: string };
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <div class="heading">
    <div>
      {props.back && (
        <a class="back" href={props.back.href}>
          <span aria-hidden="true">← </span>
          {props.back.text}
        </a>
      )}
      <h1>{props.title}</h1>
      {props.about !== undefined && <p>{props.about}</p>}
    </div>
    {props.children}
  </div>
);
