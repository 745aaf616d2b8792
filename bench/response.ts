/** The largest response the client takes, so that a broken server can't fill its memory. */
const responseBytesMax = 16 * 1024 * 1024;

const headEnd = Buffer.from('\r\n\r\n');
const lineEnd = Buffer.from('\r\n');
const contentLength = /\r\ncontent-length: *(\d+)/i;
const chunkedEncoding = /\r\ntransfer-encoding: *chunked/i;

/** A complete response; `end` is the index of the first byte behind it. */
export type Response = { readonly status: number; readonly body: readonly Buffer[]; readonly end: number };

/**
 * The response at the start of `bytes`, or nothing while it is incomplete. As much of RFC 9112 as a benchmark needs:
 * Content-Length, chunked without trailers, and statuses without a body. Throws on anything else.
 */
export const parseResponse = (bytes: Buffer): Response | undefined => {
  if (bytes.length > responseBytesMax) throw new Error('the response is too large');
  const headBytes = bytes.indexOf(headEnd);
  if (headBytes === -1) return undefined;
  const head = bytes.toString('latin1', 0, headBytes);
  const status = Number(head.slice(9, 12));
  if (!head.startsWith('HTTP/1.1 ') || !Number.isInteger(status))
    throw new Error('the response is not HTTP/1.1');
  const start = headBytes + headEnd.length;
  if (status === 204 || status === 304) return { status, body: [], end: start };
  const length = contentLength.exec(head)?.[1];
  if (length !== undefined) {
    const end = start + Number(length);
    return bytes.length < end ? undefined : { status, body: [bytes.subarray(start, end)], end };
  }
  if (!chunkedEncoding.test(head)) throw new Error('the response has neither a length nor chunks');
  return parseChunks(bytes, start, status);
};

const parseChunks = (bytes: Buffer, start: number, status: number): Response | undefined => {
  const body: Buffer[] = [];
  let at = start;
  for (;;) {
    const sizeEnd = bytes.indexOf(lineEnd, at);
    if (sizeEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, sizeEnd), 16);
    if (!Number.isInteger(size)) throw new Error('the response has a chunk without a size');
    const chunkStart = sizeEnd + lineEnd.length;
    const end = chunkStart + size + lineEnd.length;
    if (bytes.length < end) return undefined;
    if (size === 0) return { status, body, end };
    body.push(bytes.subarray(chunkStart, chunkStart + size));
    at = end;
  }
};
