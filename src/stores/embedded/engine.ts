import type { StoredEvent } from '../../core/event.ts';
import { StoreUnavailable, type EventStore, type Health, type ReadModels } from '../../core/ports.ts';
import { startCheckpointing, type Checkpointing } from './checkpointing.ts';
import { createLog } from './log.ts';
import type { EmbeddedOptions } from './options.ts';
import {
  fromWireError,
  outcome,
  type BatchReply,
  type FromWriter,
  type LiveModel,
  type ToWriter,
  type WriterInput,
} from './protocol.ts';
import { loadProjections, type ProjectionsModule } from './modules.ts';
import { createQueue } from './queue.ts';
import { createReadModels } from './read-models.ts';
import { createReplication, type Replication } from './replication.ts';
import { openReading } from './schema.ts';
import { atMost, endThread, startThread, type Thread } from './thread.ts';
import { walFrameBytes } from './wal.ts';

/** How long `close` waits for what is queued. */
const closeWaitMs = 10_000;

/** The engine on an open data file. */
export type Engine = {
  readonly events: EventStore;
  readonly readModels: ReadModels;
  readonly health: () => Health;
  readonly waiting: () => number;
  /**
   * Takes events of another log, in order and with their positions there; resolves when they and their documents are
   * durable. Rejects with `StoreUnavailable` where the disk is full, else with what the event's reducer or decoder
   * threw; nothing of them is stored then. One call at a time.
   */
  readonly replicate: (events: readonly StoredEvent[]) => Promise<void>;
  readonly lastEventTime: () => string | undefined;
  readonly close: () => Promise<void>;
};

/** Makes the parts around a writer; where that fails, the writer does not stay behind. */
const orEnd = async <T>(writer: Thread<ToWriter>, make: () => T): Promise<T> => {
  try {
    return make();
  } catch (error) {
    await endThread(writer, { kind: 'close' });
    throw error;
  }
};

/** Whether writing works, as the last write showed. */
const createCondition = (probe: () => void) => {
  let refused: string | undefined;
  let isProbing = false;
  return {
    /** Told what became of a write: the reason where it was refused. */
    learn: (reason: string | undefined): void => {
      refused = reason;
    },
    probed: (reason: string | undefined): void => {
      isProbing = false;
      refused = reason;
    },
    health: (): Health => {
      if (refused === undefined) return { ready: true };
      // Nobody sends writes to a service that is not ready; so that it can recover, asking is trying.
      if (!isProbing) {
        isProbing = true;
        probe();
      }
      return { ready: false, reason: `The last write was refused: ${refused}.` };
    },
  };
};

const countOf = (outcomes: readonly number[], code: number): number => {
  let count = 0;
  for (let n = 0; n < outcomes.length; n += 2) if (outcomes[n] === code) count++;
  return count;
};

type Hearing = { hear: (message: FromWriter) => void; died: (error: Error) => void };

/** Starts the writer and waits until it serves; what it says later goes to whatever `hearing` then holds. */
const startWriter = async ({ projectionsModule, faultsModule }: EmbeddedOptions, path: string) => {
  const hearing: Hearing = { hear: () => undefined, died: () => undefined };
  const workerData: WriterInput = { path, projectionsModule, faultsModule };
  const start = (ready: (models: readonly LiveModel[]) => void, failed: (error: Error) => void) =>
    startThread<ToWriter, FromWriter>({
      file: 'writer',
      workerData,
      hear: (message) => (message.kind === 'ready' ? ready(message.models) : hearing.hear(message)),
      died: (error) => {
        failed(error);
        hearing.died(error);
      },
    });
  let writer: Thread<ToWriter> | undefined;
  const models = await new Promise<readonly LiveModel[]>((ready, failed) => {
    writer = start(ready, failed);
  });
  if (writer === undefined) throw new Error('The writer did not start.');
  return { writer, models, hearing };
};

/** The parts on the main thread, around a writer that serves. */
const createParts = (
  options: EmbeddedOptions,
  path: string,
  models: readonly LiveModel[],
  projections: ProjectionsModule,
  writer: Thread<ToWriter>,
) => {
  const { observe = {}, cacheEntriesMax, waitingAppendsMax } = options;
  const db = openReading(path);
  const log = createLog(db);
  const queue = createQueue({
    post: (wire) => writer.post({ kind: 'appends', wire }),
    read: log.readStream,
    conflict: () => observe.conflict?.(),
    appendsMax: waitingAppendsMax,
  });
  const reads = createReadModels({
    db,
    models,
    projections,
    post: writer.post,
    head: log.head,
    cacheEntriesMax,
  });
  const condition = createCondition(() => writer.post({ kind: 'probe' }));
  const end = (reason: string, cause?: unknown): void => {
    queue.end(reason, cause);
    reads.end(new StoreUnavailable(`The engine has ended: ${reason}.`, { cause }));
    log.end(`The engine has ended: ${reason}.`);
  };
  return { db, log, queue, reads, condition, observe, end };
};

type Parts = ReturnType<typeof createParts>;

/** Takes a batch's answer: the caches forget what changed before anybody learns that it did. */
const takeBatch = (
  { log, queue, reads, condition, observe }: Parts,
  checkpoints: Pick<Checkpointing, 'grown' | 'finished'>,
  reply: BatchReply,
) => {
  const { outcomes, errors, touched, events, ms, walFrames } = reply;
  reads.drop(touched);
  if (events > 0) {
    condition.learn(undefined);
    const appends = countOf(outcomes, outcome.appended);
    observe.committed?.({ appends, events, ms, walBytes: walFrames * walFrameBytes });
    log.wake();
  }
  if (errors.length > 0 && countOf(outcomes, outcome.refused) > 0) condition.learn(errors.at(-1)?.message);
  queue.settle(reply);
  checkpoints.grown(walFrames);
};

const createHearing = (
  parts: Parts,
  checkpoints: Pick<Checkpointing, 'grown' | 'finished'>,
  replication: Replication,
  fatal: (error: Error) => void,
) => {
  const { reads, condition } = parts;
  return (message: FromWriter): void => {
    switch (message.kind) {
      case 'batch':
        return takeBatch(parts, checkpoints, message);
      case 'replicated':
        replication.replicated(message);
        return checkpoints.grown(message.walFrames);
      case 'probed':
        return condition.probed(message.refused?.message);
      case 'touched':
        return reads.drop(message.touched);
      case 'rebuilding':
        return reads.progress(message.names, message.checkpoint);
      case 'swapped':
        return reads.swap(message.model, message.left);
      case 'rebuilt':
        return reads.finish(message.name, message.error, message.refused === true);
      case 'grown':
        return checkpoints.grown(message.walFrames);
      case 'checkpointed':
        return checkpoints.finished();
      case 'fatal':
        return fatal(fromWireError(message.error));
      case 'ready':
      case 'closed':
        return undefined;
    }
  };
};

/** Starts the threads on a data file that is prepared; `fd` is that file, open as long as the engine is. */
export const openEngine = async (options: EmbeddedOptions, path: string, fd: number): Promise<Engine> => {
  const projections = await loadProjections(options.projectionsModule);
  const { writer, models, hearing } = await startWriter(options, path);
  const parts = await orEnd(writer, () => createParts(options, path, models, projections, writer));
  const { db, log, queue, reads, condition, observe, end } = parts;
  const replication = createReplication({
    post: writer.post,
    drop: reads.drop,
    wake: log.wake,
    learn: condition.learn,
  });
  let broken: Error | undefined;

  const fatal = (error: Error): void => {
    if (broken !== undefined) return;
    broken = error;
    end('writing failed and was given up', error);
    replication.end(new StoreUnavailable('Writing failed and was given up.', { cause: error }));
    options.onFatal(error);
  };
  const checkpointing = startCheckpointing({
    path,
    fd,
    faultsModule: options.faultsModule,
    finish: () => writer.post({ kind: 'checkpoint' }),
    checkpointed: (wal, ms) => observe.checkpointed?.({ ms, walBytes: wal.log * walFrameBytes }),
    fatal,
  });
  hearing.hear = createHearing(parts, checkpointing, replication, fatal);
  hearing.died = fatal;

  const close = async (): Promise<void> => {
    queue.refuse('the engine is closing');
    await atMost(closeWaitMs, queue.drained());
    end('the engine is closed');
    replication.end(new StoreUnavailable('The engine is closed.'));
    db.close();
    // The writer last, so that it finds the WAL to itself and empties it; but never after a disk has failed: a second
    // sync would succeed without what the first one lost, and the WAL, which still has it, would be emptied.
    const kind = broken === undefined ? 'close' : 'rest';
    await checkpointing.end(kind);
    await endThread(writer, { kind });
  };
  return {
    events: {
      append: queue.append,
      readStream: async (stream, from = 0) => log.readStream(stream, from),
      readAll: async (after, limit) => log.readAll(after, limit),
      readAllBack: async (before, limit) => log.readAllBack(before, limit),
      subscribe: log.subscribe,
      head: async () => log.head(),
    },
    readModels: reads.readModels,
    health: () =>
      broken === undefined
        ? condition.health()
        : { ready: false, reason: `Writing failed: ${broken.message}.` },
    waiting: queue.size,
    replicate: replication.replicate,
    lastEventTime: log.lastEventTime,
    close,
  };
};
