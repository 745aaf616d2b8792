import { createCheckpoints } from './checkpoints.ts';
import {
  fromWireError,
  type CheckpointerInput,
  type FromCheckpointer,
  type ToCheckpointer,
  type WalState,
} from './protocol.ts';
import { endThread, startThread } from './thread.ts';

/** What the checkpointer is given, and whom it tells. */
export type CheckpointingInput = CheckpointerInput & {
  /** Has the writer move what the checkpointer leaves over; `finished` is to be called then. */
  readonly finish: () => void;
  /** Told after each pass: how far the WAL is, and how long it took. */
  readonly checkpointed?: (wal: WalState, ms: number) => void;
  /** Told once, where the disk fails or the thread dies. */
  readonly fatal: (error: Error) => void;
};

/** Starts the checkpointer's thread beside a writer, who tells how the WAL grows. */
export const startCheckpointing = ({ finish, checkpointed, fatal, ...workerData }: CheckpointingInput) => {
  const thread = startThread<ToCheckpointer, FromCheckpointer>({
    file: 'checkpointer',
    workerData,
    hear: (message) => {
      if (message.kind === 'fatal') return fatal(fromWireError(message.error));
      checkpointed?.(message.wal, message.ms);
      plan.checkpointed(message.wal);
    },
    died: fatal,
  });
  const plan = createCheckpoints({ start: () => thread.post('checkpoint'), finish });
  return {
    grown: plan.grown,
    finished: plan.finished,
    /** Ends the thread; `rest` where a disk has failed. */
    end: (how: 'close' | 'rest') => endThread(thread, how),
  };
};

/** A checkpointer at work. */
export type Checkpointing = ReturnType<typeof startCheckpointing>;
