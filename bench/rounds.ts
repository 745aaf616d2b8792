import type { Client } from './client-process.ts';
import type { JobResult } from './job.ts';
import { connectionCounts, type Operation } from './operations.ts';
import type { Side } from './sides/side.ts';

/** Uncounted load at the start of each cell: connecting, and the caches that the side before has cooled. */
const cellWarmupSeconds = 0.15;
/** Uncounted load on each operation before the first round, so that no side is measured uncompiled. */
const warmupSecondsMax = 1;
const warmupConnections = 64;
/** Credentials prepared for a cell of revoke; a cell that uses them up ends early and is measured until then. */
const revokesPerSecond = { single: 4_000, pooled: 10_000 };

/** One measurement: one operation at one number of connections on one side in one round. */
export type Cell = {
  readonly round: number;
  readonly operation: Operation;
  readonly connections: number;
  readonly side: string;
  readonly result: JobResult;
};

/** What to measure. */
export type Rounds = {
  readonly client: Client;
  readonly sides: readonly Side[];
  readonly operations: readonly Operation[];
  readonly rounds: number;
  readonly seconds: number;
};

/** Warms every side up, then visits the sides in turn for each row, so that a slow moment meets all of them. */
export const runRounds = async (plan: Rounds): Promise<Cell[]> => {
  const warmupSeconds = Math.min(warmupSecondsMax, plan.seconds);
  for (const operation of plan.operations) {
    console.error(`warming up: ${operation}`);
    for (const side of plan.sides)
      await measure(plan.client, side, operation, warmupConnections, warmupSeconds);
  }
  const cells: Cell[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    for (const operation of plan.operations) {
      console.error(`round ${round} of ${plan.rounds}: ${operation}`);
      for (const connections of connectionCounts) {
        for (const side of plan.sides) {
          const result = await measure(plan.client, side, operation, connections, plan.seconds);
          if (result !== undefined) cells.push({ round, operation, connections, side: side.title, result });
        }
      }
    }
  }
  return cells;
};

const measure = async (
  client: Client,
  side: Side,
  operation: Operation,
  connections: number,
  seconds: number,
): Promise<JobResult | undefined> => {
  const perSecond = connections === 1 ? revokesPerSecond.single : revokesPerSecond.pooled;
  const amount = Math.ceil(perSecond * (seconds + cellWarmupSeconds));
  const requests = await side.requestsFor(operation, amount);
  if (requests === undefined) return undefined;
  return client.run({
    port: side.server.port,
    connections,
    requests,
    warmupSeconds: cellWarmupSeconds,
    seconds,
  });
};

/** Every cell that did not go well, in words; empty where all figures hold. */
export const findTrouble = (cells: readonly Cell[]): string[] =>
  cells.flatMap(({ round, operation, connections, side, result: { requests, failures, faults } }) => {
    const trouble = Object.entries(failures).map(
      ([status, times]) => `${times} answers with status ${status}`,
    );
    if (faults.length > 0) trouble.push(`${faults.length} broken connections: ${faults[0]}`);
    if (requests === 0) trouble.push('nothing was measured');
    return trouble.map((it) => `${side}, ${operation}, ${connections} connections, round ${round}: ${it}`);
  });
