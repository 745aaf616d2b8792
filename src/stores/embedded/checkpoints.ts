import type { WalState } from './protocol.ts';
import { walFramesDue } from './wal.ts';

/** Frames that the writer may move itself: some milliseconds. */
const finishFramesMax = 1_024;

/** Passes of the checkpointer before the writer finishes, however much is left. */
const passesMax = 4;

/** What the plan calls. */
export type CheckpointsInput = {
  /** Sets the checkpointer to work; it answers through `checkpointed`. */
  readonly start: () => void;
  /** Has the writer move the rest; it answers through `finished`. */
  readonly finish: () => void;
};

/**
 * When the WAL moves into the data file. The checkpointer moves the bulk while appends go on, but what is appended
 * meanwhile is left over for ever; so the writer moves the small rest between two batches, and only after that does
 * the WAL begin again at its start instead of growing.
 */
export const createCheckpoints = ({ start, finish }: CheckpointsInput) => {
  let isRunning = false;
  let passes = 0;
  let due = walFramesDue;
  return {
    /** Told the WAL's size after each batch. */
    grown: (frames: number): void => {
      // It began again since: the threshold is the usual one.
      if (frames < walFramesDue) due = walFramesDue;
      if (isRunning || frames < due) return;
      isRunning = true;
      passes = 1;
      start();
    },
    checkpointed: ({ log, checkpointed }: WalState): void => {
      if (log - checkpointed > finishFramesMax && passes++ < passesMax) start();
      else finish();
    },
    finished: ({ log }: WalState): void => {
      isRunning = false;
      // Where it could not empty the WAL, it waits for it to have grown, and not for the next batch.
      due = Math.max(log, due) + walFramesDue;
    },
  };
};
