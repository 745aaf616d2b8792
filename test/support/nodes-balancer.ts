import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StoredEvent } from '../../src/core/event.ts';
import type { Answer } from './client.ts';
import type { Witness } from './nodes-witness.ts';
import type { Node } from './nodes.ts';
import { pick, type Random } from './random.ts';
import { until } from './waiting.ts';

/** A change that was asked for, by its request id; without an answer where the node was killed. */
export type Asked = { readonly method: string; readonly path: string; status?: number };

/** Stands before the nodes as a load balancer does: each request goes to one that is up, drawn by chance. */
export type Balancer = {
  readonly url: string;
  readonly asked: ReadonlyMap<string, Asked>;
  /** Answers that no client should ever see: 5xx other than 503, and a 503 without `Retry-After`. */
  readonly problems: readonly string[];
  readonly statuses: ReadonlyMap<number, number>;
  /** Resolves when the witness has had its looks. */
  readonly looked: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
};

const handedOn = ['content-type', 'link', 'retry-after', 'x-position', 'x-request-id'];

const handOn = (response: ServerResponse, answer: Answer): void => {
  const headers = handedOn.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  response.writeHead(answer.status, Object.fromEntries(headers)).end(answer.text);
};

const faultOf = (what: string, { status, headers, text }: Answer): string | undefined => {
  if (status < 500) return undefined;
  if (status !== 503) return `${what} was answered ${status}: ${text}`;
  return headers.has('retry-after') ? undefined : `${what} was answered 503 without Retry-After`;
};

const anyUp = (nodes: readonly Node[], random: Random): Node | undefined =>
  pick(
    random,
    nodes.filter((node) => node.state() === 'up'),
  );

type BalancerOptions = {
  readonly random: Random;
  readonly witness: Witness;
  /** Answers then wait for the looks of the witness; else these may take longer than an answer may. */
  readonly isCalm: () => boolean;
};

/** Starts a balancer; every request that it passes on has an id of its own, and the witness sees it. */
export const startBalancer = async (
  nodes: readonly Node[],
  { random, witness, isCalm }: BalancerOptions,
): Promise<Balancer> => {
  const asked = new Map<string, Asked>();
  const statuses = new Map<number, number>();
  const problems: string[] = [];
  const looking = new Set<Promise<void>>();
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '' } = request;
    const body = await bodyOf(request);
    const token = request.headers.authorization?.split(' ')[1];
    let node: Node | undefined;
    await until('a node is up', () => (node = anyUp(nodes, random)) !== undefined);
    if (node === undefined) return;
    const headers: Record<string, string> = {};
    const isChange = method !== 'GET' && !path.endsWith('/authenticate');
    const entry: Asked = { method, path };
    if (isChange) {
      headers['X-Request-Id'] = `asked-${asked.size + 1}`;
      asked.set(headers['X-Request-Id'], entry);
    }
    const passed = isChange ? witness.begin({ method, path, token, body }) : undefined;
    const answer = await node.client()(method, path, { token: token ?? null, body, headers });
    entry.status = answer.status;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const fault = faultOf(`${node.name}: ${method} ${path}`, answer);
    if (fault !== undefined) problems.push(fault);
    const looks = passed?.(answer, node) ?? Promise.resolve();
    looking.add(looks);
    const ended = looks
      .catch((error: unknown) => problems.push(String(error)))
      .then(() => void looking.delete(looks));
    if (isCalm()) await ended;
    handOn(response, answer);
  };
  const server = createServer((request, response) => {
    // The node went away: so does the connection, as with any balancer that may not ask twice.
    pass(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    problems,
    statuses,
    looked: async () => {
      while (looking.size > 0) await Promise.allSettled(looking);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const isAcknowledged = ({ status }: Asked): boolean => status !== undefined && status < 300;

/**
 * How the log differs from what was asked: an acknowledged change has one event with its request id, a refused one
 * none, and any other one at most. To end a thing twice is one change.
 */
export const checkLog = (
  asked: ReadonlyMap<string, Asked>,
  log: readonly StoredEvent[],
): readonly string[] => {
  const problems: string[] = [];
  const events = new Map<string, number>();
  for (const { cause } of log) {
    const { correlation_id: id } = JSON.parse(cause) as { correlation_id: string };
    events.set(id, (events.get(id) ?? 0) + 1);
    if (!asked.has(id)) problems.push(`nobody asked for what ${id} did`);
  }
  const ends = new Map<string, { events: number; acknowledged: number }>();
  for (const [id, one] of asked) {
    const count = events.get(id) ?? 0;
    const what = `${id}, ${one.method} ${one.path}, answered ${one.status ?? 'nothing'}`;
    const isRefused = one.status !== undefined && one.status >= 300 && one.status < 500;
    if (count > (isRefused ? 0 : 1)) problems.push(`${what}, left ${count} events`);
    if (one.method === 'DELETE') {
      const end = ends.get(one.path) ?? { events: 0, acknowledged: 0 };
      end.events += count;
      end.acknowledged += isAcknowledged(one) ? 1 : 0;
      ends.set(one.path, end);
    } else if (isAcknowledged(one) && !one.path.endsWith('/rebuild') && count !== 1)
      problems.push(`${what}, left ${count} events`);
  }
  for (const [path, end] of ends)
    if (end.events > 1 || (end.acknowledged > 0 && end.events !== 1))
      problems.push(
        `DELETE ${path} was acknowledged ${end.acknowledged} times and left ${end.events} events`,
      );
  return problems;
};
