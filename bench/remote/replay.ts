import { z } from 'zod';
import { runProgram } from '../child.ts';
import { formatRate, formatTable } from '../table.ts';
import type { Engines } from './engines.ts';

const timedSchema = z.object({
  amount: z.number(),
  ms: z.number(),
  perSecond: z.number(),
  cpu: z.number(),
});

/** So many pieces of work in so many milliseconds, and the share of a core that the process itself used. */
export type Timed = Readonly<z.infer<typeof timedSchema>>;

const replaySchema = z.object({ reading: timedSchema, replaying: timedSchema, inserting: timedSchema });

/** The log read alone, all read models filled from it, and the documents of these inserted by the driver alone. */
export type Replay = Readonly<z.infer<typeof replaySchema>>;

/** Mints so many credentials into a log, without read models, and fills all read models from it. */
export const measureReplay = async (engines: Engines, credentials: number): Promise<Replay> => {
  const printed = await runProgram('remote/replay-process', {
    BENCH_LOG: await engines.log(),
    BENCH_DATABASE: engines.database(),
    BENCH_COPY: engines.database(),
    BENCH_CREDENTIALS: String(credentials),
  });
  return replaySchema.parse(JSON.parse(printed));
};

/** The replay as a Markdown table. */
export const formatReplay = ({ reading, replaying, inserting }: Replay): string =>
  formatTable(
    ['replay', 'amount', 'seconds', 'per second', 'own CPU'],
    (
      [
        ['all read models from an empty database, events', replaying],
        ['the log read alone, events', reading],
        ['driver alone: the same documents inserted', inserting],
      ] as const
    ).map(([title, { amount, ms, perSecond, cpu }]) => [
      title,
      formatRate(amount),
      (ms / 1000).toFixed(2),
      formatRate(perSecond),
      cpu.toFixed(2),
    ]),
  );
