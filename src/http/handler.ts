import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import type { Position } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { answerJson, stateOf } from './answer.ts';
import { actorOf, type Authenticate } from './authentication.ts';
import { readJsonBody } from './body.ts';
import { inputErrors, RequestRefused, type InputError } from './problem.ts';
import { causeOf, minPositionFault, minPositionOf, reasonFault } from './request.ts';
import type { Caller, Route } from './route.ts';
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
  for (const fault of [reasonFault(ctx.req), minPositionFault(ctx.req)])
    if (fault !== undefined) errors.push(fault);
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

const denied = (detail: string): RequestRefused => new RequestRefused('authorization.denied', detail);

/** Who may: told before the input is looked at. */
const refuseStrangers = (ctx: Context, route: Route, caller: Caller | undefined): Caller => {
  if (caller === undefined || !route.callers.includes(caller.kind)) {
    throw denied('This token may not call this endpoint.');
  }
  if (route.ofTenant === true && caller.kind === 'service_account') {
    const { id } = ctx['params'] as { readonly id?: string };
    if (caller.account.tenant_id !== id) throw denied('This service account belongs to another tenant.');
  }
  return caller;
};

/** The services for one request, with how far the log was after what the request wrote. */
const remembering = (
  services: Services,
): { readonly services: Services; readonly written: () => Position } => {
  // What is read from now on is at least as new as this.
  let written = services.reads.position();
  const run: Run = async (command, wish, cause) => {
    const outcome = await services.run(command, wish, cause);
    if (outcome.accepted && outcome.position !== undefined && outcome.position > written)
      written = outcome.position;
    return outcome;
  };
  return { services: { ...services, run }, written: () => written };
};

/** One route as a Koa handler: who may, what was sent, what is done, what is answered. */
export const handlerOf = (route: Route, services: Services, authenticate: Authenticate): Middleware => {
  const answersJson = Object.values(route.responses).some(({ body }) => body !== undefined);
  const callerOf = (ctx: Context): Caller => {
    try {
      return refuseStrangers(ctx, route, stateOf(ctx).caller);
    } catch (error) {
      services.count({ what: 'authentication', result: 'denied' });
      throw error;
    }
  };
  return async (ctx) => {
    const state = stateOf(ctx);
    state.route = route.path;
    let caller = callerOf(ctx);
    if (answersJson && !acceptsJson(ctx)) {
      throw new RequestRefused('request.not-acceptable', 'The answer would be JSON.');
    }
    // Where the body was here when the caller was looked at, nothing was waited for since.
    const isWhole = ctx.req.complete;
    const { params, query, body } = await parseParts(ctx, route);
    const minPosition = minPositionOf(ctx.req);
    if (minPosition !== undefined) await services.reads.reach(minPosition);
    // A wait can be long, in which the bearer can have been ended: it is asked for once more.
    const hasWaited = (route.body !== undefined && !isWhole) || minPosition !== undefined;
    if (hasWaited && caller.kind === 'service_account') caller = await authenticate(ctx.req);
    const cause = causeOf(ctx.req, state.requestId, actorOf(caller));
    const request = { params, query, body, caller, cause, url: ctx.url };
    const { services: own, written } = remembering(services);
    const reply = await route.handle(request, own);
    if ('accepted' in reply) {
      const { code, detail, pointer } = reply;
      throw new RequestRefused(code, detail, pointer === undefined ? {} : { errors: [{ pointer, detail }] });
    }
    answerJson(ctx, reply.status, reply.body, { ...reply.headers, 'X-Position': written() });
  };
};
