import { connect, type Socket } from 'node:net';

/** How long an exchange may last before it counts as hanging, in milliseconds. */
const exchangeTimeoutMs = 8_000;

/** One answer as it stood on the wire. */
export type RawAnswer = {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const headersOf = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );

type Taken = { readonly answer: RawAnswer; readonly rest: string };

/** The first whole answer of a text; interim answers (100) are left out. */
const takeAnswer = (text: string): Taken | undefined => {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`This is no answer: ${text.slice(0, 200)}`);
  const headers = headersOf(lines);
  const rest = text.slice(end + 4);
  if (status === 100) return takeAnswer(rest);
  // Only what names its length can be told apart from a second answer; nothing tested here streams.
  const length = Number(headers['content-length'] ?? (status === 204 ? 0 : NaN));
  if (Number.isNaN(length)) return { answer: { status, headers, body: rest }, rest: '' };
  if (rest.length < length) return undefined;
  return { answer: { status, headers, body: rest.slice(0, length) }, rest: rest.slice(length) };
};

/** Every whole answer in a text of bytes. */
export const answersOf = (text: string): readonly RawAnswer[] => {
  const answers: RawAnswer[] = [];
  for (let taken = takeAnswer(text); taken !== undefined; taken = takeAnswer(taken.rest))
    answers.push(taken.answer);
  return answers;
};

/** Opens a connection on the loopback. */
export const openSocket = async (port: number): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
};

/** How an exchange is made. */
export type Exchange = {
  /** Sent once this many answers have come, each part in its turn. */
  readonly afterwards?: readonly string[];
};

/**
 * Sends bytes (as Latin-1) and answers everything that came back until the server had closed the connection. Once
 * every part was answered the client ends its half, so that a server that keeps connections closes too. Rejects
 * where it stays open beyond `exchangeTimeoutMs`.
 */
export const exchange = async (
  port: number,
  bytes: string,
  { afterwards = [] }: Exchange = {},
): Promise<readonly RawAnswer[]> => {
  const socket = await openSocket(port);
  let text = '';
  let sent = 0;
  const parts = [...afterwards];
  return new Promise((resolve, reject) => {
    const hanging = setTimeout(() => {
      socket.destroy();
      reject(new Error(`Still open after ${exchangeTimeoutMs} ms, with: ${text.slice(0, 500)}`));
    }, exchangeTimeoutMs);
    // A reset ends an exchange like a close does: what counts is what was answered before.
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const count = answersOf(text).length;
      if (count <= sent) return;
      sent += 1;
      const next = parts.shift();
      if (next === undefined) socket.end();
      else socket.write(Buffer.from(next, 'latin1'));
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(hanging);
      resolve(answersOf(text));
    });
    socket.write(Buffer.from(bytes, 'latin1'));
  });
};

/**
 * Sends many requests on one connection without waiting for an answer between them, and answers what came back when
 * the server had closed it. The last request has to ask for that (`Connection: close`).
 */
export const pipeline = async (port: number, requests: readonly string[]): Promise<readonly RawAnswer[]> => {
  const socket = await openSocket(port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('end', () => socket.end());
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
  socket.write(Buffer.from(requests.join(''), 'latin1'));
  await closed;
  return answersOf(Buffer.concat(chunks).toString('latin1'));
};
