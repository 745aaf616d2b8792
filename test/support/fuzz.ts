import * as fc from 'fast-check';
import { anyJson, nearlyValidFor, validFor } from './arbitraries.ts';
import type { ApiDescription, Operation } from './openapi.ts';

/** A request as it is to be sent. */
export type FuzzRequest = {
  readonly operation: string;
  /** The document's template. */
  readonly template: string;
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/**
 * What exists, by the name of the parameter or member that names it, so that a part of the requests finds it; what a
 * parameter `id` names, by the noun that the operation's own id has in it: `ServiceAccount`.
 */
export type Known = Readonly<Record<string, readonly string[]>>;

/** Who calls, by the headers that say so: those who may be known, and those who can't be. */
export type FuzzCallers = {
  readonly known: readonly Readonly<Record<string, string>>[];
  readonly strange: readonly Readonly<Record<string, string>>[];
};

/** How often an operation is drawn: less often what ends a thing that others need, and least where many need it. */
const weightOf = (operationId: string): number => {
  if (/^delete(Tenant|ServiceAccount)$/.test(operationId)) return 1;
  return /^(delete|revoke|rotate|roll)/.test(operationId) ? 3 : 8;
};

/** The parameters that name the moment, or the moments, as of which a read is answered. */
const moments = new Set(['as_of', 'at_position', 'at', 'from', 'from_position', 'to', 'to_position']);

/** Characters that no request line carries as they are. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll('%00', '%01');

const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });

const valueOf = (name: string, operation: Operation, document: ApiDescription, known: Known) => {
  const parameter = operation.parameters?.find((one) => one.name === name);
  const valid = validFor(parameter?.schema ?? {}, document).map(String);
  const noun = Object.keys(known).find(
    (one) => name === 'id' && /^[A-Z]/.test(one) && operation.operationId.includes(one),
  );
  const there = known[noun ?? name];
  const usual = there === undefined || there.length === 0 ? valid : mostly(fc.constantFrom(...there), valid);
  return mostly(usual, fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }));
};

const targetOf = (template: string, operation: Operation, document: ApiDescription, known: Known) => {
  const named = (place: 'path' | 'query') =>
    (operation.parameters ?? []).filter((parameter) => parameter.in === place).map(({ name }) => name);
  const values = (names: readonly string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, valueOf(name, operation, document, known)])));
  const one = (name: string) => [name, valueOf(name, operation, document, known)] as const;
  const inQuery = named('query');
  const plain = fc.record(Object.fromEntries(inQuery.filter((name) => !moments.has(name)).map(one)), {
    requiredKeys: [],
  });
  // Of the moments most reads may name one.
  const moment = fc
    .subarray(inQuery.filter((name) => moments.has(name)))
    .chain((names) => mostly(fc.constant(names.slice(0, 1)), fc.constant(names)))
    .chain((names) => fc.record(Object.fromEntries(names.map(one))));
  const query = fc.tuple(plain, moment).map(([usual, then]) => ({ ...usual, ...then }));
  const stray = mostly(
    fc.constant(null),
    fc.tuple(fc.string({ maxLength: 10 }), fc.string({ maxLength: 10 })),
  );
  return fc.tuple(values(named('path')), query, stray).map(([path, asked, more]) => {
    // Without the part there would be another path, of another operation or none.
    const at = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(path[name] || '-'));
    const pairs = [...Object.entries(asked), ...(more === null ? [] : [more])];
    const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value ?? '')}`).join('&');
    return text === '' ? at : `${at}?${text}`;
  });
};

const bodyOf = (operation: Operation, document: ApiDescription, known: Known) => {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return mostly<string | undefined>(fc.constant(undefined), fc.constant('{}'));
  // What is there already, so that not every wish fails at its first member, and some meet a conflict.
  const there = fc.record({
    id: fc.constantFrom(...(known['id'] ?? [''])),
    tenant_id: fc.constantFrom(...(known['id'] ?? [''])),
    username: fc.constantFrom(...(known['username'] ?? [''])),
    agent_id: fc.constantFrom(...(known['Agent'] ?? [''])),
    keeps: fc.boolean(),
  });
  const placed = fc
    .tuple(validFor(schema, document), there)
    .map(([value, { id, tenant_id, username, agent_id, keeps }]) => {
      if (typeof value !== 'object' || value === null) return value;
      return {
        ...value,
        ...('tenant_id' in value ? { tenant_id } : {}),
        ...('agent_id' in value ? { agent_id } : {}),
        ...('password' in value && keeps ? { password: 'a good password' } : {}),
        ...('expires_at' in value && keeps ? { expires_at: null } : {}),
        ...('ttl_secs' in value && keeps ? { ttl_secs: 60 } : {}),
        ...('write_schemas' in value && keeps ? { role: 'writer', write_schemas: ['public'] } : {}),
        ...('id' in value && keeps ? { id } : {}),
        ...('username' in value && !keeps ? { username } : {}),
      };
    });
  const json = fc.oneof(
    { weight: 6, arbitrary: placed },
    { weight: 4, arbitrary: nearlyValidFor(schema, document) },
    { weight: 2, arbitrary: anyJson },
  );
  const text = json.map((value) => JSON.stringify(value));
  const cut = fc.tuple(text, fc.nat(20)).map(([whole, chars]) => whole.slice(0, whole.length - chars));
  return fc.oneof(
    { weight: 10, arbitrary: text },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 100 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
};

const headersOf = ({ known, strange }: FuzzCallers) =>
  fc
    .tuple(
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(...known) },
        { weight: 1, arbitrary: fc.constantFrom(...strange) },
      ),
      mostly(
        fc.constant('application/json'),
        fc.constantFrom('text/plain', 'application/json; charset=x', ''),
      ),
      mostly(fc.constant('*/*'), fc.constantFrom('application/json', 'text/html', 'a/b;q=x', ',')),
      mostly<string | undefined>(fc.constant(undefined), fc.stringMatching(/^[!-~]{1,200}$/)),
      mostly<string | undefined>(fc.constant(undefined), fc.stringMatching(/^[ -~\u00A1-\u00FF]{0,60}$/)),
    )
    .map(([caller, type, accept, id, reason]) => ({
      ...caller,
      ...(type === '' ? {} : { 'Content-Type': type }),
      Accept: accept,
      ...(id === undefined ? {} : { 'X-Request-Id': id }),
      ...(reason === undefined ? {} : { 'X-Reason': reason }),
    }));

/** Requests to every operation of a document, from quite right to quite wrong. */
export const fuzzRequests = (
  document: ApiDescription,
  known: Known,
  callers: FuzzCallers,
): fc.Arbitrary<FuzzRequest> => {
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ template, method, operation })),
  );
  const of = ({ template, method, operation }: (typeof operations)[number]): fc.Arbitrary<FuzzRequest> =>
    fc
      .tuple(
        targetOf(template, operation, document, known),
        headersOf(callers),
        bodyOf(operation, document, known),
      )
      .map(([target, headers, body]) => ({
        operation: operation.operationId,
        template,
        method,
        target,
        headers,
        body,
      }));
  return fc.oneof(
    ...operations.map((one) => ({
      weight: weightOf(one.operation.operationId),
      arbitrary: of(one),
    })),
  );
};
