import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { Position } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { answerJson, stateOf } from './answer.ts';
import { servicesAsOf, takeAsOf } from './as-of.ts';
import { actorOf, type Authenticate } from './authentication.ts';
import { readJsonBody } from './body.ts';
import { parseParts, refuseStrangers, thrownOf } from './operation.ts';
import { preconditionsOf } from './preconditions.ts';
import { RequestRefused } from './problem.ts';
import { causeOf, minPositionFault, minPositionOf, reasonFault } from './request.ts';
import type { Caller, Form, Route } from './route.ts';
import type { Services } from './services.ts';

/** The form that the client wants most; the usual headers are told without a parser. Throws where it takes none. */
const formOf = (ctx: Context, forms: readonly Form[]): 'application/json' | Form => {
  const { accept } = ctx.req.headers;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'application/json';
  const form = ctx.accepts('application/json', ...forms);
  if (form === false) {
    const all = ['JSON', ...forms].join(' or ');
    throw new RequestRefused('request.not-acceptable', `The answer would be ${all}.`);
  }
  return form as 'application/json' | Form;
};

/** Where a stream broke off, as the client tells it. */
const lastEventIdOf = ({ headers }: IncomingMessage): string | undefined => {
  const sent = headers['last-event-id'];
  return typeof sent === 'string' && sent !== '' ? sent : undefined;
};

/** The parts as they were sent, parsed, and the moment as of which they are asked. */
const readParts = async (ctx: Context, route: Route) => {
  const { asOf, query, faults } = takeAsOf(route, ctx.querystring === '' ? {} : ctx.query);
  const headers = [reasonFault(ctx.req), minPositionFault(ctx.req)].filter((fault) => fault !== undefined);
  const sent = {
    params: ctx['params'] as unknown,
    query,
    body: route.body === undefined ? undefined : await readJsonBody(ctx),
  };
  return { asOf, ...parseParts(route, sent, [...headers, ...faults]) };
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
      return refuseStrangers(route, stateOf(ctx).caller, ctx['params']);
    } catch (error) {
      services.count({ what: 'authentication', result: 'denied' });
      throw error;
    }
  };
  return async (ctx) => {
    const state = stateOf(ctx);
    state.route = route.path;
    let caller = callerOf(ctx);
    const form = answersJson ? formOf(ctx, route.forms ?? []) : 'application/json';
    // Where the body was here when the caller was looked at, nothing was waited for since.
    const isWhole = ctx.req.complete;
    const { asOf, params, query, body } = await readParts(ctx, route);
    const minPosition = minPositionOf(ctx.req);
    if (minPosition !== undefined) await services.reads.reach(minPosition);
    // A wait can be long, in which the bearer or key can have been ended: it is asked for once more.
    const hasWaited = (route.body !== undefined && !isWhole) || minPosition !== undefined;
    if (hasWaited && caller.kind !== 'admin' && caller.kind !== 'verifier')
      caller = await authenticate(ctx.req);
    const cause = causeOf(ctx.req, state, actorOf(caller));
    const preconditions = preconditionsOf(ctx.req.headers);
    const lastEventId = lastEventIdOf(ctx.req);
    const parts = { params, query, body };
    const request = {
      ...parts,
      caller,
      cause,
      url: ctx.url,
      preconditions,
      ...(form === 'application/json' ? {} : { form }),
      ...(lastEventId === undefined ? {} : { lastEventId }),
    };
    const { services: own, written } = remembering(await servicesAsOf(asOf, services));
    const reply = await route.handle(request, own);
    if ('accepted' in reply) throw thrownOf(reply);
    answerJson(ctx, reply.status, reply.body, { ...reply.headers, 'X-Position': written() });
  };
};
