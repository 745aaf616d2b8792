import type { StoredEvent } from '../core/event.ts';
import { hashOf } from './event-hash.ts';
import type { Named } from './faults.ts';

/** What a verification has to know of an event. */
export type Entry = Named &
  Pick<StoredEvent, 'type'> & {
    /** As the event says it. */
    readonly hash: string | undefined;
    readonly previous: string | undefined;
    /** The hash of all that it says, made anew. */
    readonly computed: string;
  };

/** Makes an event's hash anew. */
export const entryOf = (event: StoredEvent): Entry => {
  const { id, type, stream, revision, position, hash, previous } = event;
  return { id, type, stream, revision, position, hash, previous, computed: hashOf(event) };
};
