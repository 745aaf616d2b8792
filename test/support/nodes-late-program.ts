import { runProgram } from '../../src/program.ts';

/** How far this node's clock is behind, in milliseconds. */
const behindMs = 120_000;

// The service on a computer whose clock is behind those of the other nodes. For tests alone.
await runProgram({ clock: () => Date.now() - behindMs });
