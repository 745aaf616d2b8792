import { accept, command, type Fold } from '../core/command.ts';
import type { CheckpointFact } from '../events/checkpoint.ts';

/** Seals the log: the number is the next one as far as whoever seals knows. */
export type SealLog = CheckpointFact['data'];

/** What the names of the checkpoints' streams begin with. */
export const checkpointStreams = 'checkpoint-';

/** The stream of the checkpoint of this number: each has its own, so that there is one of each number. */
export const checkpointStream = (number: number): string => `${checkpointStreams}${number}`;

const isSealed: Fold<boolean, CheckpointFact> = { initial: false, on: { LogSealed: () => true } };

/** Where another node has sealed under this number first, nothing is stated: what it covers is another part of the log. */
export const sealLog = command({
  name: 'SealLog',
  stream: ({ number }: SealLog) => checkpointStream(number),
  startsStream: true,
  fold: isSealed,
  decide: (data: SealLog, wasSealed) => (wasSealed ? accept() : accept({ type: 'LogSealed', data })),
});
