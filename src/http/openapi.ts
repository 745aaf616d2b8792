import { stringify } from 'yaml';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { positionForm } from '../core/event.ts';
import { refusals, type RefusalCode } from '../refusals.ts';
import { statusOfCode } from './problem.ts';
import type { Route } from './route.ts';

/** Refusals that any operation can meet, by what it takes. */
const always: readonly RefusalCode[] = [
  'control-plane.not-configured',
  'authentication.missing',
  'authentication.invalid',
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
  Link: { description: 'The next page: `<…>; rel="next"`. Absent on the last.', schema: { type: 'string' } },
  'WWW-Authenticate': {
    description: '`Bearer`, with RFC 6750’s `error` where a token was sent.',
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

/** The operation's refusals, by status. */
const refusalResponses = (route: Route): Record<string, object> => {
  const codes = new Set([...always, ...(route.body === undefined ? [] : withBody), ...route.refusals]);
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
        ...(body === undefined ? {} : { content: { 'application/json': { schema: body } } }),
      },
    ]),
  );

const operation = (route: Route): ZodOpenApiOperationObject =>
  ({
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, `Callers: ${route.callers.join(', ').replaceAll('_', ' ')}.`]
      .filter((part) => part !== undefined)
      .join('\n\n'),
    requestParams: { path: route.params, query: route.query, header: requestHeaders },
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyOptional !== true,
            content: { 'application/json': { schema: route.body } },
          },
        }),
    responses: { ...responses(route), ...refusalResponses(route) },
  }) as ZodOpenApiOperationObject;

/** An OpenAPI document, as JSON and as YAML text. */
export type ApiDocument = { readonly json: string; readonly yaml: string };

/** The OpenAPI 3.1 document of the Admin API, made from the very schemas that validate. */
export const adminDocument = (routes: readonly Route[], version: string): ApiDocument => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Keyledger Admin API',
        version,
        description:
          'Operate tenants (databases), their users, service accounts and short-lived credentials. Every error is an RFC 9457 problem document. Clients must ignore response members they do not know.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ bearer: [] }],
      tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
      paths: paths,
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'The admin token, the verifier token, or a service account’s bearer.',
          },
        },
      },
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
