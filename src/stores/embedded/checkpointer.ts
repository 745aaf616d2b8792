import { parentPort, workerData } from 'node:worker_threads';
import { loadFaults } from './modules.ts';
import { toWireError, type CheckpointerInput, type FromCheckpointer } from './protocol.ts';
import { openWriting } from './schema.ts';
import { checkpointPassive } from './wal.ts';

/** The checkpointer's thread: moves the WAL into the data file, on a connection of its own, when told to. */
const { path, faultsModule }: CheckpointerInput = workerData;
if (parentPort === null) throw new Error('The checkpointer runs in a thread of its own.');
const port = parentPort;
const post = (message: FromCheckpointer): void => port.postMessage(message);

const faults = await loadFaults(faultsModule);
const db = openWriting(path);

port.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'close') {
    db.close();
    port.close();
    return;
  }
  const startedMs = performance.now();
  try {
    faults?.('in-checkpoint');
    const wal = checkpointPassive(db);
    post({ kind: 'checkpointed', wal, ms: performance.now() - startedMs });
  } catch (error) {
    post({ kind: 'fatal', error: toWireError(error) });
  }
});
