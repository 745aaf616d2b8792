import { evolve, type Command, type Outcome } from './command.ts';
import type { Cause, Codec, Fact, RecordedEvent, StoredEvent } from './event.ts';
import type { Faults } from './faults.ts';
import { readPageEventsMax, type Append, type Clock, type EventStore, type ReadModels } from './ports.ts';

/** How often a lost race is decided again before the caller is told that the thing is too busy. */
export const attemptsMax = 8;

/** Every attempt lost the race for the stream: nothing was written, and the request may be tried again. */
export class TooManyConflicts extends Error {
  override readonly name = 'TooManyConflicts';
}

/** What happened while a command ran, for the metrics. */
export type RunObserver = {
  /** `outcome` is `accepted`, `unchanged` where the wish was true already, or the refusal's code. */
  decided(command: string, outcome: string): void;
  conflicted(command: string): void;
};

/** Gives each event of an append its hash, which holds it to the one before it: `last` is where the stream ends now. */
export type Link = (append: Append, last: StoredEvent | undefined) => Append;

type Needs = {
  readonly events: Pick<EventStore, 'append' | 'readStream'>;
  readonly link: Link;
  readonly readModels: Pick<ReadModels, 'settle'>;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly observer: RunObserver;
  readonly faults?: Faults | undefined;
};

const outcomeOf = (outcome: Outcome<Fact, string>): string => {
  if (!outcome.accepted) return outcome.code;
  return outcome.events.length > 0 ? 'accepted' : 'unchanged';
};

/** Runs a command for a caller: load, fold, decide, append, project; only then it answers. */
export type Run = <W, S, F extends Fact, C extends string>(
  command: Command<W, S, F, C>,
  wish: W,
  cause: Cause,
) => Promise<Outcome<F, C>>;

/**
 * The one road by which anything changes. A lost race decides again on the new state, at most `attemptsMax` times,
 * then throws `TooManyConflicts`; an engine that is away throws `StoreUnavailable`.
 */
export const createRun = (needs: Needs): Run => {
  const { events, link, readModels, codec, clock, newId, observer, faults } = needs;

  const load = async (stream: string): Promise<readonly StoredEvent[]> => {
    const all: StoredEvent[] = [];
    for (;;) {
      const page = await events.readStream(stream, all.length);
      all.push(...page);
      if (page.length < readPageEventsMax) return all;
    }
  };

  const attempt = async <W, S, F extends Fact, C extends string>(
    command: Command<W, S, F, C>,
    wish: W,
    cause: Cause,
    past: readonly StoredEvent[],
  ): Promise<Outcome<F, C> | 'conflict'> => {
    const state = past.reduce(
      (folded, event) => evolve(command.fold, folded, codec.decode(event) as unknown as F),
      command.fold.initial,
    );
    const decision = command.decide(wish, state);
    // An earlier try may have died between append and projection: what the answer rests on is made good first.
    if (!decision.accepted || decision.facts.length === 0) {
      await readModels.settle(past);
      return decision.accepted ? { accepted: true, events: [], position: past.at(-1)?.position } : decision;
    }
    const time = new Date(clock()).toISOString();
    const fresh = decision.facts.map((fact) => codec.encode(fact, { id: newId(), time, cause }));
    faults?.('before-append');
    const last = past.at(-1);
    const expected = last === undefined ? 'none' : last.revision;
    const result = await events.append(link({ stream: command.stream(wish), expected, events: fresh }, last));
    if (!result.appended) return 'conflict';
    await readModels.settle(past.length === 0 ? result.events : [...past, ...result.events]);
    const recorded = result.events.map((stored, at) => ({
      ...stored,
      data: decision.facts[at]?.data,
      cause,
    })) as unknown as RecordedEvent<F>[];
    faults?.('before-reply');
    return { accepted: true, events: recorded, position: result.events.at(-1)?.position };
  };

  return async (command, wish, cause) => {
    const stream = command.stream(wish);
    let past: readonly StoredEvent[] = command.startsStream === true ? [] : await load(stream);
    for (let tries = 1; tries <= attemptsMax; tries += 1) {
      const outcome = await attempt(command, wish, cause, past);
      if (outcome !== 'conflict') {
        observer.decided(command.name, outcomeOf(outcome));
        return outcome;
      }
      // That a stream exists after all is what the first try of such a command finds out, and no race.
      if (tries > 1 || command.startsStream !== true) observer.conflicted(command.name);
      past = await load(stream);
    }
    throw new TooManyConflicts(`${command.name} on ${stream} lost ${attemptsMax} races.`);
  };
};
