import bourne from '@hapi/bourne';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { RequestRefused } from './problem.ts';

/** The largest body that is read. */
export const bodyBytesMax = 1_048_576;

/** The deepest nesting of objects and arrays that is parsed. */
export const bodyDepthMax = 32;

/**
 * Reads the body's bytes, bounded. As text in `latin1` every byte is kept as it came, which the JSON mode would not
 * do: it turns malformed UTF-8 into replacement characters, and its errors carry the raw body.
 */
const readBytes = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: ['json', '+json'],
  textLimit: bodyBytesMax,
  encoding: 'latin1',
  parsedMethods: ['POST', 'PATCH', 'DELETE', 'PUT'] as never,
});

const malformed = (detail: string): RequestRefused => new RequestRefused('request.malformed', detail);

const hasStatus = (error: unknown): error is { status: number } =>
  typeof error === 'object' && error !== null && typeof (error as { status?: unknown }).status === 'number';

/** What a failed read means; the original error is not kept, because it can hold what was sent. */
const readFailure = (ctx: Context, error: unknown): unknown => {
  if (!hasStatus(error)) return error;
  if (error.status !== 413) return malformed('The body did not arrive whole.');
  // The rest is thrown away until the request's time is over. A connection closed on a client that still sends is
  // reset, and the answer is lost with it.
  ctx.req.resume();
  return new RequestRefused('request.too-large', `The body has more than ${bodyBytesMax} bytes.`);
};

/** The deepest nesting of a JSON text, brackets in strings left out. */
const depthOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === 0x5c) at += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, (depth += 1));
    else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return deepest;
};

// eslint-disable-next-line no-control-regex -- Bytes from 0x80 on are what makes the text not plain ASCII.
const notAscii = /[^\u0000-\u007f]/;

const decodeUtf8 = (latin1: string): string => {
  if (!notAscii.test(latin1)) return latin1;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    throw malformed('The body is not well-formed UTF-8.');
  }
};

const parseJson = (text: string): unknown => {
  if (depthOf(text) > bodyDepthMax) throw malformed(`The body is nested deeper than ${bodyDepthMax} levels.`);
  try {
    return bourne.parse(text, { protoAction: 'error' });
  } catch (error) {
    // The parser's own message quotes the body, which can hold a password.
    const isProto = error instanceof SyntaxError && error.message.includes('forbidden prototype property');
    throw malformed(
      isProto ? 'The body has a member that is never allowed.' : 'The body is not well-formed JSON.',
    );
  }
};

/** The request's JSON body; `undefined` where none was sent. Refuses what is no JSON in UTF-8, too large or too deep. */
export const readJsonBody = async (ctx: Context): Promise<unknown> => {
  const { headers } = ctx.req;
  const empty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  if (empty) return undefined;
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new RequestRefused('request.unsupported-type', 'A content encoding is not supported.');
  }
  if (!isJson(headers['content-type'])) {
    throw new RequestRefused('request.unsupported-type', 'The content type must be application/json.');
  }
  let latin1: unknown;
  try {
    await readBytes(ctx, async () => {});
    latin1 = ctx.request.body;
  } catch (error) {
    throw readFailure(ctx, error);
  }
  return typeof latin1 === 'string' && latin1 !== '' ? parseJson(decodeUtf8(latin1)) : undefined;
};

const isJson = (type: string | undefined): boolean =>
  type !== undefined &&
  (type === 'application/json' ||
    // No two parts of it can match the same spaces, so that a long header takes no longer than its length.
    /^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*(?:charset\s*=\s*"?utf-?8"?\s*)?)?$/i.test(type));
