import type { z } from 'zod';
import { StoreUnavailable } from '../core/ports.ts';
import { BrokenSeal } from '../proofs/blocks.ts';
import { ChangedEvent } from '../proofs/leaves.ts';

import { TooManyConflicts } from '../core/run.ts';
import { TooManyHashes } from '../core/secrets.ts';
import { refusals, type RefusalCode, type RefusalKind } from '../refusals.ts';

/** One fault in the input; `in` is there where it is not the body's. */
export type InputError = {
  readonly pointer: string;
  readonly detail: string;
  readonly in?: 'path' | 'query' | 'header';
};

/** RFC 9457. */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: RefusalCode;
  readonly errors?: readonly InputError[];
};

const statuses: { readonly [K in RefusalKind]: number } = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  missing: 404,
  method: 405,
  'not-acceptable': 406,
  timeout: 408,
  conflict: 409,
  precondition: 412,
  'too-large': 413,
  unsupported: 415,
  'too-many': 429,
  'headers-too-large': 431,
  internal: 500,
  'not-implemented': 501,
  unavailable: 503,
};

/** Faults beyond this many are not named: a body that is small enough to be read can hold a hundred thousand. */
const inputErrorsMax = 256;

/** How long a client should wait before it tries again, in seconds. */
const retryAfterSecs = 1;

/** The HTTP status of a code. */
export const statusOfCode = (code: RefusalCode): number => statuses[refusals[code].kind];

/** The last segment of a code's page. */
export const slugOf = (code: RefusalCode): string => code.replaceAll('.', '-');

/** A failure that is said to the client under a code: thrown on the way to a handler, caught at the border alone. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly code: RefusalCode;
  readonly errors: readonly InputError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: RefusalCode,
    detail: string,
    more: { errors?: readonly InputError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = more.errors;
    this.headers = more.headers ?? {};
  }
}

/** The problem document of a code. */
export const problem = (
  code: RefusalCode,
  detail: string,
  requestId: string,
  errors?: readonly InputError[],
): Problem => ({
  type: `/problems/${slugOf(code)}`,
  title: refusals[code].title,
  status: statusOfCode(code),
  detail,
  instance: requestId,
  code,
  ...(errors === undefined ? {} : { errors }),
});

/** Any thrown value as what the client is told; what is not expected becomes a 500 that says nothing. */
export const toRefused = (error: unknown): RequestRefused => {
  if (error instanceof RequestRefused) return error;
  if (error instanceof BrokenSeal || error instanceof ChangedEvent)
    return new RequestRefused('log.changed', error.message);
  const headers = { 'Retry-After': String(retryAfterSecs) };
  if (error instanceof StoreUnavailable) {
    return new RequestRefused('service.unavailable', 'A store did not answer in time or refused the work.', {
      headers,
    });
  }
  if (error instanceof TooManyConflicts || error instanceof TooManyHashes) {
    return new RequestRefused('service.busy', 'Too many requests want the same thing at once.', { headers });
  }
  return new RequestRefused('service.internal', 'The service failed to answer. The log has the cause.');
};

const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The unknown members of an issue as issues of their own. */
const apart = (issue: z.core.$ZodIssue): readonly { path: readonly PropertyKey[]; message: string }[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys
        .slice(0, inputErrorsMax)
        .map((key) => ({ path: [...issue.path, key], message: 'This member is not known here.' }))
    : [issue];

/** Every fault that a schema found, up to `inputErrorsMax`; of unknown members, each is one. */
export const inputErrors = (error: z.ZodError, place?: InputError['in']): readonly InputError[] =>
  error.issues
    .slice(0, inputErrorsMax)
    .flatMap(apart)
    .slice(0, inputErrorsMax)
    .map(({ path, message }) => ({
      pointer: pointerTo(path),
      detail: message,
      ...(place === undefined ? {} : { in: place }),
    }));
