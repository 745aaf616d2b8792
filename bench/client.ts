import type { Job } from './job.ts';
import { runJob } from './load.ts';

// The client's own process: it takes one job at a time from the benchmark and answers its result.
process.on('message', (job: Job) => {
  void runJob(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
