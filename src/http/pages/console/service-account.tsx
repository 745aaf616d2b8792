import type { ComponentChildren, JSX } from 'preact';
import {
  ErrorSummary,
  errorOf,
  Field,
  RadioGroup,
  Select,
  type FieldError,
  type Option,
} from '../fields.tsx';
import { Code, Confirm, Heading, Secret } from '../parts.tsx';
import { Time } from '../time.tsx';
import { consolePath, ConsolePage, durationText, roleLabels, tenantPath } from './frame.tsx';
import { accountPath, type ServiceAccountRecord } from './service-accounts.tsx';

const nameCharsMax = 128;
const ttlSecsMax = 86_400;
/** How long the credential of the example lives, where the account may mint one of that length. */
const exampleTtlSecs = 900;

const list = consolePath('service-accounts');
const back = { href: list, text: 'Service accounts' };

const roles: readonly Option[] = [
  { value: 'reader', label: 'Reader', hint: 'Mints credentials that read.' },
  { value: 'writer', label: 'Writer', hint: 'Also mints credentials that write, to all schemas or some.' },
  { value: 'admin', label: 'Admin', hint: 'Also mints credentials that may do everything in the tenant.' },
];

/** What the form holds: as it was sent, or at first its defaults. */
export type NewServiceAccountValues = {
  readonly name?: string | undefined;
  readonly tenant_id?: string | undefined;
  readonly max_role?: string | undefined;
  readonly max_ttl_secs?: string | undefined;
};

/** The form that makes a service account. */
export type NewServiceAccountPageProps = {
  readonly values: NewServiceAccountValues;
  readonly errors: readonly FieldError[];
};

const Limits = ({ values, errors }: NewServiceAccountPageProps): JSX.Element => (
  <>
    <RadioGroup
      name="max_role"
      label="Highest role"
      hint="What its credentials may do at most."
      options={roles}
      value={values.max_role ?? 'reader'}
      error={errorOf(errors, 'max_role')}
    />
    <Field
      name="max_ttl_secs"
      label="Longest life of a credential, in seconds"
      hint="Up to 86,400, which is a day. An hour is 3,600."
      error={errorOf(errors, 'max_ttl_secs')}
      input={{
        type: 'number',
        value: values.max_ttl_secs ?? '3600',
        min: 1,
        max: ttlSecsMax,
        required: true,
      }}
    />
  </>
);

/** Posts `name`, `tenant_id`, `max_role` and `max_ttl_secs` to `/console/service-accounts`. */
export const NewServiceAccountPage = ({ values, errors }: NewServiceAccountPageProps): JSX.Element => (
  <ConsolePage title="Create service account" current="service-accounts">
    <Heading title="Create service account" back={back} />
    <form class="card form" method="post" action={list} noValidate>
      <ErrorSummary errors={errors} />
      <Field
        name="name"
        label="Name"
        hint="Which program will use it, such as “Deploys”."
        error={errorOf(errors, 'name')}
        input={{ value: values.name, maxLength: nameCharsMax, autocomplete: 'off', required: true }}
      />
      <Field
        name="tenant_id"
        label="Tenant"
        hint="The ID of the one tenant that it mints credentials for."
        error={errorOf(errors, 'tenant_id')}
        input={{
          value: values.tenant_id,
          autocomplete: 'off',
          autocapitalize: 'none',
          spellcheck: false,
          required: true,
        }}
      />
      <Limits values={values} errors={errors} />
      <div class="actions">
        <button type="submit">Create service account</button>
        <a class="button quiet" href={list}>
          Cancel
        </a>
      </div>
    </form>
  </ConsolePage>
);

const AccountFacts = ({ account }: { readonly account: ServiceAccountRecord }): JSX.Element => (
  <dl class="facts">
    <dt>Name</dt>
    <dd>{account.name}</dd>
    <dt>ID</dt>
    <dd>
      <code>{account.id}</code>
    </dd>
    <dt>Tenant</dt>
    <dd>
      <a href={tenantPath(account.tenant_id)}>{account.tenant_id}</a>
    </dd>
    <dt>Highest role</dt>
    <dd>{roleLabels[account.max_role]}</dd>
    <dt>Longest credential</dt>
    <dd>{durationText(account.max_ttl_secs)}</dd>
    <dt>Created</dt>
    <dd>
      <Time at={account.created_at} />
    </dd>
  </dl>
);

/** A command that mints a credential, which may do no more than any account allows. */
const mintCommand = (baseUrl: string, account: ServiceAccountRecord, bearer: string): string => {
  const ttlSecs = Math.min(exampleTtlSecs, account.max_ttl_secs);
  return (
    `curl -X POST -H 'Authorization: Bearer ${bearer}' -H 'Content-Type: application/json' \\\n` +
    `  -d '{"subject": "first try", "role": "reader", "ttl_secs": ${ttlSecs}}' \\\n` +
    `  ${baseUrl}/admin/v1/tenants/${encodeURIComponent(account.tenant_id)}/tokens`
  );
};

/** What comes after a service account was made or its bearer rotated. */
export type BearerPageProps = {
  readonly account: ServiceAccountRecord;
  /** Undefined where it has been shown already: nobody can show it again. */
  readonly bearer: string | undefined;
  readonly baseUrl: string;
};

/** The one page that ever shows a bearer, and what it says when it is asked for again. */
export const BearerPage = ({ account, bearer, baseUrl }: BearerPageProps): JSX.Element => (
  <ConsolePage title={bearer === undefined ? 'Service account' : 'The new bearer'} current="service-accounts">
    <Heading
      title={bearer === undefined ? 'This bearer was shown once' : `The new bearer of ${account.name}`}
      back={back}
      about={
        bearer === undefined
          ? "It is not stored, so it can't be shown again. Rotate it to get a new one in its place."
          : undefined
      }
    />
    {bearer === undefined ? (
      <div class="actions">
        <a class="button" href={accountPath(account, 'rotate')}>
          Rotate this bearer
        </a>
      </div>
    ) : (
      <>
        <Secret id="secret" label="bearer" secret={bearer} />
        <section aria-labelledby="try-title">
          <h2 id="try-title">Try it</h2>
          <p>This mints a credential that reads, for a few minutes.</p>
          <Code id="command" label="the command" text={mintCommand(baseUrl, account, bearer)} secret />
        </section>
      </>
    )}
    <section aria-labelledby="about-title">
      <h2 id="about-title">About this service account</h2>
      <div class="card">
        <AccountFacts account={account} />
      </div>
    </section>
    {bearer !== undefined && (
      <div class="actions">
        <a class="button" href={list}>
          Done
        </a>
      </div>
    )}
  </ConsolePage>
);

/** What is asked before a bearer is rotated or a service account is deleted. */
export type ServiceAccountConfirmationProps = {
  readonly account: ServiceAccountRecord;
  readonly errors?: readonly FieldError[] | undefined;
};

const Confirmation = (
  props: ServiceAccountConfirmationProps & {
    readonly title: string;
    readonly act: 'rotate' | 'delete';
    readonly button: string;
    readonly children: ComponentChildren;
  },
): JSX.Element => (
  <ConsolePage title={props.title} current="service-accounts">
    <Heading title={props.title} back={back} />
    <Confirm
      action={accountPath(props.account, props.act)}
      button={props.button}
      cancelHref={list}
      danger={props.act === 'delete'}
    >
      <ErrorSummary errors={props.errors ?? []} />
      {props.children}
    </Confirm>
  </ConsolePage>
);

const graces: readonly Option[] = [
  { value: '0', label: 'At once' },
  { value: '300', label: 'After 5 minutes' },
  { value: '3600', label: 'After 1 hour' },
  { value: '86400', label: 'After 24 hours' },
];

/** Posts `grace_secs` to the account's `/rotate`. */
export const RotateBearerPage = (props: ServiceAccountConfirmationProps): JSX.Element => (
  <Confirmation {...props} act="rotate" title="Rotate bearer" button="Rotate this bearer">
    <p>
      <strong>{props.account.name}</strong> gets a new bearer. The present one stops working when you say, so
      that there is time to put the new one in place. What it minted goes on working.
    </p>
    <AccountFacts account={props.account} />
    <Select
      name="grace_secs"
      label="The present bearer stops working"
      hint="Choose “At once” where it may have leaked."
      options={graces}
      value="3600"
      error={errorOf(props.errors ?? [], 'grace_secs')}
    />
  </Confirmation>
);

const ofMinted: readonly Option[] = [
  {
    value: 'revoke',
    label: 'Also revoke what it minted',
    hint: 'Every credential of this account stops working too. The right choice where its bearer has leaked.',
  },
  {
    value: 'keep',
    label: 'Keep what it minted',
    hint: 'Its credentials work until they expire, or until you revoke them.',
  },
];

/** Posts `credentials` (`revoke` or `keep`) to the account's `/delete`. */
export const DeleteServiceAccountPage = (props: ServiceAccountConfirmationProps): JSX.Element => (
  <Confirmation {...props} act="delete" title="Delete service account" button="Delete this service account">
    <p>
      <strong>{props.account.name}</strong> ends immediately: its bearer is refused from then on, and it mints
      nothing any more. This can't be undone.
    </p>
    <AccountFacts account={props.account} />
    <RadioGroup
      name="credentials"
      label="Its credentials"
      options={ofMinted}
      value="revoke"
      error={errorOf(props.errors ?? [], 'credentials')}
    />
  </Confirmation>
);
