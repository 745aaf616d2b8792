import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Middleware } from 'koa';
import type { VNode } from 'preact';
import {
  ApiKeysPage,
  CreatedApiKeyPage,
  NewApiKeyPage,
  RevokeApiKeyPage,
  RollApiKeyPage,
  type ApiKeyRecord,
} from '../../src/http/pages/api-keys.tsx';
import { createAssets } from '../../src/http/pages/assets.ts';
import { ErrorPage } from '../../src/http/pages/error-page.tsx';
import { WorkspaceHomePage } from '../../src/http/pages/home.tsx';
import type { SignedInUser } from '../../src/http/pages/layout.tsx';
import { sendPage } from '../../src/http/pages/page.ts';
import { ProblemPage, ProblemsPage } from '../../src/http/pages/problems.tsx';
import { ResourceListPage, ResourcePage, type ResourceRecord } from '../../src/http/pages/resources.tsx';
import { ConsoleSignInPage, SignInPage } from '../../src/http/pages/sign-in.tsx';
import { consolePages, hostileConsolePages } from './console-pages.tsx';
import { historyPages, hostileHistoryPages } from './history-pages.tsx';
import { time, timeMs, timePlus } from './examples.ts';

const hourMs = 3_600_000;
/** A day in milliseconds. */
export const dayMs = 24 * hourMs;

/** A name that would be an element, an attribute or a script if any page took it for HTML. */
const hostile = '<img src=x onerror=alert(1)>"\'&amp;</script>';

/** A secret as one page alone shows it. */
export const secret = `svc_${'aB3dE5gH7k'.repeat(5)}`;
const baseUrl = 'https://keyledger.example.com';
const who: SignedInUser = { kind: 'user', workspace: 'acme', username: 'alice', role: 'admin' };

/** A key that works. */
export const key: ApiKeyRecord = {
  id: 'key_019a1b2c',
  workspace_id: 'acme',
  name: 'Billing, production',
  role: 'writer',
  created_by: 'user:acme/alice',
  created_at: timePlus(-21 * dayMs),
  expires_at: timePlus(69 * dayMs),
  last_used_at: timePlus(-5 * 60_000),
  prefix: 'svc_aB3dE5',
  status: 'active',
};

const keys: readonly ApiKeyRecord[] = [
  key,
  { ...key, name: 'Nightly export', role: 'reader', prefix: 'svc_9fKq2x', expires_at: timePlus(3 * dayMs) },
  { ...key, name: 'Terraform', role: 'admin', prefix: 'svc_Zz81Lm', expires_at: null, last_used_at: null },
  { ...key, name: 'CI', created_by: 'api_key:key_01', expires_at: timePlus(-dayMs), status: 'expired' },
  { ...key, name: 'Laptop of Bob', created_by: 'user:acme/bob', status: 'revoked' },
];

const agent: ResourceRecord = {
  id: 'agent_019a1b2c3d4e',
  workspace_id: 'acme',
  name: 'Invoice reader',
  description: 'Reads what comes in by mail and books it.',
  metadata: { model: 'small', limits: { tokens: 4096 }, tags: ['mail', 'books'] },
  created_at: timePlus(-2 * dayMs),
  updated_at: timePlus(-hourMs),
  created_by: 'api_key:key_019a1b2c',
};

const thread: ResourceRecord = {
  ...agent,
  id: 'thread_1',
  name: undefined,
  title: 'March',
  agent_id: agent.id,
  description: null,
};

const latest = (name: string, count: number) => ({
  items: Array.from({ length: count }, (_, at) => ({
    id: `${name}_${at}`,
    name: `${name} number ${at + 1}`,
    updated_at: timePlus(-(at + 1) * hourMs),
  })),
  more: count > 4,
});

const lists = { agents: latest('Agent', 5), threads: latest('Thread', 2), workflows: latest('Workflow', 0) };
/** What every page of a workspace is given. */
export const here = { who, baseUrl, nowMs: timeMs };

/** A fault of every field of the form that makes a key. */
export const formErrors = [
  { pointer: '/name', detail: 'Give the key a name.' },
  { pointer: '/role', detail: 'Choose a role.' },
  { pointer: '/expires', detail: 'Choose when the key expires.' },
  { pointer: '/expires_date', detail: 'The date is in the past.' },
];

const form = { who, errors: [], roles: ['reader', 'writer', 'admin'] } as const;

/** Every page there is, in each of the states that look different. */
export const pages: Readonly<Record<string, VNode>> = {
  'sign-in': <SignInPage next="/w/acme/agents" />,
  'sign-in-refused': (
    <SignInPage workspace="acme" username="alice" error="The workspace, username or password is wrong." />
  ),
  'sign-in-too-many': <SignInPage workspace="acme" username="alice" retryAfterSecs={300} />,
  problem: <ProblemPage code="credential.ttl-above-max" />,
  problems: <ProblemsPage />,
  'console-sign-in': <ConsoleSignInPage error="This is not the admin token." />,
  'console-not-configured': <ConsoleSignInPage notConfigured />,
  home: <WorkspaceHomePage {...here} {...lists} hasKeys />,
  'home-without-keys': <WorkspaceHomePage {...here} {...lists} hasKeys={false} />,
  agents: <ResourceListPage {...here} kind="agents" items={[agent, { ...agent, description: null }]} />,
  threads: <ResourceListPage {...here} kind="threads" items={[thread]} nextHref="?cursor=2" />,
  'workflows-empty': <ResourceListPage {...here} kind="workflows" items={[]} />,
  agent: <ResourcePage {...here} kind="agents" item={agent} />,
  thread: <ResourcePage {...here} kind="threads" item={thread} />,
  'api-keys': (
    <ApiKeysPage
      {...here}
      keys={keys}
      nextHref="/w/acme/api-keys?cursor=2"
      notice={{ kind: 'success', text: 'The key “Laptop of Bob” is revoked.' }}
    />
  ),
  'api-keys-long': (
    <ApiKeysPage
      {...here}
      who={{ ...who, workspace: 'w'.repeat(63), username: 'u'.repeat(63) }}
      keys={[{ ...key, name: 'n'.repeat(128), created_by: `api_key:${'k'.repeat(64)}` }]}
    />
  ),
  'api-keys-empty': <ApiKeysPage {...here} keys={[]} />,
  'api-key-new': <NewApiKeyPage {...form} values={{}} />,
  'api-key-new-wrong': (
    <NewApiKeyPage {...form} values={{ expires: 'date', expires_date: '2020-01-01' }} errors={formErrors} />
  ),
  'api-key-new-never': <NewApiKeyPage {...form} values={{ name: 'CI', role: 'writer', expires: 'never' }} />,
  'api-key-created': <CreatedApiKeyPage {...here} record={key} secret={secret} />,
  'api-key-created-again': <CreatedApiKeyPage {...here} record={key} secret={undefined} />,
  'api-key-revoke': <RevokeApiKeyPage who={who} record={key} />,
  'api-key-roll': <RollApiKeyPage who={who} record={key} />,
  'error-of-user': (
    <ErrorPage
      who={who}
      status={404}
      title="There is no such page"
      detail="There is nothing at this path."
      requestId="019a0000-0000-7000-8000-000000000001"
    />
  ),
  'error-of-nobody': (
    <ErrorPage status={503} title="Not available" detail="Try again in a moment." requestId="request-1" />
  ),
  ...consolePages,
  ...historyPages,
};

const hostileWho: SignedInUser = { kind: 'user', workspace: hostile, username: hostile, role: 'reader' };
const hostileKey: ApiKeyRecord = {
  ...key,
  id: hostile,
  workspace_id: hostile,
  name: hostile,
  created_by: `user:acme/${hostile}`,
  prefix: hostile,
};
const hostileItem: ResourceRecord = {
  ...agent,
  id: hostile,
  name: hostile,
  description: hostile,
  metadata: { [hostile]: hostile },
  agent_id: hostile,
  created_by: hostile,
};
const hostileList = { items: [{ id: hostile, name: hostile, updated_at: time }], more: true };
const hostileHere = { who: hostileWho, baseUrl, nowMs: timeMs };
/** Pages with every text that comes from elsewhere hostile. */
export const hostilePages: readonly VNode[] = [
  <SignInPage workspace={hostile} username={hostile} error={hostile} next={hostile} />,
  <ConsoleSignInPage error={hostile} />,
  <WorkspaceHomePage
    {...hostileHere}
    agents={hostileList}
    threads={hostileList}
    workflows={hostileList}
    hasKeys={false}
  />,
  <ResourceListPage {...hostileHere} kind="agents" items={[hostileItem]} nextHref={hostile} />,
  <ResourcePage {...hostileHere} kind="threads" item={hostileItem} />,
  <ApiKeysPage {...hostileHere} keys={[hostileKey]} notice={{ kind: 'success', text: hostile }} />,
  <NewApiKeyPage
    {...form}
    who={hostileWho}
    values={{ name: hostile, expires_date: hostile }}
    errors={[{ pointer: `/${hostile}`, detail: hostile }]}
  />,
  <CreatedApiKeyPage {...hostileHere} record={hostileKey} secret={hostile} />,
  <RevokeApiKeyPage who={hostileWho} record={hostileKey} />,
  <RollApiKeyPage who={hostileWho} record={hostileKey} />,
  <ErrorPage who={hostileWho} status={400} title={hostile} detail={hostile} requestId={hostile} />,
  ...hostileConsolePages(hostile),
  ...hostileHistoryPages(hostile),
];

/** Pages that are served, and how to stop it. */
export type ServedPages = { readonly url: string; stop(): Promise<void> };

/** Serves every page under `/pages/<name>` as the service would, on any free port, with 404 for all else. */
export const servePages = async (): Promise<ServedPages> => {
  const app = new Koa();
  app.use(createAssets().routes() as Middleware);
  app.use((ctx) => {
    const page = pages[ctx.path.slice('/pages/'.length)];
    if (page !== undefined) sendPage(ctx, 200, page);
  });
  const handle = app.callback();
  const server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
