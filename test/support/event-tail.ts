import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { adminToken } from './program.ts';
import { until } from './waiting.ts';

/** A server-sent event, as a client takes it (HTML §9.2.6). */
export type SentEvent = { readonly id: string; readonly type: string; readonly data: string };

/** A live tail, as the client at its end sees it. */
export type EventTail = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** What has come, in order. */
  readonly events: readonly SentEvent[];
  /** The id that the client would come again with. */
  lastId(): string;
  /** All that has come, as it came. */
  text(): string;
  /** How it ended: `whole` where the service ended it in order, `cut` where the connection broke. */
  ended(): 'whole' | 'cut' | undefined;
  /** Waits until so many events have come. */
  have(count: number, ms?: number): Promise<void>;
  /** The client goes away. */
  leave(): void;
};

/** Takes a stream apart as a browser's `EventSource` does: a block without data is no event, but its id counts. */
const createReader = () => {
  const events: SentEvent[] = [];
  let rest = '';
  let lastId = '';
  const take = (block: string): void => {
    const fields = block.split('\n').map((line) => /^([^:]*):? ?(.*)$/s.exec(line) ?? []);
    const field = (name: string): string | undefined => fields.find(([, found]) => found === name)?.[2];
    lastId = field('id') ?? lastId;
    const data = field('data');
    if (data !== undefined) events.push({ id: lastId, type: field('event') ?? 'message', data });
  };
  return {
    events,
    lastId: () => lastId,
    push: (text: string): void => {
      rest += text;
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
        take(rest.slice(0, end));
        rest = rest.slice(end + 2);
      }
    },
  };
};

/** Begins a request for a stream as the operator; resolves with the answer's head. */
export const beginStream = async (
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage> => {
  const asked = request(url + path, {
    agent: false,
    headers: { Authorization: `Bearer ${adminToken}`, ...headers },
  });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  asked.on('error', () => {});
  return answer;
};

/** Opens a live tail of the log. */
export const openEventTail = async (
  url: string,
  query = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<EventTail> => {
  const answer = await beginStream(url, `/admin/v1/events${query}`, {
    Accept: 'text/event-stream',
    ...headers,
  });
  const reader = createReader();
  let text = '';
  let ended: 'whole' | 'cut' | undefined;
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    text += chunk;
    reader.push(chunk);
  });
  answer.on('error', () => {});
  answer.once('close', () => (ended = answer.complete ? 'whole' : 'cut'));
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    events: reader.events,
    lastId: reader.lastId,
    text: () => text,
    ended: () => ended,
    have: (count, ms) => until(`${count} events have come`, () => reader.events.length >= count, ms),
    leave: () => answer.destroy(),
  };
};
