import { z } from 'zod';
import { runProgram } from '../child.ts';

const lasting = z.object({
  tenant: z.string(),
  user: z.string(),
  credentials: z.array(z.string()).readonly(),
});

/** What the seeding program prints. */
const seededSchema = z.object({
  events: z.number(),
  lasting: z.array(lasting).readonly(),
});

/** How long the log is, and what there is from its beginning to its end. */
export type Seeded = Readonly<z.infer<typeof seededSchema>>;

/** Fills a data folder with so many events, in a process of its own, whose memory is not that of the run. */
export const seedHistory = async (dir: string, events: number): Promise<Seeded> => {
  const env = { BENCH_DIR: dir, BENCH_EVENTS: String(events) };
  return seededSchema.parse(JSON.parse(await runProgram('history/seed-history', env)));
};
