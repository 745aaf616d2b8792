import type { ComponentChildren, JSX } from 'preact';

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
