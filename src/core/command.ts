import type { Fact, Position, RecordedEvent } from './event.ts';

/** A wish that is granted: the facts it makes true. None where it is true already. */
export type Accepted<F extends Fact> = { readonly accepted: true; readonly facts: readonly F[] };

/** A wish that is refused. `detail` is for the client: it says what to change and holds no secret. */
export type Refused<C extends string = string> = {
  readonly accepted: false;
  readonly code: C;
  readonly detail: string;
  /** The member of the wish that is at fault, as a JSON pointer, where one is. */
  readonly pointer?: string;
};

/** Grants the wish; without facts it was true already, which is no error and no second fact. */
export const accept = <const F extends Fact>(...facts: readonly F[]): Accepted<F> => ({
  accepted: true,
  facts,
});

/** Refuses the wish under one of the codes that clients meet. */
export const refuse = <const C extends string>(code: C, detail: string, pointer?: string): Refused<C> => ({
  accepted: false,
  code,
  detail,
  ...(pointer === undefined ? {} : { pointer }),
});

/** The state of one stream as its events tell it: where it starts, and what each event type changes. */
export type Fold<S, F extends Fact> = {
  readonly initial: S;
  readonly on: { readonly [T in F['type']]?: (state: S, data: Extract<F, { type: T }>['data']) => S };
};

/** A wish, the stream that decides it, and the decision: pure, so that the same history always decides alike. */
export type Command<W, S, F extends Fact, C extends string> = {
  readonly name: string;
  readonly stream: (wish: W) => string;
  /**
   * The stream usually does not exist yet: decide first on the initial state and let the expected revision tell,
   * instead of reading a stream that is almost surely empty.
   */
  readonly startsStream?: boolean;
  readonly fold: Fold<S, F>;
  readonly decide: (wish: W, state: S) => Accepted<F> | Refused<C>;
};

/** States a command; it is the identity, there for the types. */
export const command = <W, S, F extends Fact, C extends string>(
  it: Command<W, S, F, C>,
): Command<W, S, F, C> => it;

/** The state after one more fact; a fact that the fold does not name changes nothing. */
export const evolve = <S, F extends Fact>(fold: Fold<S, F>, state: S, fact: Pick<F, 'type' | 'data'>): S => {
  const step = fold.on[fact.type];
  return step === undefined ? state : step(state, fact.data);
};

/** What became of a wish: its own events (none where it was true already), or the refusal. */
export type Outcome<F extends Fact, C extends string> =
  | {
      readonly accepted: true;
      readonly events: readonly RecordedEvent<F>[];
      /** Where the log must have been read to for what is answered; absent where the stream has no event. */
      readonly position: Position | undefined;
    }
  | Refused<C>;
