import type { Position, RecordedEvent } from '../core/event.ts';

/** An event that something came or went by: enough to name it, and to say who did it and when. */
export type EventReference = {
  readonly id: string;
  readonly position: Position;
  readonly type: string;
  readonly actor: string;
  readonly time: string;
};

/** Names an event. */
export const referenceTo = ({
  id,
  position,
  type,
  time,
  cause,
}: Pick<RecordedEvent, 'id' | 'position' | 'type' | 'time' | 'cause'>): EventReference => ({
  id,
  position,
  type,
  actor: cause.actor,
  time,
});
