import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Refused } from '../core/command.ts';
import type { Cause } from '../core/event.ts';
import type { ApiKeySecret } from '../projections/api-keys.ts';
import type { ServiceAccount } from '../projections/service-accounts.ts';
import type { UserSession } from '../projections/sessions.ts';
import type { RefusalCode } from '../refusals.ts';
import type { Preconditions } from './preconditions.ts';
import type { Role } from './schemas.ts';
import type { Services } from './services.ts';

/**
 * Who calls, as the token tells it, where the call came with a token its fingerprint, and where an event gave that token
 * out the event's id.
 */
export type Caller = { readonly token?: string; readonly givenBy?: string } & (
  | { readonly kind: 'admin' }
  | { readonly kind: 'verifier' }
  | { readonly kind: 'service_account'; readonly account: ServiceAccount }
  | { readonly kind: 'api_key'; readonly key: ApiKeySecret }
  /** Somebody signed in to the web interface, whose pages call the routes in the same process. */
  | { readonly kind: 'user'; readonly session: UserSession }
);

/** A response as documented: what it means, and the shape of its body; without a schema it has no body. */
export type ResponseDoc = {
  readonly description: string;
  readonly body?: z.ZodType;
  readonly headers?: readonly ResponseHeader[];
};

/** What an answer may be asked for as, beside JSON: one value a line, or a stream that goes on. */
export type Form = 'application/x-ndjson' | 'text/event-stream';

/** The headers that a response may carry beside those that every response has. */
export type ResponseHeader = 'Location' | 'Link' | 'ETag';

type Responses = { readonly [status: number]: ResponseDoc };

type Spec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends Responses> = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** OpenAPI's form: `/admin/v1/tenants/{id}`. */
  readonly path: string;
  /** OpenAPI's operationId; unique. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Whose token may call; anybody else is refused with `authorization.denied` before the input is looked at. */
  readonly callers: readonly Caller['kind'][];
  /**
   * The path's parameter that names a tenant: a caller of another one is refused before the input is looked at, and
   * alike whether that tenant exists or not.
   */
  readonly tenantParam?: 'id' | 'workspace_id';
  /** The least role of an API key that may call. */
  readonly keyRole?: Role;
  /** Whether the request may be conditional: on the resource having changed, or on its having not. */
  readonly conditional?: 'read' | 'change';
  readonly params: P;
  readonly query: Q;
  /** A read that tells how the service is, and can't be asked how that was. */
  readonly nowOnly?: boolean;
  /** Absent: no body is read. */
  readonly body?: B;
  /** The body may be left out; the schema is then given an empty object. */
  readonly bodyOptional?: boolean;
  /** What the 200 may be asked for as, beside JSON. */
  readonly forms?: readonly Form[];
  readonly responses: R;
  /** The refusals of this operation itself, beside those that every operation of the API can meet. */
  readonly refusals: readonly RefusalCode[];
};

/** JSON text that is sent as it is: whole, or in pieces so that memory stays flat. */
export type JsonText = { readonly json: string | Readable };

/** An answer in another form, sent as it comes. */
export type Streamed = { readonly form: Form; readonly stream: Readable };

/** What a handler answers: one of the documented responses, or a refusal. */
export type Reply<R extends Responses = Responses> =
  | {
      [S in keyof R & number]: {
        readonly status: S;
        readonly headers?: { readonly [name in ResponseHeader]?: string };
      } & (R[S] extends { readonly body: infer B extends z.ZodType }
        ? { readonly body: z.output<B> | JsonText | Streamed }
        : { readonly body?: never });
    }[keyof R & number]
  | Refused<RefusalCode>;

/** A request whose parts have been parsed by the route's schemas, from a caller who may make it. */
export type Request<P = unknown, Q = unknown, B = unknown> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  readonly cause: Cause;
  /** The path and query as sent, for links to the next page. */
  readonly url: string;
  readonly preconditions: Preconditions;
  /** The form that is asked for, where it is not JSON. */
  readonly form?: Form;
  /** Where a stream broke off that is asked for again (`Last-Event-ID`). */
  readonly lastEventId?: string;
};

/** A route: data that drives validation, authorization and documentation, and the handler that it types. */
export type Route = Spec<z.ZodType, z.ZodType, z.ZodType, Responses> & {
  readonly handle: (request: Request, services: Services) => Promise<Reply>;
};

/** States a route. Curried, so that the spec's types are fixed before the handler is checked against them. */
export const route =
  <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, const R extends Responses>(
    spec: Spec<P, Q, B, R>,
  ) =>
  (
    handle: (
      request: Request<z.output<P>, z.output<Q>, z.output<B>>,
      services: Services,
    ) => Promise<Reply<R>>,
  ): Route => ({ ...spec, handle: handle as unknown as Route['handle'] });
