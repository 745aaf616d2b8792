import { startOfLog, type Position, type StoredEvent } from '../../src/core/event.ts';
import { readPageEventsMax, type EventStore } from '../../src/core/ports.ts';

/**
 * A log of one's own on a server that others use too, and that can't be emptied: its streams bear a prefix, it
 * begins where the server's log ends now, and what is not its own is not shown.
 */
export const openOwnLog = async (events: EventStore, prefix: string): Promise<EventStore> => {
  const base = await events.head();
  const behind = (after: Position): Position => (after > base ? after : base);
  const isOwn = ({ stream }: StoredEvent): boolean => stream.startsWith(prefix);
  const bare = (event: StoredEvent): StoredEvent => ({ ...event, stream: event.stream.slice(prefix.length) });

  const readAll: EventStore['readAll'] = async (after, limit = readPageEventsMax) => {
    const found: StoredEvent[] = [];
    for (let from = behind(after); found.length < limit;) {
      const page = await events.readAll(from);
      found.push(...page.filter(isOwn).map(bare));
      from = page.at(-1)?.position ?? from;
      if (page.length < readPageEventsMax) break;
    }
    return found.slice(0, limit);
  };
  const readAllBack: EventStore['readAllBack'] = async (before, limit = readPageEventsMax) => {
    const found: StoredEvent[] = [];
    for (let from = before; found.length < limit;) {
      const page = await events.readAllBack(from);
      found.push(...page.filter((event) => isOwn(event) && event.position > base).map(bare));
      from = page.at(-1)?.position ?? from;
      if (page.length < readPageEventsMax || from <= base) break;
    }
    return found.slice(0, limit);
  };
  async function* subscribe(after: Position, signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
    for await (const event of events.subscribe(behind(after), signal)) if (isOwn(event)) yield bare(event);
  }
  return {
    append: async (append) => {
      const result = await events.append({ ...append, stream: prefix + append.stream });
      return result.appended ? { appended: true, events: result.events.map(bare) } : result;
    },
    readStream: async (stream, from) => (await events.readStream(prefix + stream, from)).map(bare),
    readAll,
    readAllBack,
    subscribe,
    head: async () => {
      let head = startOfLog;
      for (;;) {
        const page = await readAll(head);
        head = page.at(-1)?.position ?? head;
        if (page.length < readPageEventsMax) return head;
      }
    },
  };
};
