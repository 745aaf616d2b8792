import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import { answerJson, stateOf } from './answer.ts';
import { actorOf } from './authentication.ts';
import { readJsonBody } from './body.ts';
import { inputErrors, RequestRefused, type InputError } from './problem.ts';
import { causeOf } from './request.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';

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
    } else body = parse(route.body, sent === undefined ? {} : sent);
  }
  if (errors.length > 0) throw new RequestRefused('request.invalid', 'The request is not valid.', { errors });
  return { params, query, body };
};

/** One route as a Koa handler: who may, what was sent, what is done, what is answered. */
export const handlerOf = (route: Route, services: Services): Middleware => {
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
    if ('accepted' in reply) {
      services.count({ what: 'refusal', code: reply.code });
      throw new RequestRefused(reply.code, reply.detail);
    }
    answerJson(ctx, reply.status, reply.body, reply.headers);
  };
};
