import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { decode, projections } from '../projections/index.ts';
import type { Position } from '../core/event.ts';
import { openShadow, type Shadow } from '../stores/embedded/index.ts';
import { BadUsage, textOf, type Command, type CommandInput, type Outcome } from './command.ts';
import { aheadIn, fileNameOf, isEmbedded, openSource, pagesOf, type Source } from './engines.ts';
import { lineOf, positionOf } from './events.ts';
import { insistNew } from './export.ts';
import { withProgress } from './progress.ts';
import { replayInto } from './replaying.ts';
import { stepsOf, type State, type Step } from './states.ts';
import { syncFolder } from './whole-file.ts';

const stateLine = ({ read_model, id, document }: State): string =>
  `  ${read_model} ${id} ${document === null ? 'is gone' : JSON.stringify(document)}\n`;

const stepText = ({ event, states }: Step, isJson: boolean): string =>
  isJson ? `${JSON.stringify({ event, states })}\n` : `${lineOf(event)}\n${states.map(stateLine).join('')}`;

/** What a thing was: at each of its events what that changed, or all of it at one position. */
const showThing = async (
  { config, options, signal, print }: CommandInput,
  stream: string,
): Promise<Outcome> => {
  const upTo = positionOf(options, 'atPosition', 'at-position');
  const isJson = options['json'] === true;
  const source = openSource(config);
  try {
    if (upTo !== undefined && upTo > (await source.head()))
      throw new Error(`The log ends before position ${upTo}.`);
    const held = new Map<string, State>();
    let last: Step | undefined;
    let events = 0;
    for await (const step of stepsOf(source, stream, upTo, held)) {
      signal.throwIfAborted();
      last = step;
      events += 1;
      if (upTo === undefined) await print(stepText(step, isJson));
    }
    if (last === undefined)
      throw new Error(`The log has no event of ${stream}${upTo === undefined ? '' : ` up to ${upTo}`}.`);
    if (upTo !== undefined) await print(stepText({ event: last.event, states: [...held.values()] }, isJson));
    return { result: { events } };
  } finally {
    await source.close();
  }
};

/** Makes a file that its owner alone can read, before SQLite opens it, and makes it durable after. */
const withFile = async (path: string, fill: () => Promise<void>): Promise<void> => {
  await (await open(path, 'wx', 0o600)).close();
  await fill();
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Copies the log up to a position into the shadow. */
const copyLog = async (
  source: Source,
  shadow: Shadow,
  head: Position,
  { config, signal, screen }: CommandInput,
): Promise<void> =>
  withProgress({ what: 'copying', total: source.count() }, screen, async ({ add }) => {
    if (!isEmbedded(config))
      for await (const page of pagesOf(source, head, signal)) {
        shadow.take(page);
        add(page.length);
      }
    else
      for (const events of shadow.takeFile(aheadIn(config, head))) {
        signal.throwIfAborted();
        add(events);
        await nextTurn();
      }
  });

/** Puts the log up to its head as it is now, and all read models made anew, into a folder that is there whole or not at all. */
const replayIntoFolder = async (input: CommandInput, into: string): Promise<Outcome> => {
  const { config } = input;
  const folder = resolve(into);
  insistNew(folder);
  const source = openSource(config);
  const unfinished = join(dirname(folder), `.${basename(folder)}.${process.pid}.part`);
  try {
    const head = await source.head();
    let events = 0;
    await mkdir(unfinished, { mode: 0o700 });
    const path = join(unfinished, fileNameOf(config));
    await withFile(path, async () => {
      const shadow = openShadow(path);
      try {
        await copyLog(source, shadow, head, input);
        const ahead = isEmbedded(config) ? aheadIn(config, head) : undefined;
        events = await replayInto(shadow, { projections, decode, ahead }, input);
      } finally {
        shadow.close();
      }
    });
    await syncFolder(unfinished);
    await rename(unfinished, folder);
    await syncFolder(dirname(folder));
    return {
      text: `${events} events replayed into ${projections.length} read models in ${into}`,
      result: { events, head, read_models: projections.length, folder: into },
    };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  } finally {
    await source.close();
  }
};

/** Replays a stream for people to see, or the log into a folder. */
export const replay: Command['run'] = async (input) => {
  const stream = textOf(input.options, 'stream');
  const into = textOf(input.options, 'into');
  if ((stream === undefined) === (into === undefined))
    throw new BadUsage("replay takes either '--stream <stream>' or '--into <folder>'");
  if (stream !== undefined) return showThing(input, stream);
  if (input.options['atPosition'] !== undefined)
    throw new BadUsage("option '--at-position' goes with '--stream'");
  return replayIntoFolder(input, into ?? '');
};
