/**
 * A place in the whole log: 20 decimal digits, zero-padded, so that text order is log order and no engine's
 * 64-bit number is ever squeezed through a JavaScript number. Opaque to clients.
 */
export type Position = string;

/** The form of a position. */
export const positionForm = /^[0-9]{20}$/;

/** The position before the first event. */
export const startOfLog: Position = '0'.repeat(20);

/** A position behind every event there will ever be: no engine's number has as many digits. */
export const endOfLog: Position = '9'.repeat(20);

/** An engine's own number as a `Position`. */
export const toPosition = (n: bigint | number): Position => String(n).padStart(20, '0');

/** Who asked, from where, why, and as part of which request: the same for every event of one command. */
export type Cause = {
  /** `admin`, `service_account:<id>`, `user:<tenant>/<username>`, `api_key:<id>` or `system`. */
  readonly actor: string;
  /** The caller's network address, as the socket saw it. */
  readonly address: string | null;
  readonly user_agent: string | null;
  /** Why, in the caller's own words (`X-Reason`). */
  readonly reason: string | null;
  /** The request's id. */
  readonly correlation_id: string;
  /** The event that led to this one, where one did: it gave out the token, key or session that was used. */
  readonly causation_id: string | null;
  /** The fingerprint of the token that was used, where one was. */
  readonly token?: string;
};

/** What a decision states as having happened, before it has an envelope. */
export type Fact = { readonly type: string; readonly data: object };

/** An event on its way to the log. `data` and `cause` are JSON text, so no engine ever sees a value it could bend. */
export type NewEvent = {
  readonly id: string;
  readonly type: string;
  readonly version: number;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly time: string;
  readonly data: string;
  readonly cause: string;
} & Links;

/** What holds an event to the one before it in its stream: SHA-256, base64. */
export type Links = {
  /** Covers all that the event says, its place in its stream, and `previous`. Absent on events from before there was one. */
  readonly hash?: string;
  /** The hash of the event before it in its stream; absent on the first. */
  readonly previous?: string;
};

/** The links among other members, where they are there. */
export const linksOf = ({
  hash,
  previous,
}: {
  readonly hash?: string | null | undefined;
  readonly previous?: string | null | undefined;
}): Links => {
  if (hash === null || hash === undefined) return {};
  return previous === null || previous === undefined ? { hash } : { hash, previous };
};

/** An event as the log holds it. */
export type StoredEvent = NewEvent & {
  readonly stream: string;
  /** The place in the stream, from 0. */
  readonly revision: number;
  readonly position: Position;
};

/** A stored event, decoded and brought up to today's version of its type. */
export type RecordedEvent<F extends Fact = Fact> = F extends Fact
  ? {
      readonly id: string;
      readonly type: F['type'];
      readonly data: F['data'];
      /** Today's version of the type, whatever version was stored. */
      readonly version: number;
      readonly stream: string;
      readonly revision: number;
      readonly position: Position;
      readonly time: string;
      readonly cause: Cause;
    } & Links
  : never;

/** Translates between facts and stored events. `decode` throws on bytes that no version of the type explains. */
export type Codec<F extends Fact = Fact> = {
  encode(fact: F, envelope: { id: string; time: string; cause: Cause }): NewEvent;
  readonly decode: (event: StoredEvent) => RecordedEvent<F>;
};
