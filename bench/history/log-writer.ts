import { v7 } from 'uuid';
import { evolve, type Command } from '../../src/core/command.ts';
import { toPosition, type Cause, type Fact, type StoredEvent } from '../../src/core/event.ts';
import { readPageEventsMax } from '../../src/core/ports.ts';
import { codec, type DomainFact } from '../../src/events/index.ts';
import { hashOf } from '../../src/proofs/event-hash.ts';

/** A log that is filled by the service's own commands, without waiting for a disk between two of them. */
export type LogWriter = {
  /** Decides a wish by what its stream holds and puts the facts at the log's end; answers the stream. Throws where it is refused. */
  readonly write: <W, S, F extends Fact, C extends string>(command: Command<W, S, F, C>, wish: W) => string;
  /** Drops what is remembered of a stream that no further wish is about: a million credentials are not to be held. */
  readonly forget: (stream: string) => void;
  /** How many events it has. */
  readonly events: () => number;
  /** The time of the next event, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Hands over what has gathered. */
  readonly flush: () => void;
};

/** Where the log goes, and when its events happened: the first at `fromMs`, each `stepMs` after the one before. */
export type LogStart = {
  readonly take: (page: readonly StoredEvent[]) => void;
  readonly fromMs: number;
  readonly stepMs: number;
};

/** What a stream holds so far, and the hash of its last event. */
type Past = { readonly facts: DomainFact[]; last?: string };

/** What stands beside an event; each has a request of its own. */
const causeOf = (fact: DomainFact): Cause => ({
  actor: fact.type === 'CredentialMinted' ? `service_account:${fact.data.service_account_id}` : 'admin',
  address: '127.0.0.1',
  user_agent: 'benchmark',
  reason: null,
  correlation_id: v7(),
  causation_id: null,
});

/** A writer of a log that is empty so far. */
export const createLogWriter = ({ take, fromMs, stepMs }: LogStart): LogWriter => {
  const past = new Map<string, Past>();
  const page: StoredEvent[] = [];
  let written = 0;
  const nowMs = (): number => Math.floor(fromMs + written * stepMs);
  const flush = (): void => take(page.splice(0));

  const append = (stream: string, fact: DomainFact, of: Past): void => {
    const envelope = { id: v7(), time: new Date(nowMs()).toISOString(), cause: causeOf(fact) };
    const previous = of.last === undefined ? {} : { previous: of.last };
    const event = { ...codec.encode(fact, envelope), stream, revision: of.facts.length, ...previous };
    const hash = hashOf(event);
    written += 1;
    page.push({ ...event, hash, position: toPosition(written) });
    of.facts.push(fact);
    of.last = hash;
    if (page.length === readPageEventsMax) flush();
  };

  const write: LogWriter['write'] = <W, S, F extends Fact, C extends string>(
    { stream: streamOf, fold, decide }: Command<W, S, F, C>,
    wish: W,
  ) => {
    const stream = streamOf(wish);
    const of: Past = past.get(stream) ?? { facts: [] };
    past.set(stream, of);
    // A stream holds only facts of its own command's kind.
    const folded = of.facts as readonly Fact[] as readonly F[];
    const decision = decide(
      wish,
      folded.reduce((state, fact) => evolve<S, F>(fold, state, fact), fold.initial),
    );
    if (!decision.accepted) throw new Error(`filling the log was refused: ${decision.detail}`);
    for (const fact of decision.facts as readonly Fact[]) append(stream, fact as DomainFact, of);
    return stream;
  };

  return { write, forget: (stream) => void past.delete(stream), events: () => written, nowMs, flush };
};
