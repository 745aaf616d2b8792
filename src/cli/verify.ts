import { existsSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkpointStream, checkpointStreams } from '../commands/checkpoint.ts';
import type { Config } from '../config.ts';
import type { Position, StoredEvent } from '../core/event.ts';
import { codec } from '../events/index.ts';
import { readKeptNote } from '../proofs/claims.ts';
import type { Entry } from '../proofs/entries.ts';
import { faultsMax, type Fault } from '../proofs/faults.ts';
import { verifierKeyFile } from '../proofs/signing-key.ts';
import { readVerifierKey, type VerifierKey } from '../proofs/signed-note.ts';
import type { Kept } from '../proofs/statements.ts';
import { createVerification, type Verified } from '../proofs/verification.ts';
import { BadUsage, textOf, type Command, type CommandInput, type Options } from './command.ts';
import { openSource, pagesOf, type Source } from './engines.ts';
import { entriesOf, readEntries } from './entries.ts';
import { readStreamsOf, type OnDamage } from './log-file.ts';
import { withProgress } from './progress.ts';
import { createStreamEnds } from './stream-ends.ts';

/** Numbers that are tried behind one that is not there: it may have been taken out. */
const missingNumbersMax = 16;

/** A log to verify. */
type Log = {
  readonly pages: (onDamage: OnDamage) => AsyncIterable<readonly Entry[]>;
  /** The events that state checkpoints, read apart from the rest and ahead of it. */
  readonly checkpointEvents: AsyncIterator<StoredEvent, void>;
  readonly count: number | undefined;
  readonly close: () => Promise<void>;
};

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The keys that are given, each as text or as the name of a file that holds some. Throws where one is none. */
const keysOf = (options: Options, { data_dir }: Config): readonly VerifierKey[] => {
  const given = textOf(options, 'key');
  const beside = join(data_dir, verifierKeyFile);
  if (given === undefined) {
    if (textOf(options, 'in') !== undefined || !existsSync(beside))
      throw new BadUsage("option '--key <key>' is missing: the public key, or a file that holds it");
    return lines(readFileSync(beside, 'utf8')).map(readVerifierKey);
  }
  return given
    .split(',')
    .flatMap((one) => {
      if (existsSync(one)) return lines(readFileSync(one, 'utf8'));
      // A key has its name and its number before it; what has not was meant as a file.
      if (!one.includes('+')) throw new Error(`There is no file ${one}, and it is no public key.`);
      return [one];
    })
    .map(readVerifierKey);
};

/** The notes that were kept. Throws where one is not signed with one of the keys. */
const keptOf = (options: Options, keys: readonly VerifierKey[]): readonly Kept[] =>
  (textOf(options, 'checkpoint')?.split(',') ?? []).map((name) => {
    // Mail and shells give lines other ends, and the last one too many or none.
    const note = `${readFileSync(name, 'utf8').replaceAll('\r\n', '\n').trim()}\n`;
    try {
      return { name, checkpoint: readKeptNote(note, keys) };
    } catch (error) {
      throw new Error(`${name} is no checkpoint: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  });

const openFile = async (path: string): Promise<Log> => {
  const file = await open(path, 'r');
  return {
    pages: (onDamage) => readEntries(path, onDamage),
    checkpointEvents: readStreamsOf(file, checkpointStreams),
    count: undefined,
    close: () => file.close(),
  };
};

/**
 * The events that state checkpoints, up to a position: a service that runs states more, and they cover what stands behind
 * it. They are found by their numbers.
 */
export async function* checkpointEventsOf(
  { readStream }: Pick<Source, 'readStream'>,
  last: Position,
): AsyncGenerator<StoredEvent, void> {
  for (let [number, misses] = [1, 0]; misses < missingNumbersMax; number += 1) {
    const events = (await readStream(checkpointStream(number))).filter(({ position }) => position <= last);
    misses = events.length === 0 ? misses + 1 : 0;
    yield* events;
  }
}

const openLog = async (config: Config, signal: AbortSignal): Promise<Log> => {
  const source = openSource(config);
  const head = await source.head();
  return {
    pages: () => entriesOf(pagesOf(source, head, signal)),
    checkpointEvents: checkpointEventsOf(source, head),
    count: source.count(),
    close: source.close,
  };
};

const faultLine = ({ index, event_id, position, stream, revision, what }: Fault): string => {
  const event = event_id === null ? '' : ` (${event_id}, revision ${revision} of ${stream}, at ${position})`;
  return `${index === null ? '' : `number ${index}`}${event} ${what}`.trim();
};

const summaryOf = ({ events, checkpoints, sealed_events, sealed_at, faults }: Verified): string => {
  const many = faults.length === faultsMax ? `${faultsMax} faults or more` : `${faults.length} faults`;
  if (faults.length > 0) return `The log is not what it was: ${many} in ${events} events`;
  if (checkpoints === 0) return `${events} events verified, and no checkpoint covers any of them`;
  const left = events - sealed_events;
  return `${events} events verified: ${sealed_events} under ${checkpoints} checkpoints up to ${sealed_at}, ${left} behind the last one`;
};

const verifyPages = async (
  { pages, checkpointEvents, count }: Log,
  keys: readonly VerifierKey[],
  kept: readonly Kept[],
  { signal, screen }: CommandInput,
): Promise<Verified> => {
  const streams = createStreamEnds();
  try {
    const { decode } = codec;
    const { take, tell, end } = createVerification({ decode, keys, kept, streams, checkpointEvents });
    return await withProgress({ what: 'verifying', total: count }, screen, async ({ add }) => {
      for await (const page of pages(({ message }) => tell(`The file is damaged: ${message}`))) {
        signal.throwIfAborted();
        await take(page);
        add(page.length);
        await nextTurn();
      }
      return end();
    });
  } finally {
    streams.close();
  }
};

/** Verifies an exported log, or the one that the settings name, by public keys and checkpoints that were kept. */
export const verify: Command['run'] = async (input) => {
  const { config, options, signal } = input;
  const keys = keysOf(options, config);
  const kept = keptOf(options, keys);
  const path = textOf(options, 'in');
  const log = await (path === undefined ? openLog(config, signal) : openFile(path));
  try {
    const verified = await verifyPages(log, keys, kept, input);
    const isWhole = verified.faults.length === 0;
    return {
      text: [...verified.faults.map(faultLine), summaryOf(verified)].join('\n'),
      result: { verified: isWhole, ...verified },
      failed: !isWhole,
    };
  } finally {
    await log.close();
  }
};
