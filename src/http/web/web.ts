import { Router } from '@koa/router';
import type { Context } from 'koa';
import { findByKey } from '../../projections/api-keys.ts';
import { findByBearer } from '../../projections/service-accounts.ts';
import type { UserSession } from '../../projections/sessions.ts';
import { stateOf } from '../answer.ts';
import { isSecure } from '../client-address.ts';
import { RequestRefused } from '../problem.ts';
import type { Caller, Route } from '../route.ts';
import type { Services } from '../services.ts';
import type { SignInThrottle } from '../sign-in-throttle.ts';
import { readForm, type Form } from './form.ts';
import { createCallOperation, type Answered } from './operations.ts';
import { refuseCrossSite } from './same-origin.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** What the handlers of pages work with. */
export type WebNeeds = {
  readonly services: Services;
  readonly throttle: SignInThrottle;
  /** The admin tokens that are settings now; none where the control plane is not configured. */
  readonly adminTokens: readonly string[];
  /** Every operation that a page may call. */
  readonly routes: readonly Route[];
};

/** Somebody who is signed in, and what they may ask of the API. */
export type Visit = {
  readonly ctx: Context;
  readonly params: Readonly<Record<string, string>>;
  /** What the form holds that was sent; nothing where the page is only asked for. */
  readonly form: Form;
  /** Calls an operation of the API as whoever is signed in; throws `RequestRefused`. */
  readonly call: <T>(id: string, sent?: Sent) => Promise<Answered<T>>;
  /** The id of the API key or service account that a secret is of, while it works; none where it is nobody's. */
  readonly ownerOf: (secret: string) => Promise<string | undefined>;
  /** Where the service is for whoever sees the page, without a slash at the end. */
  readonly baseUrl: string;
  readonly nowMs: number;
};

/** The parts of a call that are not left out. */
export type Sent = { readonly params?: object; readonly query?: object; readonly body?: object };

type Handle<V> = (visit: V) => Promise<void>;

/** Makes routers of pages for those who are signed in. */
export type Web = {
  readonly sessions: Sessions;
  /** For the pages of a workspace: `:workspace` in the path must be that of the session. */
  userPages(): Pages<Visit & { readonly session: UserSession }>;
  /** For the pages of the console. */
  operatorPages(): Pages<Visit>;
};

/** Pages of one kind: `get` shows, `post` does what a form of this service's own pages asks. */
export type Pages<V> = {
  readonly router: Router;
  get(path: string, handle: Handle<V>): void;
  post(path: string, handle: Handle<V>): void;
};

/** Sends the browser to another page, with GET (RFC 9110 §15.4.4). */
export const goTo = (ctx: Context, path: string): void => {
  ctx.status = 303;
  ctx.set('Location', path);
  ctx.set('Cache-Control', 'no-store');
  ctx.body = '';
};

/** The path to come back to after a sign-in; a page of this service or none. */
export const nextOf = (sent: string | undefined, prefix: '/w/' | '/console'): string | undefined =>
  sent !== undefined && sent.startsWith(prefix) && /^[\w/.~%?=&-]{1,512}$/.test(sent) ? sent : undefined;

/** Where the service is, as the browser named it. */
const baseUrlOf = (ctx: Context): string =>
  `${isSecure(ctx.req) ? 'https' : 'http'}://${ctx.req.headers.host ?? ''}`;

const ownerOf = async (secret: string, { reads, secrets, clock }: Services): Promise<string | undefined> => {
  const digest = secrets.digest(secret);
  const key = await findByKey(reads, digest, clock());
  if (key?.standing === 'active') return key.secret.api_key_id;
  return (await findByBearer(reads, digest, clock()))?.account.id;
};

/** Reads the form of a POST; refuses one that another site sent. */
export const ownForm = async (ctx: Context): Promise<Form> => {
  refuseCrossSite(ctx.req);
  return readForm(ctx);
};

/** `enter` looks who is there; it answers nobody itself, and then nothing more is done. */
const pagesOf = <V>(enter: (ctx: Context, form: Form) => Promise<V | undefined>): Pages<V> => {
  const router = new Router({ strict: true, sensitive: true });
  // Whoever is signed in is looked for once the form is here, so that a session which ends meanwhile does nothing.
  const through =
    (handle: Handle<V>, formOf: (ctx: Context) => Promise<Form>) =>
    async (ctx: Context): Promise<void> => {
      const visit = await enter(ctx, await formOf(ctx));
      if (visit !== undefined) await handle(visit);
    };
  return {
    router,
    get: (path, handle) => {
      router.get(
        path,
        through(handle, async () => ({})),
      );
    },
    post: (path, handle) => {
      router.post(path, through(handle, ownForm));
    },
  };
};

const comeBack = (ctx: Context): string =>
  ctx.method === 'POST' ? '' : `?next=${encodeURIComponent(ctx.url)}`;

/** Joins what pages need. */
export const createWeb = ({ services, adminTokens, routes }: WebNeeds): Web => {
  const sessions = createSessions(services, adminTokens);
  const callOperation = createCallOperation(routes, services);

  const visitOf = (ctx: Context, form: Form, caller: Caller): Visit => {
    stateOf(ctx).caller = caller;
    return {
      ctx,
      params: ctx['params'] as Readonly<Record<string, string>>,
      form,
      call: (id, sent) => callOperation(ctx, id, caller, sent),
      ownerOf: (secret) => ownerOf(secret, services),
      baseUrl: baseUrlOf(ctx),
      nowMs: services.clock(),
    };
  };

  return {
    sessions,
    userPages: () =>
      pagesOf(async (ctx, form) => {
        const session = await sessions.findUser(ctx);
        if (session === undefined) {
          goTo(ctx, `/sign-in${comeBack(ctx)}`);
          return undefined;
        }
        const visit = { ...visitOf(ctx, form, { kind: 'user', session }), session };
        if (visit.params['workspace'] !== session.workspace_id) {
          throw new RequestRefused(
            'authorization.denied',
            `You are signed in to the workspace ${session.workspace_id}.`,
          );
        }
        return visit;
      }),
    operatorPages: () =>
      pagesOf(async (ctx, form) => {
        if (await sessions.isOperator(ctx)) return visitOf(ctx, form, { kind: 'admin' });
        goTo(ctx, `/console/sign-in${comeBack(ctx)}`);
        return undefined;
      }),
  };
};
