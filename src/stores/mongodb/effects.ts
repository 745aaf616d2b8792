import type { RecordedEvent, StoredEvent } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { createFold, foldStream, plan, type FoldSource, type Planned } from './fold.ts';
import type { Versions } from './past.ts';
import type { Lay, Writer } from './writer.ts';

/** What events do to a read model, ready to be written; writing it twice, late or anew changes nothing. */
export type Effects =
  | { readonly kind: 'stream'; readonly documents: ReadonlyMap<string, Versions> }
  | { readonly kind: 'tombstones'; readonly lays: ReadonlyMap<string, readonly Lay[]> };

/** An event that can't be projected, and why. */
export type Failed = { readonly event: StoredEvent; readonly error: unknown };

const laysOf = (planned: readonly Planned[]): Map<string, Lay[]> => {
  const lays = new Map<string, Lay[]>();
  for (const { event, changes } of planned) {
    for (const { id, to } of changes) {
      // The reducer runs now: one that throws must stop the projection, not a write.
      to(undefined);
      const there = lays.get(id) ?? [];
      lays.set(id, there);
      there.push({ position: event.position, to });
    }
  }
  return lays;
};

/** Whether the read model takes events of this type. */
export const handles = ({ on }: Projection, type: string): boolean => Object.hasOwn(on, type);

/** What all events of one stream do to a read model. Throws what a reducer throws. */
export const effectsOfStream = (projection: Projection, events: readonly RecordedEvent[]): Effects => {
  const handled = events.filter(({ type }) => handles(projection, type));
  return projection.kind === 'tombstones'
    ? { kind: 'tombstones', lays: laysOf(handled.map((event) => plan(projection, event))) }
    : { kind: 'stream', documents: foldStream(projection, handled) };
};

/** Decodes an event; the same one for every read model. */
export type Decode = (event: StoredEvent) => RecordedEvent;

/** Where what a read model's documents were is read: their rows, and the events of a stream before one of its own. */
export type LogSource = Pick<FoldSource, 'row'> & {
  readonly before: (event: RecordedEvent) => Promise<readonly StoredEvent[]>;
};

/** Turns the log into effects, a batch at a time and in its order; up to the first event that can't be projected. */
export const createReducer = (projection: Projection) => {
  const fold = createFold(projection);
  return async (
    batch: readonly StoredEvent[],
    decode: Decode,
    source: LogSource,
  ): Promise<{ readonly effects: Effects; readonly failed?: Failed }> => {
    const planned: Planned[] = [];
    let failed: Failed | undefined;
    for (const event of batch) {
      if (!handles(projection, event.type)) continue;
      try {
        const step = plan(projection, decode(event));
        if (projection.kind === 'tombstones') laysOf([step]);
        planned.push(step);
      } catch (error) {
        failed = { event, error };
        break;
      }
    }
    if (projection.kind === 'tombstones')
      return { effects: { kind: 'tombstones', lays: laysOf(planned) }, ...(failed && { failed }) };
    const folded = await fold(planned, {
      row: source.row,
      before: async (event) =>
        (await source.before(event)).filter(({ type }) => handles(projection, type)).map(decode),
    });
    const stop =
      folded.failed === undefined ? undefined : batch.find(({ id }) => id === folded.failed?.event.id);
    if (stop !== undefined) failed = { event: stop, error: folded.failed?.error };
    return { effects: { kind: 'stream', documents: folded.documents }, ...(failed && { failed }) };
  };
};

/** Writes effects to every one of these collections; resolves when they are durable. */
export const write = async (writer: Writer, targets: Iterable<string>, effects: Effects): Promise<void> => {
  await Promise.all(
    [...targets].map((target) =>
      effects.kind === 'tombstones'
        ? writer.lay(target, effects.lays)
        : writer.raise(target, effects.documents),
    ),
  );
};
