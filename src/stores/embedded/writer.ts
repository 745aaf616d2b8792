import { parentPort, workerData } from 'node:worker_threads';
import type { StoredEvent } from '../../core/event.ts';
import { createBatches, type Writing } from './batch.ts';
import { loadFaults, loadProjections } from './modules.ts';
import { openReadModels } from './open-read-models.ts';
import {
  toWireError,
  type FromWriter,
  type ToWriter,
  type WireAppends,
  type WriterInput,
} from './protocol.ts';
import { createRebuilding } from './rebuilding.ts';
import { openWriting } from './schema.ts';
import { createTransact, Unwritable } from './transaction.ts';
import {
  checkpointPassive,
  checkpointTruncate,
  createWalProbe,
  walFramesDue,
  walFramesHardMax,
} from './wal.ts';

/** The writer's thread: the only connection that writes, and one message after the other. */
const { path, projectionsModule, faultsModule }: WriterInput = workerData;
if (parentPort === null) throw new Error('The writer runs in a thread of its own.');
const port = parentPort;
const post = (message: FromWriter): void => port.postMessage(message);

const { projections, decode } = await loadProjections(projectionsModule);
const faults = await loadFaults(faultsModule);
const db = openWriting(path);
const writing: Writing = { db, transact: createTransact(db), decode, faults, live: [] };
const walFrames = createWalProbe(db);
openReadModels(writing, projections, () => {
  // Nobody else is at work yet, so the writer empties the WAL itself.
  if (walFrames() >= walFramesDue) checkpointPassive(db);
});
const batches = createBatches(writing);
let broken = false;

/** After this nothing more is written by this process: what the disk holds is for the next start to find out. */
const breakDown = (error: unknown): void => {
  broken = true;
  rebuilding.stop();
  post({ kind: 'fatal', error: toWireError(error) });
};

let hardCheckpointAt = walFramesHardMax;

/** Where the checkpointer can't keep up, the writer has to: slower appends are better than a disk that fills. */
const boundWal = (frames: number): void => {
  if (frames < hardCheckpointAt) return;
  const { log, checkpointed } = checkpointTruncate(db);
  hardCheckpointAt = log === checkpointed ? walFramesHardMax : frames + walFramesHardMax / 4;
};

const stepped = (): void => {
  const frames = walFrames();
  if (frames >= walFramesDue) post({ kind: 'grown', walFrames: frames });
  boundWal(frames);
};
const rebuilding = createRebuilding(writing, { head: batches.head, post, stepped, broken: breakDown });

const write = (wire: WireAppends): void => {
  const before = batches.head();
  const startedMs = performance.now();
  const result = batches.write(wire);
  const ms = performance.now() - startedMs;
  const frames = walFrames();
  post({ kind: 'batch', ...result, events: batches.head() - before, ms, walFrames: frames });
  boundWal(frames);
};

const replicate = (events: readonly StoredEvent[]): void => {
  try {
    const touched = batches.replicate(events);
    post({ kind: 'replicated', touched, walFrames: walFrames() });
  } catch (error) {
    const isUnwritable = error instanceof Unwritable;
    if (isUnwritable && error.reason === 'broken') throw error;
    // An event that can't be projected, or a full disk: told, and tried again by whoever feeds the log.
    post({
      kind: 'replicated',
      touched: [],
      error: toWireError(error),
      refused: isUnwritable,
      walFrames: walFrames(),
    });
  }
  boundWal(walFrames());
};

const close = (): void => {
  rebuilding.stop();
  checkpointTruncate(db);
  db.close();
  post({ kind: 'closed' });
  port.close();
};

const rest = (): void => {
  broken = true;
  rebuilding.stop();
  port.close();
};

const handle = (message: ToWriter): void => {
  switch (message.kind) {
    case 'appends':
      return write(message.wire);
    case 'replicate':
      return replicate(message.events);
    case 'probe':
      return post({ kind: 'probed', ...batches.probe() });
    case 'rebuild':
      return rebuilding.start(message.name);
    case 'left':
      return rebuilding.leave(message.table);
    case 'checkpoint':
      return post({ kind: 'checkpointed', wal: checkpointPassive(db) });
    case 'close':
      return close();
    case 'rest':
      return rest();
  }
};

port.on('message', (message: ToWriter) => {
  // It ends when told to, and not by force: a thread that is terminated inside the driver takes the process with it.
  if (broken) return message.kind === 'close' || message.kind === 'rest' ? port.close() : undefined;
  try {
    handle(message);
  } catch (error) {
    // Anything else than a known breakdown is a fault of this program: it ends the thread, and with it the process.
    if (!(error instanceof Unwritable)) throw error;
    breakDown(error);
  }
});
post({
  kind: 'ready',
  models: writing.live.map(({ projection: { name, version }, table }) => ({ name, version, table })),
});
