import { stringify } from 'yaml';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { positionForm } from '../core/event.ts';
import { refusals, type RefusalCode } from '../refusals.ts';
import type { Api } from './api.ts';
import { asOfQuery, isTemporal } from './as-of.ts';
import { statusOfCode } from './problem.ts';
import type { Form, Route } from './route.ts';

/** Refusals that any operation can meet, beside those of whoever has not proven who they are. */
const always: readonly RefusalCode[] = [
  'authorization.denied',
  'request.invalid',
  'request.malformed',
  'request.not-acceptable',
  'request.timeout',
  'request.headers-too-large',
  'service.busy',
  'service.unavailable',
  'service.internal',
];
const withBody: readonly RefusalCode[] = ['request.too-large', 'request.unsupported-type'];

const problemSchema = z
  .object({
    type: z.string().meta({ description: 'A relative URL of a page about this problem.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().meta({ description: 'The request’s id, as in X-Request-Id.' }),
    code: z.enum(Object.keys(refusals) as [RefusalCode, ...RefusalCode[]]),
    errors: z
      .array(
        z.object({
          pointer: z.string(),
          detail: z.string(),
          in: z.enum(['path', 'query', 'header']).optional(),
        }),
      )
      .optional()
      .meta({ description: 'Every fault found in the input; `pointer` is an RFC 6901 JSON pointer.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' });

const headerDocs = {
  Location: { description: 'Where the new resource is.', schema: { type: 'string' } },
  ETag: { description: 'The revision, for `If-Match` and `If-None-Match`.', schema: { type: 'string' } },
  Link: { description: 'The next page: `<…>; rel="next"`. Absent on the last.', schema: { type: 'string' } },
  'WWW-Authenticate': {
    description: '`Bearer`, with RFC 6750’s `error` where a token was sent; of the workspace API `ApiKey`.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'string' } },
  'X-Position': {
    description: 'How far the log is in this answer; give it back as `X-Min-Position` to read at least that.',
    schema: { type: 'string', pattern: positionForm.source },
  },
  'X-Request-Id': {
    description: 'The request’s id: the caller’s own where it was well-formed.',
    schema: { type: 'string' },
  },
} as const;

/** The headers that a refusal of this status carries beside those of every answer. */
const headersOf = (status: number): readonly ('WWW-Authenticate' | 'Retry-After')[] =>
  status === 401 ? ['WWW-Authenticate'] : status === 503 ? ['Retry-After'] : [];

/** The headers that every operation takes beside the token. */
const requestHeaders = z.object({
  'X-Min-Position': z.string().regex(positionForm).optional().meta({
    description:
      'An earlier answer’s `X-Position`: the request waits, a few seconds, until it sees that; else 503.',
  }),
});

/** What of the revision a conditional request may ask. */
const preconditionHeaders = {
  read: requestHeaders.extend({
    'If-None-Match': z.string().optional().meta({ description: 'An `ETag`: 304 where it is still that.' }),
  }),
  change: requestHeaders.extend({
    'If-Match': z.string().optional().meta({ description: 'An `ETag`: 412 where it is no longer that.' }),
  }),
};

/** The operation's refusals, by status. */
const refusalResponses = (route: Route, { unauthenticated }: Api): Record<string, object> => {
  const codes = new Set([
    ...unauthenticated,
    ...always,
    ...(route.body === undefined ? [] : withBody),
    ...route.refusals,
  ]);
  const statuses = new Set([...codes].map(statusOfCode));
  return Object.fromEntries(
    [...statuses].map((status) => [
      String(status),
      {
        description: [...codes]
          .filter((code) => statusOfCode(code) === status)
          .map((code) => `\`${code}\`: ${refusals[code].title}.`)
          .join('\n\n'),
        headers: Object.fromEntries(
          ['X-Request-Id' as const, ...headersOf(status)].map((name) => [name, headerDocs[name]]),
        ),
        content: { 'application/problem+json': { schema: problemSchema } },
      },
    ]),
  );
};

const formDocs: { readonly [form in Form]: string } = {
  'application/x-ndjson': 'One item a line, without a limit unless one is given, streamed.',
  'text/event-stream':
    'A stream that goes on (HTML §9.2): `id` is the position, `event` the type, `data` an item.',
};

/** A body as JSON, and in the other forms that it may be asked for in. */
const contentOf = ({ forms = [] }: Route, status: string, body: z.ZodType): Record<string, object> => ({
  'application/json': { schema: body },
  ...Object.fromEntries(
    (status === '200' ? forms : []).map((form) => [
      form,
      { schema: { type: 'string', description: formDocs[form] } },
    ]),
  ),
});

const responses = (route: Route): Record<string, object> =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, body, headers = [] }]) => [
      status,
      {
        description,
        headers: Object.fromEntries(
          [...headers, 'X-Position' as const, 'X-Request-Id' as const].map((name) => [
            name,
            headerDocs[name],
          ]),
        ),
        ...(body === undefined ? {} : { content: contentOf(route, status, body) }),
      },
    ]),
  );

/** Who may call over HTTP: signed-in users do so by the web interface's pages alone. */
const callersOf = ({ callers, keyRole }: Route): string =>
  callers
    .filter((kind) => kind !== 'user')
    .map((kind) =>
      kind === 'api_key' && keyRole !== undefined ? `API key of role ${keyRole}` : kind.replaceAll('_', ' '),
    )
    .join(', ');

/** A read may be asked as of another moment. */
const queryOf = (route: Route) =>
  isTemporal(route) && route.query instanceof z.ZodObject ? route.query.extend(asOfQuery.shape) : route.query;

const headerOf = ({ conditional, forms }: Route) => {
  if (forms?.includes('text/event-stream') === true)
    return requestHeaders.extend({
      'Last-Event-ID': z.string().regex(positionForm).optional().meta({
        description: 'Of a stream that goes on: the `id` that came last, to go on behind it.',
      }),
    });
  return conditional === undefined ? requestHeaders : preconditionHeaders[conditional];
};

const operation = (route: Route, api: Api): ZodOpenApiOperationObject =>
  ({
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, `Callers: ${callersOf(route)}.`]
      .filter((part) => part !== undefined)
      .join('\n\n'),
    requestParams: { path: route.params, query: queryOf(route), header: headerOf(route) },
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyOptional !== true,
            content: { 'application/json': { schema: route.body } },
          },
        }),
    responses: { ...responses(route), ...refusalResponses(route, api) },
  }) as ZodOpenApiOperationObject;

/** An OpenAPI document, as JSON and as YAML text. */
export type ApiDocument = { readonly json: string; readonly yaml: string };

/** The OpenAPI 3.1 document of an API, made from the very schemas that validate. */
export const apiDocument = (api: Api, version: string): ApiDocument => {
  const { title, description, scheme, routes } = api;
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route, api);
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title,
        version,
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      security: [{ [scheme.name]: [] }],
      tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
      paths: paths,
      components: { securitySchemes: { [scheme.name]: scheme.definition } },
    },
    {
      override: ({ jsonSchema, io }) => {
        // The format says it; the library's pattern beside it is 150 characters long.
        if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
        // Clients must ignore members they do not know, so no answer may be documented as closed.
        if (io === 'output' && jsonSchema.additionalProperties === false)
          delete jsonSchema.additionalProperties;
      },
    },
  );
  return {
    json: JSON.stringify(document, null, 2),
    yaml: stringify(document, { aliasDuplicateObjects: false }),
  };
};
