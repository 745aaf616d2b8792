import { performance } from 'node:perf_hooks';
import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { z } from 'zod';
import type { RefusalCode } from '../refusals.ts';
import { actorOf, type Authenticate } from './authentication.ts';
import { readJsonBody } from './body.ts';
import { inputErrors, problem, RequestRefused, statusOfCode, toRefused, type InputError } from './problem.ts';
import { causeOf, refuseAmbiguous, requestIdOf } from './request.ts';
import type { Caller, JsonText, Reply, Route } from './route.ts';
import type { Services } from './services.ts';

/** One request as it went, for the log and the metrics. `route` is the template, never the path. */
export type RequestReport = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly actor: string | undefined;
  readonly code: RefusalCode | undefined;
  readonly error: unknown;
};

/** What one request carries from step to step. */
export type RequestState = {
  requestId: string;
  route?: string;
  caller?: Caller;
  code?: RefusalCode;
  error?: unknown;
};

type Mounting = {
  readonly services: Services;
  readonly authenticate: Authenticate;
  readonly routes: readonly Route[];
  /** Pages, documents and health, each a router of its own. */
  readonly others: readonly Router[];
  readonly begun: () => void;
  readonly report: (report: RequestReport) => void;
  /** True once the service is stopping: connections are then not kept. */
  readonly isStopping: () => boolean;
};

const adminPrefix = '/admin/v1';

const isAdminPath = (path: string): boolean => path === adminPrefix || path.startsWith(`${adminPrefix}/`);

const stateOf = (ctx: Context): RequestState => ctx.state;

/** Answers a refusal as a problem document. */
const answerProblem = (ctx: Context, error: unknown): void => {
  const refused = toRefused(error);
  const state = stateOf(ctx);
  state.code = refused.code;
  if (refused.code === 'service.internal' || refused.code === 'service.unavailable') state.error = error;
  for (const [name, value] of Object.entries(refused.headers)) ctx.res.setHeader(name, value);
  ctx.status = statusOfCode(refused.code);
  ctx.body = JSON.stringify(problem(refused.code, refused.message, state.requestId, refused.errors));
  ctx.res.setHeader('Content-Type', 'application/problem+json');
};

/** The border: everything thrown below ends here, and every request is reported once. */
const border =
  ({ begun, report, isStopping }: Mounting): Middleware =>
  async (ctx, next) => {
    const started = performance.now();
    begun();
    const { req, res } = ctx;
    const state = stateOf(ctx);
    state.requestId = requestIdOf(req);
    res.setHeader('X-Request-Id', state.requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (isStopping()) res.setHeader('Connection', 'close');
    res.once('close', () => {
      report({
        method: req.method ?? '',
        route: state.route ?? String(ctx['_matchedRoute'] ?? 'unmatched'),
        status: res.statusCode,
        ms: performance.now() - started,
        requestId: state.requestId,
        actor: state.caller === undefined ? undefined : actorOf(state.caller),
        code: state.code,
        error: state.error,
      });
    });
    try {
      refuseAmbiguous(req);
      await next();
    } catch (error) {
      answerProblem(ctx, error);
    }
  };

/** Authentication comes before anything else, so that a stranger learns nothing about what exists. */
const authentication =
  ({ authenticate, services }: Mounting): Middleware =>
  async (ctx, next) => {
    if (isAdminPath(ctx.path)) {
      ctx.res.setHeader('Cache-Control', 'no-store');
      try {
        stateOf(ctx).caller = await authenticate(ctx.req);
        services.count({ what: 'authentication', result: 'ok' });
      } catch (error) {
        const code = error instanceof RequestRefused ? error.code : undefined;
        if (code === 'authentication.missing') services.count({ what: 'authentication', result: 'missing' });
        if (code === 'authentication.invalid') services.count({ what: 'authentication', result: 'invalid' });
        throw error;
      }
    }
    await next();
  };

/** Whether the client takes JSON; the usual headers are told without a parser. */
const acceptsJson = (ctx: Context): boolean => {
  const { accept } = ctx.req.headers;
  return (
    accept === undefined || accept === '*/*' || accept === 'application/json' || ctx.accepts('json') !== false
  );
};

type Parts = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

/** Parses all parts and names the faults of all, not just the first. */
const parseParts = async (ctx: Context, route: Route): Promise<Parts> => {
  const errors: InputError[] = [];
  const parse = (schema: z.ZodType, value: unknown, place?: InputError['in']): unknown => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) errors.push(...inputErrors(parsed.error, place));
    return parsed.data;
  };
  const params = parse(route.params, ctx['params'], 'path');
  const query = parse(route.query, ctx.querystring === '' ? {} : ctx.query, 'query');
  let body: unknown;
  if (route.body !== undefined) {
    const sent = await readJsonBody(ctx);
    if (sent === undefined && route.bodyOptional !== true) {
      errors.push({ pointer: '', detail: 'A JSON body is required.' });
    } else body = parse(route.body, sent ?? {});
  }
  if (errors.length > 0) throw new RequestRefused('request.invalid', 'The request is not valid.', { errors });
  return { params, query, body };
};

const isJsonText = (body: unknown): body is JsonText =>
  typeof body === 'object' && body !== null && 'json' in body && Object.keys(body).length === 1;

/** Puts a handler's reply on the wire; a refusal takes the same way as every other failure. */
const answer = (ctx: Context, reply: Reply): void => {
  if ('accepted' in reply) throw new RequestRefused(reply.code, reply.detail);
  ctx.status = reply.status;
  if (reply.headers !== undefined) {
    for (const [name, value] of Object.entries(reply.headers))
      if (value !== undefined) ctx.res.setHeader(name, value);
  }
  const body: unknown = reply.body;
  if (body === undefined) return;
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.body = isJsonText(body) ? body.json : JSON.stringify(body);
};

/** One route as a Koa handler: who may, what was sent, what is done, what is answered. */
const handlerOf = (route: Route, services: Services): Middleware => {
  const callers = new Set<string>(route.callers);
  return async (ctx) => {
    const state = stateOf(ctx);
    state.route = route.path;
    const { caller } = state;
    if (caller === undefined || !callers.has(caller.kind)) {
      services.count({ what: 'authentication', result: 'denied' });
      throw new RequestRefused('authorization.denied', 'This token may not call this endpoint.');
    }
    if (!acceptsJson(ctx)) throw new RequestRefused('request.not-acceptable', 'The answer would be JSON.');
    const { params, query, body } = await parseParts(ctx, route);
    const cause = causeOf(ctx.req, state.requestId, actorOf(caller));
    const reply = await route.handle({ params, query, body, caller, cause, url: ctx.url }, services);
    if ('accepted' in reply) services.count({ what: 'refusal', code: reply.code });
    answer(ctx, reply);
  };
};

/** What no router answered: 405 where the path is known under another method, else 404. */
const unmatched =
  (routers: readonly Router[]): Middleware =>
  (ctx) => {
    const methods = new Set(
      routers.flatMap((router) => router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods)),
    );
    // A path that is known under this very method is one whose handler found nothing to answer.
    if (methods.size === 0 || methods.has(ctx.method))
      throw new RequestRefused('route.unknown', 'There is nothing at this path.');
    const allow = [...methods].toSorted().join(', ');
    throw new RequestRefused('route.method-not-allowed', `This path answers ${allow}.`, {
      headers: { Allow: allow },
    });
  };

/** The Koa application: border, authentication, routes, and the answer for what there is not. */
export const mount = (mounting: Mounting): Koa => {
  const app = new Koa();
  const api = new Router({ strict: true, sensitive: true });
  for (const route of mounting.routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    api.register(path, [route.method.toLowerCase()], [handlerOf(route, mounting.services)]);
  }
  const routers = [api, ...mounting.others];
  app.use(border(mounting));
  app.use(authentication(mounting));
  for (const router of routers) app.use(router.routes() as Middleware);
  app.use(unmatched(routers));
  // What escapes the border is a fault of the connection itself (a client that went away), not of a request.
  app.silent = true;
  return app;
};
