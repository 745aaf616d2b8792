import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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

/** A connection on which nothing moves for so long, or twice so long, is ended: a client that reads no more. */
const stalledTimeoutMs = 20_000;

/** How long a client is given to take the last answer of a broken connection, in milliseconds. */
const lingerMs = 1_000;

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

/** The last request of a connection, and its answer. */
type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse };

/** Ends a connection, after a pause in which the client can take what was answered. */
const endSoon = (socket: Socket, text?: string): void => {
  if (socket.writable) socket.end(text ?? '');
  // A client that does not end its half would hold the connection for ever.
  setTimeout(() => socket.destroy(), lingerMs).unref();
};

/** Answers on the bare socket. */
const answerBare = (error: NodeJS.ErrnoException, socket: Socket): void => {
  const code = codeOf(error);
  const status = statusOfCode(code);
  const requestId = randomUUID();
  const body = JSON.stringify(problem(code, 'The request could not be read as HTTP.', requestId));
  endSoon(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
};

/**
 * What could not even be read as a request is answered once, in its turn, and the connection ends: an answer that is
 * under way is finished first, lest this one be taken for it.
 */
const createClientErrors = () => {
  const exchanges = new WeakMap<Socket, Exchange>();
  const broken = new WeakSet<Socket>();
  return {
    began: (req: IncomingMessage, res: ServerResponse): void => {
      exchanges.set(req.socket, { req, res });
    },
    failed: (error: NodeJS.ErrnoException, socket: Socket): void => {
      // Whatever comes after the first fault is reported again.
      if (broken.has(socket)) return;
      broken.add(socket);
      const { req, res } = exchanges.get(socket) ?? {};
      const answer = (): void => answerBare(error, socket);
      if (error.code === 'ECONNRESET') socket.destroy();
      else if (req === undefined || res === undefined) answer();
      else if (req.complete) {
        if (res.writableFinished) answer();
        else res.once('finish', answer);
      }
      // The fault is in this very request's body. `res.socket` is null while earlier answers are under way.
      else if (res.socket === socket && !res.headersSent) answer();
      else endSoon(socket);
    },
  };
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
      // Refused by the border, with a problem document.
      requireHostHeader: false,
    },
    listener,
  );
  const clientErrors = createClientErrors();
  server.maxConnections = connectionsMax;
  // Headers beyond Node's default count would be dropped unseen, a second token among them; their bytes are bounded.
  server.maxHeadersCount = 0;
  server.timeout = stalledTimeoutMs;
  server.prependListener('request', clientErrors.began);
  server.on('clientError', clientErrors.failed as (error: Error, socket: Duplex) => void);
  // An expectation that is not known may be ignored (RFC 9110 §10.1.1); Node would answer without a body.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1_024 }, () => resolve());
  });
  const bound = server.address() as AddressInfo;
  return { address: bound.address, port: bound.port, stop: () => stopServer(server) };
};
