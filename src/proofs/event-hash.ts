import { hash } from 'node:crypto';
import type { StoredEvent } from '../core/event.ts';
import type { Link } from '../core/run.ts';

/** What the hash begins with, so that nothing else that is hashed can pass for an event. Raised with every change of the form. */
const form = 'keyledger-event-1';

/** All that an event's hash covers. Its position is not among it: that is the engine's, and another engine gives another. */
export type Hashed = Omit<StoredEvent, 'position' | 'hash'>;

/** One part of several, as a netstring: it tells its length in bytes, so that no part can run into the next. */
const part = (text: string): string => `${Buffer.byteLength(text)}:${text},`;

/** The hash of an event: SHA-256 over the netstrings of the form and of each member, base64. */
export const hashOf = ({
  previous = '',
  stream,
  revision,
  id,
  type,
  version,
  time,
  data,
  cause,
}: Hashed): string =>
  hash(
    'sha256',
    part(form) +
      part(previous) +
      part(stream) +
      part(String(revision)) +
      part(id) +
      part(type) +
      part(String(version)) +
      part(time) +
      part(data) +
      part(cause),
    'base64',
  );

/** Gives each event of an append its hash. An event from before there were hashes counts with the one that it would have. */
export const link: Link = ({ stream, expected, events }, last) => {
  let previous = last === undefined ? undefined : (last.hash ?? hashOf(last));
  let revision = expected === 'none' ? 0 : expected + 1;
  const linked = events.map((event) => {
    const held = previous === undefined ? event : { ...event, previous };
    const own = hashOf({ ...held, stream, revision });
    previous = own;
    revision += 1;
    return { ...held, hash: own };
  });
  return { stream, expected, events: linked };
};
