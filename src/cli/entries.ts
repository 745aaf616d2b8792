import { on } from 'node:events';
import { open, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { StoredEvent } from '../core/event.ts';
import { entryOf, type Entry } from '../proofs/entries.ts';
import { faultsMax } from '../proofs/faults.ts';
import { DamagedFile, readLogPages, type OnDamage } from './log-file.ts';

/** A file that is shorter, in bytes, is read before a thread has started. */
const threadBytesMin = 8_388_608;

/** Pages that are read before they are wanted. */
const aheadMax = 4;

/** Entries from thread to thread, as one flat array: the names of members need not travel. */
type Wire = readonly (string | number | null)[];

/** What the thread is started with. */
export type EntryReaderInput = { readonly path: string; readonly aheadMax: number };

/** What the thread tells, and each page is answered once it is taken. What is damaged comes in the order of the file. */
export type FromEntryReader =
  | { readonly kind: 'page'; readonly entries: Wire }
  | { readonly kind: 'damaged'; readonly message: string }
  | { readonly kind: 'end' };

/** How many values an entry has. */
const width = 8;

/** The entries as they travel; a hash that is as it should be goes once. */
export const toWire = (entries: readonly Entry[]): Wire => {
  const wire: (string | number | null)[] = [];
  for (const { id, type, stream, revision, position, hash = null, previous = null, computed } of entries)
    wire.push(id, type, stream, revision, position, hash, previous, computed === hash ? null : computed);
  return wire;
};

const fromWire = (wire: Wire): readonly Entry[] => {
  const text = (at: number): string | null => wire[at] as string | null;
  return Array.from({ length: wire.length / width }, (_, n) => {
    const at = n * width;
    const hash = text(at + 5) ?? undefined;
    return {
      id: text(at) ?? '',
      type: text(at + 1) ?? '',
      stream: text(at + 2) ?? '',
      revision: wire[at + 3] as number,
      position: text(at + 4) ?? '',
      hash,
      previous: text(at + 6) ?? undefined,
      computed: text(at + 7) ?? hash ?? '',
    };
  });
};

/** Makes the hashes of whole pages anew. */
export async function* entriesOf(
  pages: AsyncIterable<readonly StoredEvent[]>,
): AsyncGenerator<readonly Entry[], void> {
  for await (const page of pages) yield page.map(entryOf);
}

/** The entries of a log file, read in this thread; told is the first damage, as much as there are faults told of a log. */
export async function* readEntriesHere(
  path: string,
  onDamage: OnDamage,
): AsyncGenerator<readonly Entry[], void> {
  let told = 0;
  const file = await open(path, 'r');
  try {
    yield* entriesOf(
      readLogPages(file, (damage) => {
        if (++told <= faultsMax) onDamage(damage);
      }),
    );
  } finally {
    await file.close();
  }
}

async function* readEntriesAhead(path: string, onDamage: OnDamage): AsyncGenerator<readonly Entry[], void> {
  const workerData: EntryReaderInput = { path, aheadMax };
  const worker = new Worker(new URL('./entry-reader.js', import.meta.url), {
    workerData,
    name: 'keyledger entry-reader',
  });
  try {
    for await (const [message] of on(worker, 'message', { close: ['exit'] })) {
      const told: FromEntryReader = message;
      if (told.kind === 'end') return;
      if (told.kind === 'damaged') {
        onDamage(new DamagedFile(told.message));
        continue;
      }
      // A thread is no window: there is no origin to name.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage('taken');
      yield fromWire(told.entries);
    }
    throw new Error('The thread that reads the file ended before the file did.');
  } finally {
    await worker.terminate();
  }
}

/**
 * The entries of a log file; those of a long one another thread reads, some pages ahead. Tells what is damaged, and goes on
 * behind it.
 */
export async function* readEntries(path: string, onDamage: OnDamage): AsyncGenerator<readonly Entry[], void> {
  const { size } = await stat(path);
  yield* size < threadBytesMin ? readEntriesHere(path, onDamage) : readEntriesAhead(path, onDamage);
}
