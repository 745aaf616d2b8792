import { parentPort, workerData } from 'node:worker_threads';
import { readEntriesHere, toWire, type EntryReaderInput, type FromEntryReader } from './entries.ts';

/** The entry reader's thread: reads a log file and makes each event's hash anew, ahead of who verifies them. */
const { path, aheadMax }: EntryReaderInput = workerData;
if (parentPort === null) throw new Error('The entry reader runs in a thread of its own.');
const port = parentPort;
const tell = (message: FromEntryReader): void => port.postMessage(message);

let made = 0;
let taken = 0;
let wake = (): void => undefined;
port.on('message', () => {
  taken += 1;
  wake();
});
const room = (): Promise<void> | undefined =>
  made - taken < aheadMax ? undefined : new Promise((resolve) => (wake = resolve));

try {
  const entries = readEntriesHere(path, ({ message }) => tell({ kind: 'damaged', message }));
  for await (const page of entries) {
    tell({ kind: 'page', entries: toWire(page) });
    made += 1;
    await room();
  }
  tell({ kind: 'end' });
} finally {
  port.close();
}
