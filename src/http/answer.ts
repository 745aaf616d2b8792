import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { RefusalCode } from '../refusals.ts';
import { problem, statusOfCode, toRefused } from './problem.ts';
import type { Caller, JsonText, Streamed } from './route.ts';

/** What one request carries from step to step. */
export type RequestState = {
  requestId: string;
  /** Where the client is, as far as is known. */
  address: string | null;
  /** The template of the route that took it; never the path. */
  route?: string;
  caller?: Caller;
  /** The fingerprint of the token, key or session that the caller has shown. */
  token?: string;
  /** The id of the event that gave that out, where one did. */
  givenBy?: string | undefined;
  /** The code it was refused under. */
  code?: RefusalCode;
  /** What went wrong inside, for the log alone. */
  error?: unknown;
  /** The service is stopping: the connection is not kept. */
  closing?: boolean;
};

/** The request's state; Koa makes a fresh object for each. */
export const stateOf = (ctx: Context): RequestState => ctx.state;

/** The headers that every answer carries. */
const commonHeaders = ({ requestId, closing }: RequestState): string[] => {
  const headers = ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
  if (closing === true) headers.push('Connection', 'close');
  return headers;
};

/** Gives those headers to an answer that Koa itself sends: a page, a document, a file. */
export const setCommonHeaders = (ctx: Context): void => {
  const headers = commonHeaders(stateOf(ctx));
  for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at] ?? '', headers[at + 1] ?? '');
};

/**
 * Sends an API answer past Koa's own responder, which would look at type, length and body once more: at the rates
 * this service answers, that is a tenth of a request. Nothing of an API is ever cached by anybody.
 */
const send = (
  ctx: Context,
  status: number,
  type: string | undefined,
  more: readonly string[],
  text: string,
): void => {
  const headers = commonHeaders(stateOf(ctx));
  headers.push('Cache-Control', 'no-store', ...more);
  if (type !== undefined)
    headers.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(text)));
  ctx.respond = false;
  ctx.res.writeHead(status, headers);
  ctx.res.end(text);
};

const flat = (headers: Readonly<Record<string, string | undefined>> = {}): string[] => {
  const list: string[] = [];
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) list.push(name, value);
  return list;
};

/** Answers with a JSON body, with one in another form, or with none where it is `undefined`. */
export const answerJson = (
  ctx: Context,
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, string | undefined>>,
): void => {
  if (body === undefined) return send(ctx, status, undefined, flat(headers), '');
  if (isStreamed(body)) return sendStream(ctx, status, `${body.form}; charset=utf-8`, body.stream, headers);
  if (!isJsonText(body)) return send(ctx, status, jsonType, flat(headers), JSON.stringify(body));
  if (typeof body.json === 'string') return send(ctx, status, jsonType, flat(headers), body.json);
  return sendStream(ctx, status, jsonType, body.json, headers);
};

/** A stream is Koa's to send: it ends the stream where the client goes away, and the connection where the stream fails. */
const sendStream = (
  ctx: Context,
  status: number,
  type: string,
  stream: Readable,
  headers: Readonly<Record<string, string | undefined>> = {},
): void => {
  stream.once('error', (error) => {
    stateOf(ctx).error = error;
  });
  setCommonHeaders(ctx);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) ctx.set(name, value);
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Content-Type', type);
  ctx.status = status;
  ctx.body = stream;
};

const jsonType = 'application/json; charset=utf-8';

/** Whether a body is JSON already, as text or in pieces. */
export const isJsonText = (body: unknown): body is JsonText =>
  typeof body === 'object' && body !== null && 'json' in body && Object.keys(body).length === 1;

const isStreamed = (body: unknown): body is Streamed =>
  typeof body === 'object' && body !== null && 'stream' in body && body.stream instanceof Readable;

/** Answers whatever was thrown as a problem document; what was not expected is kept for the log. */
export const answerProblem = (ctx: Context, error: unknown): void => {
  const refused = toRefused(error);
  const state = stateOf(ctx);
  state.code = refused.code;
  if (refused !== error && statusOfCode(refused.code) >= 500) state.error = error;
  // Too late for an answer: the client sees the connection end.
  if (ctx.res.headersSent) {
    ctx.res.destroy();
    return;
  }
  const body = problem(refused.code, refused.message, state.requestId, refused.errors);
  for (const name of ctx.res.getHeaderNames()) ctx.res.removeHeader(name);
  send(
    ctx,
    statusOfCode(refused.code),
    'application/problem+json',
    flat(refused.headers),
    JSON.stringify(body),
  );
};
