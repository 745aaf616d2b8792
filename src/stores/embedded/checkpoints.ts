import type { WalState } from './protocol.ts';
import { walFramesDue, walFramesFinish } from './wal.ts';

/** Frames that the writer may move between two batches: a few milliseconds. */
const restFramesMax = 1_024;

/** Passes of the checkpointer in a row; under full load it gains no more after these. */
const passesMax = 3;

/** What the plan calls. */
export type CheckpointsInput = {
  /** Sets the checkpointer to work; it answers through `checkpointed`. */
  readonly start: () => void;
  /** Has the writer move the rest; it answers through `finished`. */
  readonly finish: () => void;
};

/**
 * When the WAL moves into the data file. The checkpointer moves the bulk while appends go on, but what is appended
 * meanwhile is left over; the WAL begins again at its start, instead of growing, only when for a moment nothing is.
 * So the writer moves a small rest between two batches, and a large one only when the WAL has grown very long.
 */
export const createCheckpoints = ({ start, finish }: CheckpointsInput) => {
  let isRunning = false;
  let passes = 0;
  let due = walFramesDue;
  let framesLast = 0;
  const rest = (): void => {
    isRunning = false;
    // Where the WAL could not begin again, it waits for it to have grown, and not for the next batch.
    due = framesLast + walFramesDue;
  };
  return {
    /** Told the WAL's size after each batch. */
    grown: (frames: number): void => {
      framesLast = frames;
      if (frames < walFramesDue) due = walFramesDue;
      if (isRunning || frames < due) return;
      isRunning = true;
      passes = 1;
      start();
    },
    /** Told what a pass of the checkpointer left. */
    checkpointed: ({ checkpointed }: WalState): void => {
      if (framesLast - checkpointed <= restFramesMax || framesLast >= walFramesFinish) return finish();
      if (passes++ < passesMax) return start();
      rest();
    },
    /** Told that the writer has moved what it could. */
    finished: rest,
  };
};
