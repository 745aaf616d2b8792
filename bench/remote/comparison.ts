import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startWorker, type Client } from '../client-process.ts';
import type { JobResult } from '../job.ts';
import type { Options } from '../options.ts';
import { startService, type ServiceSide } from '../sides/service.ts';
import { countCalls, formatCounts, type Count } from './counts.ts';
import { settingsOf, startEngines, type Engines } from './engines.ts';
import { measureRates, type Rates } from './rates.ts';
import type { RawJob } from './raw.ts';
import { formatReplay, measureReplay, type Replay } from './replay.ts';

/** The service on remote engines, beside the official clients of these. */
export type EnginesReport = {
  readonly engines: string;
  readonly rates: Rates;
  readonly counts: readonly Count[] | undefined;
  readonly replay: Replay;
};

type Start = { readonly folder: string; readonly client: Client };

const rate = async (engines: Engines, options: Options, start: Start): Promise<Rates> => {
  const [log, rawLog, database] = [await engines.log(), await engines.log(), engines.database()];
  const raw = startWorker<RawJob, JobResult>('remote/raw');
  let service: ServiceSide | undefined;
  try {
    service = await startService({
      ...start,
      title: 'service on engines',
      program: options.service,
      dataDir: join(start.folder, 'service'),
      engines: settingsOf(log, database),
    });
    const { rounds, seconds } = options;
    return await measureRates({ client: start.client, raw, service, log, database, rawLog, rounds, seconds });
  } finally {
    raw.stop();
    await service?.server.stop();
  }
};

/** Measures all of it, and prints each table as soon as it is there. Ends every server it started. */
export const compareEngines = async (
  options: Options,
  start: Start,
  print: (title: string, text: string) => void,
): Promise<EnginesReport> => {
  const folder = resolve(start.folder, 'engines');
  await mkdir(folder, { recursive: true });
  const engines = await startEngines(folder);
  const title = `${engines.eventStoreTitle} and ${engines.readModelsTitle}`;
  try {
    const rates = await rate(engines, options, start);
    print(`On ${title}: per second · p50 / p99 in ms`, rates.text);
    const counts = await countCalls(engines, { ...start, program: options.service });
    print('What the engines are asked', counts === undefined ? 'Not counted.' : formatCounts(counts));
    const replay = await measureReplay(engines, options.replayedCredentials);
    print('Replay', formatReplay(replay));
    return { engines: title, rates, counts, replay };
  } finally {
    await engines.stop();
  }
};
