import type { Context } from 'koa';
import { isJsonText, stateOf } from '../answer.ts';
import { servicesAsOf, takeAsOf } from '../as-of.ts';
import { actorOf } from '../authentication.ts';
import { parseParts, refuseStrangers, thrownOf, type Parts } from '../operation.ts';
import { causeOf } from '../request.ts';
import type { Caller, Route } from '../route.ts';
import type { Services } from '../services.ts';

/** What an operation answered: its body parsed, and for a list the place where the next page starts. */
export type Answered<T> = { readonly body: T; readonly cursor?: string };

/**
 * Calls an operation of the API for whoever is signed in, in this process: the same checks, the same schemas, the same
 * commands and queries as over HTTP. Throws `RequestRefused` as the border would answer it.
 */
export type CallOperation = <T>(
  ctx: Context,
  id: string,
  caller: Caller,
  sent?: Partial<Parts>,
) => Promise<Answered<T>>;

/** Pages ask for lists with a limit, and those are never streamed. */
const parsed = (body: unknown): unknown => {
  if (!isJsonText(body)) return body;
  if (typeof body.json !== 'string') throw new Error('A page asked for a whole list.');
  return JSON.parse(body.json);
};

/** The log has its own names for it, one for each order. */
const cursorOf = (link: string | undefined): string | undefined => {
  const [, url = ''] = /^<([^>]*)>/.exec(link ?? '') ?? [];
  const next = new URLSearchParams(url.split('?', 2)[1]);
  return next.get('cursor') ?? next.get('after') ?? next.get('before') ?? undefined;
};

/** Calls any of these routes by its id. */
export const createCallOperation = (routes: readonly Route[], services: Services): CallOperation => {
  const byId = new Map(routes.map((route) => [route.id, route]));
  return async (ctx, id, caller, sent = {}) => {
    const route = byId.get(id);
    if (route === undefined) throw new Error(`There is no operation ${id}.`);
    const { params = {}, query = {}, body } = sent;
    refuseStrangers(route, caller, params);
    const { asOf, query: own, faults } = takeAsOf(route, query as Readonly<Record<string, unknown>>);
    const parts = parseParts(route, { params, query: own, body }, faults);
    const then = await servicesAsOf(asOf, services);
    const cause = causeOf(ctx.req, stateOf(ctx), actorOf(caller));
    const reply = await route.handle({ ...parts, caller, cause, url: '', preconditions: {} }, then);
    if ('accepted' in reply) throw thrownOf(reply);
    const cursor = cursorOf(reply.headers?.Link);
    return { body: parsed(reply.body) as never, ...(cursor === undefined ? {} : { cursor }) };
  };
};
