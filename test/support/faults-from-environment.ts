import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { FailPoint, Faults } from '../../src/core/faults.ts';

/** What happens at a fail point: an exception, or the death of the process. */
export type FaultAction = 'throw' | 'kill';

/** One fault: where, in which of the program's threads, at the how-manieth time (from 1), and what. */
export type Fault = {
  readonly point: FailPoint;
  readonly thread: 'main' | 'worker';
  readonly hit: number;
  readonly action: FaultAction;
};

/** The variable that `faults` reads. */
const variable = 'KEYLEDGER_TEST_FAULT';

/** The environment that has a program of `faulty-program.ts` meet this fault. */
export const environmentOf = (fault: Fault): Record<string, string> => ({
  [variable]: JSON.stringify(fault),
});

/** What the program writes when it meets the fault: without it a test has tested nothing. */
export const faultMet = (point: FailPoint): string => `met the fault at ${point}`;

const planned =
  process.env[variable] === undefined ? undefined : (JSON.parse(process.env[variable]) as Fault);
let hits = 0;

/** Counts the hits of the one planned fault in this thread, and strikes once. */
export const faults: Faults = (point) => {
  if (point !== planned?.point || isMainThread !== (planned.thread === 'main')) return;
  hits += 1;
  if (hits !== planned.hit) return;
  // Written at once and by number: `process.stderr` of a thread goes by way of the main one.
  writeSync(2, `${faultMet(point)}\n`);
  if (planned.action === 'kill') process.kill(process.pid, 'SIGKILL');
  throw new Error(`A fault at ${point}.`);
};
