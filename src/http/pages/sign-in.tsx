import type { ComponentChildren, JSX } from 'preact';
import { Layout } from './layout.tsx';
import { Field } from './fields.tsx';

const minuteSecs = 60;

const waitText = (secs: number): string => {
  const [count, unit] =
    secs < 2 * minuteSecs
      ? [Math.max(1, Math.ceil(secs)), 'second']
      : [Math.ceil(secs / minuteSecs), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

type Refusal = {
  /** Says no more than that it failed: which of the fields was wrong is for nobody to learn. */
  readonly error?: string | undefined;
  /** Where too many have been tried: after how long to come again. */
  readonly retryAfterSecs?: number | undefined;
};

const errorId = 'sign-in-error';

const isRefused = ({ error, retryAfterSecs }: Refusal): boolean =>
  error !== undefined || retryAfterSecs !== undefined;

const RefusalNotice = (refusal: Refusal): JSX.Element | null =>
  isRefused(refusal) ? (
    <div class="notice error" role="alert" id={errorId} tabIndex={-1} data-focus>
      <strong>{refusal.error ?? 'Too many attempts.'}</strong>
      {refusal.retryAfterSecs !== undefined && <span> Try again in {waitText(refusal.retryAfterSecs)}.</span>}
    </div>
  ) : null;

/** Every field points at what was wrong with all of them together; that there were too many is no fault of theirs. */
const described = ({ error, retryAfterSecs }: Refusal): { readonly describedBy?: string } =>
  error === undefined || retryAfterSecs !== undefined ? {} : { describedBy: errorId };

const Card = (props: {
  readonly title: string;
  readonly about: string;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <div class="card sign-in">
    <h1>{props.title}</h1>
    <p class="about">{props.about}</p>
    {props.children}
  </div>
);

/** The sign-in of users. `workspace`, `username` and `next` are what was given before; a password never comes back. */
export type SignInPageProps = Refusal & {
  readonly workspace?: string | undefined;
  readonly username?: string | undefined;
  /** The path to go to afterwards; the handler judges it. */
  readonly next?: string | undefined;
};

/** Posts `workspace`, `username`, `password` and `next` to `/sign-in`. */
export const SignInPage = (props: SignInPageProps): JSX.Element => (
  <Layout title="Sign in" narrow>
    <Card title="Sign in" about="to your workspace">
      <form method="post" action="/sign-in">
        <RefusalNotice {...props} />
        {props.next !== undefined && <input type="hidden" name="next" value={props.next} />}
        <Field
          name="workspace"
          label="Workspace"
          {...described(props)}
          input={{
            value: props.workspace,
            autocomplete: 'organization',
            autocapitalize: 'none',
            spellcheck: false,
            required: true,
          }}
        />
        <Field
          name="username"
          label="Username"
          {...described(props)}
          input={{
            value: props.username,
            autocomplete: 'username',
            autocapitalize: 'none',
            spellcheck: false,
            required: true,
          }}
        />
        <Field
          name="password"
          label="Password"
          {...described(props)}
          input={{ type: 'password', autocomplete: 'current-password', required: true }}
        />
        <button type="submit" class="full">
          Sign in
        </button>
      </form>
    </Card>
    <p class="aside">
      Do you operate this service? <a href="/console">Open the operator console</a>
    </p>
  </Layout>
);

/** The sign-in of the operator. */
export type ConsoleSignInPageProps = Refusal & {
  /** The service has no admin token, so that nobody can sign in. */
  readonly notConfigured?: boolean | undefined;
  /** The path to go to afterwards; the handler judges it. */
  readonly next?: string | undefined;
};

/** Posts `token` and `next` to `/console/sign-in`. */
export const ConsoleSignInPage = (props: ConsoleSignInPageProps): JSX.Element => (
  <Layout title="Operator console" narrow>
    <Card title="Operator console" about="for whoever runs this service">
      {props.notConfigured === true ? (
        <div class="notice">
          <strong>The operator has set no admin token.</strong>
          <span>
            {' '}
            Set <code>SERVICE_CP_ADMIN_TOKEN</code> to at least 32 random characters and start the service
            again.
          </span>
        </div>
      ) : (
        <form method="post" action="/console/sign-in">
          <RefusalNotice {...props} />
          {props.next !== undefined && <input type="hidden" name="next" value={props.next} />}
          <Field
            name="token"
            label="Admin token"
            hint="The value of SERVICE_CP_ADMIN_TOKEN."
            {...described(props)}
            input={{ type: 'password', autocomplete: 'current-password', required: true }}
          />
          <button type="submit" class="full">
            Sign in
          </button>
        </form>
      )}
    </Card>
    <p class="aside">
      Do you have an account in a workspace? <a href="/sign-in">Sign in to it</a>
    </p>
  </Layout>
);
