import type { JSX } from 'preact';
import type { ResourceKind } from '../../projections/resources.ts';
import { Layout, workspacePath, type SignedInUser } from './layout.tsx';
import { Actor, Code, DataTable, EmptyState, Heading, Pager, type Column } from './parts.tsx';
import { Time } from './time.tsx';

/** One of them as the REST API shows it; a thread has a `title` for the `name`. */
export type ResourceRecord = {
  readonly id: string;
  readonly workspace_id: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  /** Of a thread alone. */
  readonly agent_id?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly metadata?: unknown;
  readonly created_at: string;
  readonly updated_at: string;
  /** An actor, as the log names one. */
  readonly created_by: string;
};

/** How people call them: the plural, one, and what they are for. */
export const kinds: Readonly<
  Record<ResourceKind, { readonly title: string; readonly one: string; readonly about: string }>
> = {
  agents: { title: 'Agents', one: 'agent', about: 'The programs that act in this workspace.' },
  threads: { title: 'Threads', one: 'thread', about: 'Conversations and runs, each perhaps of one agent.' },
  workflows: { title: 'Workflows', one: 'workflow', about: 'Steps that are run together.' },
};

/** The kinds in the order in which they are shown. */

/** The REST API's address of a workspace's resources. `baseUrl` is the service's own, without a slash at its end. */
export const apiUrl = (baseUrl: string, workspace: string, kind: ResourceKind): string =>
  `${baseUrl}/api/${encodeURIComponent(workspace)}/${kind}`;

/** A command that lists, with the key itself or the name of a shell variable (`$KEY`) that holds it. */
export const listCommand = (url: string, key = '$KEY'): string =>
  key.startsWith('$') ? `curl -H "X-API-Key: ${key}" ${url}` : `curl -H 'X-API-Key: ${key}' ${url}`;

const createCommand = (url: string, kind: ResourceKind): string => {
  const field = kind === 'threads' ? 'title' : 'name';
  return (
    `curl -X POST -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\\n` +
    `  -d '{"${field}": "My first ${kinds[kind].one}"}' \\\n  ${url}`
  );
};

const nameOf = (item: ResourceRecord): string => item.name ?? item.title ?? item.id;

const columnsOf = (
  kind: ResourceKind,
  workspace: string,
  nowMs: number,
): readonly Column<ResourceRecord>[] => [
  {
    header: kind === 'threads' ? 'Title' : 'Name',
    cell: (item) => (
      <>
        <a href={workspacePath(workspace, kind, item.id)}>{nameOf(item)}</a>
        <code class="id">{item.id}</code>
      </>
    ),
  },
  { header: 'Description', cell: ({ description }) => description ?? <span class="none">None</span> },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} nowMs={nowMs} brief /> },
  { header: 'Updated', cell: ({ updated_at }) => <Time at={updated_at} nowMs={nowMs} /> },
  { header: 'Created by', cell: ({ created_by }) => <Actor actor={created_by} /> },
];

/** One page of a list. */
export type ResourceListPageProps = {
  readonly who: SignedInUser;
  readonly kind: ResourceKind;
  readonly items: readonly ResourceRecord[];
  readonly nextHref?: string | undefined;
  readonly baseUrl: string;
  readonly nowMs: number;
};

/** The resources of one kind; they are made by programs, so an empty list says how. */
export const ResourceListPage = (props: ResourceListPageProps): JSX.Element => {
  const { title, one, about } = kinds[props.kind];
  const url = apiUrl(props.baseUrl, props.who.workspace, props.kind);
  return (
    <Layout title={title} who={props.who} current={props.kind}>
      <Heading title={title} about={about} />
      {props.items.length === 0 ? (
        <EmptyState title={`No ${props.kind} yet`}>
          <p>
            {title} are made through the REST API, with an{' '}
            <a href={workspacePath(props.who.workspace, 'api-keys')}>API key</a> of a writer. This makes one:
          </p>
          <Code id="create-command" label="the command" text={createCommand(url, props.kind)} />
          <p>
            The <a href="/apidoc">API reference</a> says what else {one === 'agent' ? 'an' : 'a'} {one} can
            have.
          </p>
        </EmptyState>
      ) : (
        <>
          <DataTable
            id="resources"
            caption={title}
            columns={columnsOf(props.kind, props.who.workspace, props.nowMs)}
            rows={props.items}
          />
          <Pager nextHref={props.nextHref} />
        </>
      )}
    </Layout>
  );
};

/** One resource. */
export type ResourcePageProps = {
  readonly who: SignedInUser;
  readonly kind: ResourceKind;
  readonly item: ResourceRecord;
  readonly baseUrl: string;
  readonly nowMs: number;
};

/** Everything that is kept about one resource, its metadata as JSON. */
export const ResourcePage = ({ who, kind, item, baseUrl, nowMs }: ResourcePageProps): JSX.Element => (
  <Layout title={nameOf(item)} who={who} current={kind}>
    <Heading
      title={nameOf(item)}
      back={{ href: workspacePath(who.workspace, kind), text: kinds[kind].title }}
      about={item.description ?? undefined}
    />
    <div class="card">
      <dl class="facts">
        <dt>ID</dt>
        <dd>
          <code>{item.id}</code>
        </dd>
        {item.agent_id !== undefined && item.agent_id !== null && (
          <>
            <dt>Agent</dt>
            <dd>
              <a href={workspacePath(who.workspace, 'agents', item.agent_id)}>{item.agent_id}</a>
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Time at={item.created_at} nowMs={nowMs} />
        </dd>
        <dt>Created by</dt>
        <dd>
          <Actor actor={item.created_by} />
        </dd>
        <dt>Updated</dt>
        <dd>
          <Time at={item.updated_at} nowMs={nowMs} />
        </dd>
      </dl>
    </div>
    <section aria-labelledby="metadata-title">
      <h2 id="metadata-title">Metadata</h2>
      <Code id="metadata" label="the metadata" text={JSON.stringify(item.metadata ?? {}, null, 2)} />
    </section>
    <section aria-labelledby="command-title">
      <h2 id="command-title">Get it through the API</h2>
      <Code
        id="get-command"
        label="the command"
        text={listCommand(`${apiUrl(baseUrl, who.workspace, kind)}/${encodeURIComponent(item.id)}`)}
      />
    </section>
  </Layout>
);
