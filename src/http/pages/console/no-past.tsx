import type { JSX } from 'preact';
import { ErrorSummary, type FieldError } from '../fields.tsx';
import { EmptyState } from '../parts.tsx';
import { ConsolePage } from './frame.tsx';
import { MomentForm, type Moment } from './moment.tsx';

/** Why a page can't be shown as of a moment. */
export type NoPast =
  /** What the page is about was not there then. */
  | 'absent'
  /** No moment was named, or one that is yet to come. */
  | 'wrong';

const titles: Readonly<Record<NoPast, string>> = {
  absent: 'It was not there then',
  wrong: 'This is no moment of the past',
};

const ToNow = ({ moment }: { readonly moment: Moment }): JSX.Element => (
  <p>
    <a class="button" href={moment.path}>
      Back to now
    </a>
  </p>
);

type NoPastProps = {
  readonly why: NoPast;
  readonly detail: string;
  readonly moment: Moment;
  readonly errors?: readonly FieldError[];
};

const Why = ({ why, detail, moment, errors = [] }: NoPastProps): JSX.Element => {
  switch (why) {
    case 'absent':
      return <EmptyState title={detail} />;
    case 'wrong':
      return (
        <div class="card moment">
          <ErrorSummary errors={errors} />
          <MomentForm {...moment} errors={errors} />
          <ToNow moment={moment} />
        </div>
      );
  }
};

/** In place of a page that can't be shown as of a moment: why, with the ways to another one and to now. */
export const NoPastPage = (props: NoPastProps): JSX.Element => (
  <ConsolePage
    title={titles[props.why]}
    current="tenants"
    moment={props.why === 'absent' ? props.moment : undefined}
  >
    <h1>{titles[props.why]}</h1>
    <Why {...props} />
  </ConsolePage>
);
