import type { JSX } from 'preact';
import { resourceKinds, type ResourceKind } from '../../projections/resources.ts';
import { Layout, workspacePath, type Notice, type SignedInUser } from './layout.tsx';
import { Code, Heading } from './parts.tsx';
import { Time } from './time.tsx';
import { apiUrl, kinds, listCommand } from './resources.tsx';

/** The latest of a list: at most a handful, and whether there are more. */
export type Latest = {
  readonly items: readonly { readonly id: string; readonly name: string; readonly updated_at: string }[];
  readonly more: boolean;
};

/** What a user sees first. */
export type WorkspaceHomePageProps = Readonly<Record<ResourceKind, Latest>> & {
  readonly who: SignedInUser;
  /** Whether the workspace has an API key that works. */
  readonly hasKeys: boolean;
  readonly baseUrl: string;
  readonly nowMs: number;
  readonly notice?: Notice | undefined;
};

const LatestCard = (props: {
  readonly kind: ResourceKind;
  readonly workspace: string;
  readonly latest: Latest;
  readonly nowMs: number;
}): JSX.Element => {
  const { kind, workspace, latest, nowMs } = props;
  const href = workspacePath(workspace, kind);
  return (
    <section class="card latest" aria-labelledby={`${kind}-title`}>
      <h2 id={`${kind}-title`}>
        <a href={href}>{kinds[kind].title}</a>
      </h2>
      {latest.items.length === 0 ? (
        <p class="none">No {kind} yet.</p>
      ) : (
        <ul>
          {latest.items.map(({ id, name, updated_at }) => (
            <li>
              <a href={workspacePath(workspace, kind, id)}>{name}</a>
              <Time at={updated_at} nowMs={nowMs} />
            </li>
          ))}
        </ul>
      )}
      {latest.more && (
        <a class="more" href={href}>
          All {kind}
        </a>
      )}
    </section>
  );
};

/** The start of a workspace: what there is, and how to call it. */
export const WorkspaceHomePage = (props: WorkspaceHomePageProps): JSX.Element => {
  const { who, nowMs } = props;
  return (
    <Layout title={who.workspace} who={who} current="home" notice={props.notice}>
      <Heading
        title={who.workspace}
        about="The latest in this workspace, and how to reach it from a program."
      />
      {!props.hasKeys && (
        <section class="card call" aria-labelledby="first-key">
          <div>
            <h2 id="first-key">Create your first API key</h2>
            <p>
              Programs sign in with an API key. This workspace has none that works, so nothing can call its
              API yet.
            </p>
          </div>
          <a class="button" href={workspacePath(who.workspace, 'api-keys', 'new')}>
            Create New API Key
          </a>
        </section>
      )}
      <div class="columns">
        {resourceKinds.map((kind) => (
          <LatestCard kind={kind} workspace={who.workspace} latest={props[kind]} nowMs={nowMs} />
        ))}
      </div>
      <section aria-labelledby="call-title">
        <h2 id="call-title">Call the API</h2>
        <p>
          Put one of your <a href={workspacePath(who.workspace, 'api-keys')}>API keys</a> in <code>KEY</code>{' '}
          and list the agents. Every call is described in the <a href="/apidoc">API reference</a>.
        </p>
        <Code
          id="command"
          label="the command"
          text={listCommand(apiUrl(props.baseUrl, who.workspace, 'agents'))}
        />
      </section>
    </Layout>
  );
};
