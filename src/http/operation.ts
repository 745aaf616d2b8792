import type { z } from 'zod';
import type { Refused } from '../core/command.ts';
import type { RefusalCode } from '../refusals.ts';
import { inputErrors, RequestRefused, type InputError } from './problem.ts';
import { roles } from './schemas.ts';
import type { Caller, Route } from './route.ts';

const denied = (detail: string): RequestRefused => new RequestRefused('authorization.denied', detail);

/** The tenant that a caller belongs to, and what it is called to its face; the operator belongs to none. */
const belonging = (caller: Caller): { readonly tenant: string; readonly who: string } | undefined => {
  switch (caller.kind) {
    case 'admin':
    case 'verifier':
      return undefined;
    case 'service_account':
      return { tenant: caller.account.tenant_id, who: 'This service account belongs' };
    case 'api_key':
      return { tenant: caller.key.workspace_id, who: 'This API key belongs' };
    case 'user':
      return { tenant: caller.session.workspace_id, who: 'You belong' };
  }
};

/** Who may: told before the input is looked at. */
export const refuseStrangers = (route: Route, caller: Caller | undefined, params: unknown): Caller => {
  if (caller === undefined || !route.callers.includes(caller.kind)) {
    throw denied('This caller may not call this endpoint.');
  }
  const { tenantParam, keyRole } = route;
  const own = belonging(caller);
  if (tenantParam !== undefined && own !== undefined) {
    const named = (params as { readonly [name: string]: string | undefined })[tenantParam];
    if (named !== own.tenant) throw denied(`${own.who} to another tenant.`);
  }
  if (
    caller.kind === 'api_key' &&
    keyRole !== undefined &&
    roles.indexOf(caller.key.role) < roles.indexOf(keyRole)
  )
    throw denied(`This takes an API key of the role ${keyRole}${keyRole === 'admin' ? '' : ' or above'}.`);
  return caller;
};

/** The parts of a request, before or after its route's schemas. */
export type Parts = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

/** Parses all parts and names the faults of all, those found before among them; throws `request.invalid`. */
export const parseParts = (route: Route, sent: Parts, faults: readonly InputError[] = []): Parts => {
  const errors: InputError[] = [...faults];
  const parse = (schema: z.ZodType, value: unknown, place?: InputError['in']): unknown => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) errors.push(...inputErrors(parsed.error, place));
    return parsed.data;
  };
  const params = parse(route.params, sent.params, 'path');
  const query = parse(route.query, sent.query, 'query');
  let body: unknown;
  if (route.body !== undefined) {
    if (sent.body === undefined && route.bodyOptional !== true) {
      errors.push({ pointer: '', detail: 'A JSON body is required.' });
    } else body = parse(route.body, sent.body === undefined ? {} : sent.body);
  }
  if (errors.length > 0) throw new RequestRefused('request.invalid', 'The request is not valid.', { errors });
  return { params, query, body };
};

/** A handler's refusal as what is thrown on its way to the caller. */
export const thrownOf = ({ code, detail, pointer }: Refused<RefusalCode>): RequestRefused =>
  new RequestRefused(code, detail, pointer === undefined ? {} : { errors: [{ pointer, detail }] });
