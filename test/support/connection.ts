import { Agent, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Answer, Ask, Client } from './client.ts';
import { adminToken } from './program.ts';

/** A client whose requests go over one socket of its own, one after the other. */
export type Connection = Client & { close(): void };

/** A request that is not answered by then hangs, in milliseconds. */
const answerMsMax = 20_000;

/** Opens a connection that no other client shares; an asked-for answer rejects where the socket breaks. */
export const createConnection = (url: string): Connection => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const client: Client = (method, path, { token = adminToken, body, headers = {} }: Ask = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const options = {
        method,
        agent,
        timeout: answerMsMax,
        headers: {
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          ...(sent === undefined
            ? {}
            : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(sent)) }),
          ...headers,
        },
      };
      const asked = request(url + path, options, (response) => {
        readText(response).then((text) => {
          const isJson = /json/.test(response.headers['content-type'] ?? '');
          resolve({
            status: response.statusCode ?? 0,
            headers: new Headers(response.headers as Record<string, string>),
            text,
            body: isJson && text !== '' ? JSON.parse(text) : undefined,
          });
        }, reject);
      });
      asked.once('timeout', () => asked.destroy(new Error(`No answer within ${answerMsMax} ms.`)));
      asked.once('error', reject);
      asked.end(sent);
    });
  return Object.assign(client, { close: () => agent.destroy() });
};
