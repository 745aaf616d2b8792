import type { Router } from '@koa/router';
import type { JSX } from 'preact';
import { resourceKinds, type ResourceKind } from '../../projections/resources.ts';
import type { UserSession } from '../../projections/sessions.ts';
import {
  ApiKeysPage,
  CreatedApiKeyPage,
  NewApiKeyPage,
  RevokeApiKeyPage,
  RollApiKeyPage,
  type ApiKeyRecord,
} from '../pages/api-keys.tsx';
import { WorkspaceHomePage, type Latest } from '../pages/home.tsx';
import { workspacePath } from '../pages/layout.tsx';
import { sendPage } from '../pages/page.ts';
import { ResourceListPage, ResourcePage, type ResourceRecord } from '../pages/resources.tsx';
import { RequestRefused, type InputError } from '../problem.ts';
import { roles } from '../schemas.ts';
import { handOver, takeHandedOver } from './cookies.ts';
import type { Form } from './form.ts';
import { nextHref, noticeOf, orAgain, pageQuery, signedInUser } from './visits.ts';
import { goTo, type Visit, type Web } from './web.ts';

/** The latest of each kind on the home page. */
const latestRows = 5;

const daySecs = 86_400;

type UserVisit = Visit & { readonly session: UserSession };

/** How operations are called: `listAgents`, `getAgent`. */
const nounOf = (kind: ResourceKind): string => `${kind[0]?.toUpperCase()}${kind.slice(1)}`;

const workspaceOf = ({ session }: UserVisit) => ({ workspace_id: session.workspace_id });

const notices: ReadonlyMap<string, string> = new Map([
  ['revoked', 'The key is revoked. Nothing that uses it works any more.'],
]);

const homePage = async (visit: UserVisit): Promise<void> => {
  const { ctx, call, session, baseUrl, nowMs } = visit;
  const params = workspaceOf(visit);
  const latest = async (kind: ResourceKind): Promise<Latest> => {
    const query = { limit: String(latestRows), order: 'desc' };
    const { body, cursor } = await call<readonly ResourceRecord[]>(`list${nounOf(kind)}`, { params, query });
    const items = body.map(({ id, name, title, updated_at }) => ({
      id,
      name: name ?? title ?? '',
      updated_at,
    }));
    return { items, more: cursor !== undefined };
  };
  const [agents, threads, workflows, keys] = await Promise.all([
    latest('agents'),
    latest('threads'),
    latest('workflows'),
    call<readonly ApiKeyRecord[]>('listApiKeys', { params, query: pageQuery(visit) }),
  ]);
  sendPage(
    ctx,
    200,
    <WorkspaceHomePage
      who={signedInUser(session)}
      agents={agents}
      threads={threads}
      workflows={workflows}
      hasKeys={keys.body.some(({ status }) => status === 'active')}
      baseUrl={baseUrl}
      nowMs={nowMs}
    />,
  );
};

const resourcePages = (kind: ResourceKind) => ({
  list: async (visit: UserVisit): Promise<void> => {
    const { ctx, call, session, baseUrl, nowMs } = visit;
    const { body, cursor } = await call<readonly ResourceRecord[]>(`list${nounOf(kind)}`, {
      params: workspaceOf(visit),
      query: pageQuery(visit),
    });
    const page = {
      who: signedInUser(session),
      kind,
      items: body,
      nextHref: nextHref(visit, cursor),
      baseUrl,
      nowMs,
    };
    sendPage(ctx, 200, <ResourceListPage {...page} />);
  },
  one: async (visit: UserVisit): Promise<void> => {
    const { ctx, call, params, session, baseUrl, nowMs } = visit;
    const { body } = await call<ResourceRecord>(`get${nounOf(kind).slice(0, -1)}`, {
      params: { ...workspaceOf(visit), id: params['id'] },
    });
    sendPage(
      ctx,
      200,
      <ResourcePage who={signedInUser(session)} kind={kind} item={body} baseUrl={baseUrl} nowMs={nowMs} />,
    );
  },
});

const keysPage = async (visit: UserVisit): Promise<void> => {
  const { ctx, call, session, baseUrl, nowMs } = visit;
  const { body, cursor } = await call<readonly ApiKeyRecord[]>('listApiKeys', {
    params: workspaceOf(visit),
    query: pageQuery(visit),
  });
  const page = { who: signedInUser(session), keys: body, nextHref: nextHref(visit, cursor), baseUrl, nowMs };
  sendPage(ctx, 200, <ApiKeysPage {...page} notice={noticeOf(visit, notices)} />);
};

/** When a key expires that is asked for with the form; refused where it is not said, lest a key live for ever unasked. */
const expiryOf = ({ expires = '', expires_date = '' }: Form, nowMs: number): string | null => {
  if (expires === 'never') return null;
  if (expires === 'date') return expires_date;
  if (/^[1-9]\d{0,3}$/.test(expires)) return new Date(nowMs + Number(expires) * daySecs * 1000).toISOString();
  throw new RequestRefused('request.invalid', 'The request is not valid.', {
    errors: [{ pointer: '/expires', detail: 'Choose when the key expires.' }],
  });
};

/** The form of a new key, as the API takes it. */
const wishOf = (form: Form, nowMs: number) => ({
  name: form['name']?.trim(),
  role: form['role'],
  expires_at: expiryOf(form, nowMs),
});

/** The API has one member for what the form has two fields for. */
const inForm = (errors: readonly InputError[], { expires }: Form): readonly InputError[] =>
  errors.map((error) =>
    error.pointer === '/expires_at'
      ? { ...error, pointer: expires === 'date' ? '/expires_date' : '/expires' }
      : error,
  );

const newKeyPage = (visit: UserVisit, errors: readonly InputError[] = []): JSX.Element => {
  const { form, session } = visit;
  const mayGive = roles.slice(0, roles.indexOf(session.role) + 1);
  return (
    <NewApiKeyPage who={signedInUser(session)} values={form} errors={inForm(errors, form)} roles={mayGive} />
  );
};

const createKey = (visit: UserVisit): Promise<void> =>
  orAgain(
    visit,
    async () => {
      const { call, form, nowMs } = visit;
      const { body } = await call<ApiKeyRecord & { readonly key: string }>('createApiKey', {
        params: workspaceOf(visit),
        body: wishOf(form, nowMs),
      });
      showOnce(visit, body);
    },
    (errors) => newKeyPage(visit, errors),
  );

/** Goes to the page that shows the secret, which nothing but the browser carries there. */
const showOnce = (
  { ctx }: Visit,
  { workspace_id, id, key }: ApiKeyRecord & { readonly key: string },
): void => {
  const path = workspacePath(workspace_id, 'api-keys', id);
  handOver(ctx, path, key);
  goTo(ctx, path);
};

const findKey = async (visit: UserVisit): Promise<ApiKeyRecord> => {
  const { call, params } = visit;
  const { body } = await call<ApiKeyRecord>('getApiKey', {
    params: { ...workspaceOf(visit), key_id: params['id'] },
  });
  return body;
};

const createdKeyPage = async (visit: UserVisit): Promise<void> => {
  const { ctx, session, baseUrl } = visit;
  const record = await findKey(visit);
  const secret = await takeHandedOver(visit, record.id);
  const page = { who: signedInUser(session), record, secret, baseUrl };
  sendPage(ctx, 200, <CreatedApiKeyPage {...page} />);
};

const confirmation =
  (Page: typeof RevokeApiKeyPage) =>
  async (visit: UserVisit): Promise<void> => {
    sendPage(visit.ctx, 200, <Page who={signedInUser(visit.session)} record={await findKey(visit)} />);
  };

const revokeKey = async (visit: UserVisit): Promise<void> => {
  const { ctx, call, params, session } = visit;
  await call('revokeApiKey', { params: { ...workspaceOf(visit), key_id: params['id'] } });
  goTo(ctx, `${workspacePath(session.workspace_id, 'api-keys')}?done=revoked`);
};

const rollKey = async (visit: UserVisit): Promise<void> => {
  const { call, params, form, session } = visit;
  const record = await findKey(visit);
  await orAgain(
    visit,
    async () => {
      const { body } = await call<ApiKeyRecord & { readonly key: string }>('rollApiKey', {
        params: { ...workspaceOf(visit), key_id: params['id'] },
        body: {
          overlap_secs: /^\d{1,7}$/.test(form['overlap_secs'] ?? '') ? Number(form['overlap_secs']) : -1,
        },
      });
      showOnce(visit, body);
    },
    (errors) => <RollApiKeyPage who={signedInUser(session)} record={record} errors={errors} />,
  );
};

/** The pages of a workspace, for its users. */
export const createWorkspacePages = (web: Web): Router => {
  const pages = web.userPages();
  const keys = '/w/:workspace/api-keys';
  pages.get('/w/:workspace', homePage);
  for (const kind of resourceKinds) {
    const { list, one } = resourcePages(kind);
    pages.get(`/w/:workspace/${kind}`, list);
    pages.get(`/w/:workspace/${kind}/:id`, one);
  }
  pages.get(keys, keysPage);
  pages.post(keys, createKey);
  pages.get(`${keys}/new`, async (visit) => sendPage(visit.ctx, 200, newKeyPage(visit)));
  pages.get(`${keys}/:id`, createdKeyPage);
  pages.get(`${keys}/:id/revoke`, confirmation(RevokeApiKeyPage));
  pages.post(`${keys}/:id/revoke`, revokeKey);
  pages.get(`${keys}/:id/roll`, confirmation(RollApiKeyPage));
  pages.post(`${keys}/:id/roll`, rollKey);
  return pages.router;
};
