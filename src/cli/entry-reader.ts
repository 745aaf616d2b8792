import { open } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { entryOf } from '../proofs/entries.ts';
import { toWire, type EntryReaderInput, type FromEntryReader } from './entries-ahead.ts';
import { DamagedFile, readLogPages } from './log-file.ts';

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

const file = await open(path, 'r');
try {
  for await (const page of readLogPages(file)) {
    tell({ kind: 'page', entries: toWire(page.map(entryOf)) });
    made += 1;
    await room();
  }
  tell({ kind: 'end' });
} catch (error) {
  // Any other error ends the thread, and is heard there.
  if (!(error instanceof DamagedFile)) throw error;
  tell({ kind: 'damaged', message: error.message });
} finally {
  await file.close();
  port.close();
}
