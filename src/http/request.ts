import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { positionForm, type Cause, type Position } from '../core/event.ts';
import type { RequestState } from './answer.ts';
import { RequestRefused, type InputError } from './problem.ts';

/** Longer user agents are cut. */
const userAgentCharsMax = 512;

/** Longer reasons are refused. */
const reasonCharsMax = 1_000;

/** Headers that a request may carry once at most: of two, a proxy and the service might each believe another. */
const onceHeaders = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'if-match',
  'last-event-id',
  'x-api-key',
  'x-min-position',
  'x-reason',
  'x-request-id',
]);

/** A path that some part on the way would read as another one: an encoded slash, backslash or control character. */
const ambiguousPath = /%(?:2f|5c|[01][0-9a-f]|7f)|\\/i;

/** What no host and port have in them (RFC 3986 §3.2.2). */
const notHost = /[\s/?#@\\<>"]/;

const wellFormedId = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's own request id where it is well-formed, else a fresh one. */
export const requestIdOf = (request: IncomingMessage): string => {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && wellFormedId.test(sent) ? sent : randomUUID();
};

/** The connection ends with it: where this request was unclear, so is where the next one starts. */
const malformed = (detail: string): RequestRefused =>
  new RequestRefused('request.malformed', detail, { headers: { Connection: 'close' } });

/** Refuses what Node takes and RFC 9112 does not (§3.2, §6.1). */
const refuseFraming = ({ httpVersion, headers }: IncomingMessage): void => {
  const { host, 'transfer-encoding': coding } = headers;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw malformed('The version of HTTP must be 1.1 or 1.0.');
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked'))
    throw malformed('The only transfer encoding is `chunked`, in HTTP/1.1.');
  if (host === undefined ? httpVersion === '1.1' : notHost.test(host))
    throw malformed('The header host must name a host.');
};

const isDecodable = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
};

/** Refuses a request whose line or headers could mean two things. */
export const refuseAmbiguous = (request: IncomingMessage): void => {
  const { rawHeaders, url = '' } = request;
  refuseFraming(request);
  let seen: Set<string> | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!onceHeaders.has(name)) continue;
    seen ??= new Set();
    if (seen.has(name)) throw malformed(`The header ${name} was sent more than once.`);
    seen.add(name);
  }
  if (!url.startsWith('/') || url.startsWith('//') || url.includes('#'))
    throw malformed('The request target must be a path.');
  if (url.includes('%') || url.includes('\\')) {
    const [path = ''] = url.split('?', 1);
    if (ambiguousPath.test(path) || !isDecodable(path))
      throw malformed('The path has an escape that is not allowed.');
  }
};

/** A header's text: Node reads the bytes as Latin-1, and clients mean UTF-8. */
const textOf = (header: string): string => Buffer.from(header, 'latin1').toString('utf8');

/** The fault in `X-Reason`, where there is one. */
export const reasonFault = (request: IncomingMessage): InputError | undefined => {
  const reason = reasonOf(request);
  if (reason === null || (reason.length <= reasonCharsMax && !reason.includes('\uFFFD'))) return undefined;
  return {
    pointer: '/X-Reason',
    detail: `Must be UTF-8 of up to ${reasonCharsMax} characters.`,
    in: 'header',
  };
};

/** Why, in the caller's own words. */
const reasonOf = (request: IncomingMessage): string | null => {
  const sent = request.headers['x-reason'];
  return typeof sent !== 'string' || sent === '' ? null : textOf(sent);
};

/** The position that a read has to have come to before it is answered (`X-Min-Position`), where one is asked for. */
export const minPositionOf = (request: IncomingMessage): Position | undefined => {
  const sent = request.headers['x-min-position'];
  return typeof sent === 'string' ? sent : undefined;
};

/** The fault in `X-Min-Position`, where there is one. */
export const minPositionFault = (request: IncomingMessage): InputError | undefined => {
  const sent = minPositionOf(request);
  if (sent === undefined || positionForm.test(sent)) return undefined;
  return { pointer: '/X-Min-Position', detail: 'Must be what an X-Position was.', in: 'header' };
};

/** What every event of this request says of its origin. */
export const causeOf = (
  request: IncomingMessage,
  { requestId, address, token, givenBy }: Pick<RequestState, 'requestId' | 'address' | 'token' | 'givenBy'>,
  actor: string,
): Cause => ({
  actor,
  address,
  user_agent: request.headers['user-agent']?.slice(0, userAgentCharsMax) ?? null,
  reason: reasonOf(request),
  correlation_id: requestId,
  causation_id: givenBy ?? null,
  ...(token === undefined ? {} : { token }),
});
