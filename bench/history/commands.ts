import { execFile } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runMeasured, type Measured } from './measured-command.ts';
import { eventsRow, type HistoryRow } from './rows.ts';

const replayPerSecondMin = 200_000;
const exportPerSecondMin = 100_000;
/** A rebuild of a million events should take less. */
const rebuildMillionMsMax = 15_000;

/** The folder that is measured on, which no service has open, and what its log is known to hold. */
export type CommandsStart = {
  readonly program: string;
  readonly folder: string;
  readonly dataDir: string;
  readonly events: number;
};

/** What was measured, and what went wrong, in words. */
export type CommandsReport = { readonly rows: readonly HistoryRow[]; readonly trouble: readonly string[] };

/** The commands that the program names in its help. */
const commandsOf = async (program: string): Promise<ReadonlySet<string>> => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--help']);
  return new Set([...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? ''));
};

const backupRow = (what: string, { ms, peakBytes }: Measured, bytes: number): HistoryRow => ({
  what,
  result: `${Math.round(bytes / 1e6 / (ms / 1000))} MB/s · ${(ms / 1000).toFixed(1)} s`,
  peakBytes,
});

const rebuildRow = (what: string, { ms, peakBytes }: Measured, events: number): HistoryRow => {
  const msMax = (rebuildMillionMsMax * events) / 1e6;
  return {
    ...eventsRow(what, { events, ms, peakBytes }),
    aim: { text: `under ${(msMax / 1000).toFixed(1)} s`, reached: ms < msMax },
  };
};

/** Runs each command once, one after the other, each in a process of its own as an operator starts it. */
export const measureCommands = async (start: CommandsStart): Promise<CommandsReport> => {
  const { program, folder, dataDir, events } = start;
  const env = { SERVICE_DATA_DIR: dataDir };
  const known = await commandsOf(program);
  const rows: HistoryRow[] = [];
  const trouble: string[] = [];
  const exported = join(folder, 'log.ndjson');
  const copy = join(folder, 'copy.db');
  const replayed = join(folder, 'replayed');
  const measure = async (
    what: string,
    args: readonly string[],
    rowOf: (measured: Measured) => HistoryRow | Promise<HistoryRow>,
  ): Promise<void> => {
    const [name = ''] = args;
    if (!known.has(name)) return void rows.push({ what, result: `skipped: this build has no ${name}` });
    console.error(`measuring: ${what}`);
    const measured = await runMeasured({ program, args, env });
    if (measured.failure === undefined) return void rows.push(await rowOf(measured));
    trouble.push(measured.failure);
    rows.push({ what, result: 'failed', peakBytes: measured.peakBytes });
  };
  const rate = (what: string, args: readonly string[], perSecondMin?: number): Promise<void> =>
    measure(what, args, ({ ms, peakBytes }) => eventsRow(what, { events, ms, peakBytes }, perSecondMin));

  await rate('`replay --into` a new folder', ['replay', '--into', replayed, '--json'], replayPerSecondMin);
  await rm(replayed, { recursive: true, force: true });
  const rebuild = '`rebuild --offline` of all read models';
  await measure(rebuild, ['rebuild', '--offline', '--json'], (it) => rebuildRow(rebuild, it, events));
  await rate('`check` against a replay', ['check', '--json']);
  await rate('`export` into a file', ['export', '--out', exported, '--json'], exportPerSecondMin);
  const key = join(dataDir, 'signing-key.pub');
  await rate(
    '`verify` of that file',
    ['verify', '--in', exported, '--key', key, '--json'],
    exportPerSecondMin,
  );
  await rm(exported, { force: true });
  const backup = '`backup` into a file, verified';
  await measure(backup, ['backup', '--out', copy, '--json'], async (it) =>
    backupRow(backup, it, (await stat(copy)).size),
  );
  await rm(copy, { force: true });
  const show = '`events --json` into a pipe';
  await measure(show, ['events', '--json'], (it) => {
    if (it.lines < events) trouble.push(`events printed ${it.lines} lines, and the log has ${events}`);
    return eventsRow(show, { ...it, events: it.lines });
  });
  return { rows, trouble };
};
