import {
  linksOf,
  toPosition,
  type Links,
  type NewEvent,
  type Position,
  type StoredEvent,
} from '../../core/event.ts';

/** An event on its way to the server: data and metadata are JSON texts, so that the server's own tools show them. */
export type ServerNewEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
};

/** An event as the server has it. */
export type ServerEvent = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: bigint;
  /** The commit position; absent where the server does not tell it. */
  readonly position: bigint | undefined;
  readonly data: unknown;
  readonly metadata: unknown;
};

/** What an event's metadata holds: all of the envelope that the server has no place of its own for. */
type Envelope = { readonly version: number; readonly time: string; readonly cause: object } & Links;

const refuseUnreadable = (text: string): string => {
  JSON.parse(text);
  return text;
};

/** Throws `SyntaxError` where data or cause is no JSON: the server would store it so that nobody can read it. */
export const toServerEvent = (event: NewEvent): ServerNewEvent => {
  const { id, type, version, time, data, cause } = event;
  const links = Object.entries(linksOf(event)).map(([name, link]) => `,"${name}":${JSON.stringify(link)}`);
  return {
    id,
    type,
    data: refuseUnreadable(data),
    metadata: `{"version":${version},"time":${JSON.stringify(time)},"cause":${refuseUnreadable(cause)}${links.join('')}}`,
  };
};

/** What an event counts against the server's limit for one append, in bytes. */
export const sizeBytes = ({ type, data, metadata }: ServerNewEvent): number =>
  2 * type.length + Buffer.byteLength(data) + Buffer.byteLength(metadata);

const isLink = (value: unknown): boolean => value === undefined || typeof value === 'string';

const isEnvelope = (metadata: unknown): metadata is Envelope => {
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { version, time, cause, hash, previous } = metadata as Partial<Envelope>;
  return (
    typeof version === 'number' &&
    typeof time === 'string' &&
    typeof cause === 'object' &&
    cause !== null &&
    isLink(hash) &&
    isLink(previous)
  );
};

/**
 * Whether the event is part of the log. The server's own events (statistics, links, settings) are not, nor are
 * those that another program has put into streams of its own: they bear no envelope.
 */
export const isOfLog = ({ type, stream, metadata }: ServerEvent): boolean =>
  !type.startsWith('$') && !stream.startsWith('$') && isEnvelope(metadata);

/** The event's place in the log. Throws where the server does not tell it. */
export const positionOf = ({ id, position }: Pick<ServerEvent, 'id' | 'position'>): Position => {
  if (position === undefined)
    throw new Error(`The server does not tell the position of event ${id}: it must be 22.6 or newer.`);
  return toPosition(position);
};

/** The event as the log holds it. Throws where another program has written it into the stream. */
export const toStoredEvent = (event: ServerEvent): StoredEvent => {
  const { id, type, stream, revision, data, metadata } = event;
  if (!isEnvelope(metadata))
    throw new Error(`Event ${id} of stream ${stream} was not written by this service.`);
  return {
    id,
    type,
    version: metadata.version,
    time: metadata.time,
    data: JSON.stringify(data),
    cause: JSON.stringify(metadata.cause),
    stream,
    revision: Number(revision),
    position: positionOf(event),
    ...linksOf(metadata),
  };
};
