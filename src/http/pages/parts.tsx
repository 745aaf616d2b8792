import type { ComponentChildren, JSX } from 'preact';

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
