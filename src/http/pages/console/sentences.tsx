import type { ComponentChildren, JSX } from 'preact';
import { instantText } from '../time.tsx';
import { durationText } from './frame.tsx';

/** The data of an event, as the API shows it: without secrets. */
export type ActData = Readonly<Record<string, unknown>>;

/** What is called by an id in the data, where that is known. */
export type Names = ReadonlyMap<string, string>;

type Saying = (data: ActData, names: Names) => ComponentChildren;

/** Stored data has been parsed once, but what shows the past must never fail on it. */
const textOf = (data: ActData, name: string): string => {
  const value = data[name];
  return typeof value === 'string' ? value : '…';
};

const Name = (props: { readonly data: ActData; readonly of: string }): JSX.Element => (
  <strong>{textOf(props.data, props.of)}</strong>
);

const Called = (props: { readonly data: ActData; readonly of: string; readonly names: Names }) => {
  const id = textOf(props.data, props.of);
  return <strong>{props.names.get(id) ?? id}</strong>;
};

const lengthOf = (data: ActData, name: string): string => durationText(Number(data[name] ?? 0));

const untilText = ({ expires_at }: ActData): string =>
  typeof expires_at === 'string' ? `until ${instantText(expires_at)}` : 'no expiration';

const scopeOf = ({ write_schemas }: ActData): string =>
  Array.isArray(write_schemas) ? ` to ${write_schemas.join(', ')}` : '';

const earlierEnds = (data: ActData, name: string): string =>
  Number(data[name] ?? 0) === 0
    ? 'the earlier one ended at once'
    : `the earlier one works ${lengthOf(data, name)} more`;

/** A thread has a title for the name. */
const contentName = ({ content }: ActData): string => {
  const fields = { ...(content as ActData | undefined) };
  return textOf(fields, 'title' in fields ? 'title' : 'name');
};

/** What is said of a resource of a workspace, of which the log holds the whole content but at its end. */
const ofResource = (noun: string, one: string): Readonly<Record<string, Saying>> => ({
  [`${noun}Created`]: (data) => (
    <>
      Created {one} <strong>{contentName(data)}</strong>
    </>
  ),
  [`${noun}Changed`]: (data) => (
    <>
      Changed {one} <strong>{contentName(data)}</strong>
    </>
  ),
  [`${noun}Deleted`]: (data, names) => (
    <>
      Deleted {one} <Called data={data} of="id" names={names} />
    </>
  ),
});

/** One sentence for each type of event that is about a tenant. */
export const sentences: Readonly<Record<string, Saying>> = {
  TenantCreated: () => 'Created the tenant',
  TenantDeleted: () => 'Deleted the tenant, with everything in it',
  UserCreated: (data) => (
    <>
      Created user <Name data={data} of="username" /> as {textOf(data, 'role')}
    </>
  ),
  UserDeleted: (data) => (
    <>
      Deleted user <Name data={data} of="username" />
    </>
  ),
  ServiceAccountCreated: (data) => (
    <>
      Created service account <Name data={data} of="name" /> (up to {textOf(data, 'max_role')}, credentials of
      up to {lengthOf(data, 'max_ttl_secs')})
    </>
  ),
  ServiceAccountBearerRotated: (data, names) => (
    <>
      Rotated the bearer of service account <Called data={data} of="service_account_id" names={names} /> (
      {earlierEnds(data, 'grace_secs')})
    </>
  ),
  ServiceAccountDeleted: (data, names) => (
    <>
      Deleted service account <Called data={data} of="service_account_id" names={names} />{' '}
      {data['credentials'] === 'keep' ? 'and kept what it minted' : 'and revoked what it minted'}
    </>
  ),
  CredentialMinted: (data) => (
    <>
      Minted a credential for <Name data={data} of="subject" /> ({textOf(data, 'role')}
      {scopeOf(data)}, {untilText(data)})
    </>
  ),
  CredentialRevoked: (data, names) => (
    <>
      Revoked the credential of <Called data={data} of="username" names={names} />
    </>
  ),
  ApiKeyCreated: (data) => (
    <>
      Created API key <Name data={data} of="name" /> ({textOf(data, 'role')}, {untilText(data)})
    </>
  ),
  ApiKeyRolled: (data, names) => (
    <>
      Rolled API key <Called data={data} of="api_key_id" names={names} /> ({earlierEnds(data, 'overlap_secs')}
      )
    </>
  ),
  ApiKeyRevoked: (data, names) => (
    <>
      Revoked API key <Called data={data} of="api_key_id" names={names} />
    </>
  ),
  UserSignedIn: (data) => (
    <>
      <Name data={data} of="username" /> signed in
    </>
  ),
  SignedOut: () => 'Signed out',
  ...ofResource('Agent', 'agent'),
  ...ofResource('Thread', 'thread'),
  ...ofResource('Workflow', 'workflow'),
};

const refusedText = ({ codes }: ActData): string =>
  Object.entries({ ...(codes as object | undefined) })
    .map(([code, count]) => `${code} ${String(count)}×`)
    .join(', ');

/** One sentence for each type of event that the log has, of a tenant or of none. */
export const logSentences: Readonly<Record<string, Saying>> = {
  ...sentences,
  ApiKeyUsed: (data, names) => (
    <>
      API key <Called data={data} of="api_key_id" names={names} /> was in use
    </>
  ),
  LogSealed: ({ number }) => (
    <>
      Sealed the log with checkpoint <strong>{typeof number === 'number' ? number : '…'}</strong>
    </>
  ),
  OperatorSignedIn: () => 'The operator signed in to the console',
  RequestsRefused: (data) => (
    <>
      Refused requests of <Name data={data} of="refused" /> ({refusedText(data)})
    </>
  ),
};

/** What an event says in a sentence; the name of its type where it is not known what that says. */
export const Sentence = (props: {
  readonly of: { readonly type: string; readonly data: ActData };
  readonly names: Names;
}): JSX.Element => {
  const { type, data } = props.of;
  return <>{logSentences[type]?.(data, props.names) ?? <strong>{type}</strong>}</>;
};

const namings: Readonly<Record<string, readonly [id: string, name: (data: ActData) => string]>> = {
  ServiceAccountCreated: ['service_account_id', (data) => textOf(data, 'name')],
  CredentialMinted: ['username', (data) => textOf(data, 'subject')],
  ApiKeyCreated: ['api_key_id', (data) => textOf(data, 'name')],
  AgentCreated: ['id', contentName],
  ThreadCreated: ['id', contentName],
  WorkflowCreated: ['id', contentName],
};

/** What acts themselves say about what is called by which id. */
export const namesIn = (acts: readonly { readonly type: string; readonly data: ActData }[]): Names =>
  new Map(
    acts.flatMap(({ type, data }) => {
      const naming = namings[type];
      return naming === undefined ? [] : [[textOf(data, naming[0]), naming[1](data)] as const];
    }),
  );
