import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RefusalCode } from '../refusals.ts';
import { problem, statusOfCode } from './problem.ts';

/** Headers that have not arrived by then end the connection, in milliseconds. */
const headersTimeoutMs = 8_000;

/** A whole request that has not arrived by then is answered 408, in milliseconds. */
const requestTimeoutMs = 12_000;

/** How often the two above are looked at, in milliseconds. */
const checkEveryMs = 1_000;

/** How long an idle connection is kept for its next request, in milliseconds. */
const keepAliveTimeoutMs = 75_000;

/** Connections beyond this are not accepted. */
const connectionsMax = 10_000;

const headerBytesMax = 16_384;

/** How long a stop waits for requests in flight before it cuts them, in milliseconds. */
const stopTimeoutMs = 8_000;

/** A server that listens. */
export type Listening = {
  readonly address: string;
  readonly port: number;
  /** Takes no new connection, finishes what is in flight (bounded), then resolves. */
  stop(): Promise<void>;
};

const codeOf = (error: NodeJS.ErrnoException): RefusalCode => {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'request.headers-too-large';
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request.timeout';
  return 'request.malformed';
};

/** What could not even be read as a request is answered on the bare socket, once, and the connection ends. */
const answerClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  const status = statusOfCode(code);
  const requestId = randomUUID();
  const body = JSON.stringify(problem(code, 'The request could not be read as HTTP.', requestId));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
};

const stopServer = async (server: Server): Promise<void> => {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), stopTimeoutMs);
  // A connection that falls idle later closes by its answer's own `Connection: close`; one without a request
  // has none, so it is looked for again.
  const sweep = setInterval(() => server.closeIdleConnections(), 100);
  await closed;
  clearTimeout(cut);
  clearInterval(sweep);
};

/** Listens with every wait and size bounded; port 0 takes any free one. Rejects where the address is taken. */
export const serve = async (listener: RequestListener, host: string, port: number): Promise<Listening> => {
  const server = createServer(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkEveryMs,
      keepAliveTimeout: keepAliveTimeoutMs,
    },
    listener,
  );
  server.maxConnections = connectionsMax;
  server.on('clientError', answerClientError);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1_024 }, () => resolve());
  });
  const bound = server.address() as AddressInfo;
  return { address: bound.address, port: bound.port, stop: () => stopServer(server) };
};
