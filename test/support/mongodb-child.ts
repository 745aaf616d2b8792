import { setTimeout as passed } from 'node:timers/promises';
import { startOfLog, type StoredEvent } from '../../src/core/event.ts';
import type { EventStore } from '../../src/core/ports.ts';
import { readLog } from './contents.ts';
import { openNode } from './mongodb.ts';

/**
 * A node in a process of its own, which tests pause and kill: `mongodb-child.js <connection string> <data folder>`. It
 * reads the log from another process's data folder, and writes a line `held` or `lost` as its lease changes, and
 * `projected <n>` for each batch.
 */
const [connectionString = '', dir = ''] = process.argv.slice(2);

/** How often the log is looked at, in milliseconds. */
const lookEveryMs = 20;

const behind = (after: string): readonly StoredEvent[] =>
  readLog(dir).filter(({ position }) => position > after);

const log: EventStore = {
  append: () => Promise.reject(new Error('This log is only read.')),
  readStream: async (stream) => readLog(dir).filter((event) => event.stream === stream),
  readAll: async (after, limit) => behind(after).slice(0, limit),
  readAllBack: async (before, limit) =>
    readLog(dir)
      .filter(({ position }) => position < before)
      .toReversed()
      .slice(0, limit),
  head: async () => readLog(dir).at(-1)?.position ?? startOfLog,
  subscribe: async function* (after, signal) {
    let from = after;
    while (!signal.aborted) {
      for (const event of behind(from)) {
        if (signal.aborted) return;
        yield event;
        from = event.position;
      }
      await passed(lookEveryMs, undefined, { signal }).catch(() => {});
    }
  },
};

const tell = (line: string): void => void process.stdout.write(`${line}\n`);

await openNode(connectionString, log, {
  nodeId: `child-${process.pid}`,
  observe: {
    lease: ({ held }) => tell(held ? 'held' : 'lost'),
    projected: ({ events }) => tell(`projected ${events}`),
  },
});
