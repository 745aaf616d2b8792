import type { RecordedEvent } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import type { SqlValue } from './sqlite.ts';

/**
 * What an event makes in a read model whatever stands there: the values of new rows, one row behind the other. Absent
 * where it hangs from what stands there, so that whoever has the table must be asked. Throws what a reducer throws.
 */
export type Births = (event: RecordedEvent, position: number) => readonly SqlValue[] | undefined;

/** The values of a row of `log` kind. */
export const listBirthColumns = ['created', 'grp'] as const;

/** The values of a new document; it has the first revision. */
export const documentBirthColumns = ['id', 'created', 'position', 'grp', 'sub', 'body'] as const;

const ofList =
  ({ name, on, group }: Projection): Births =>
  (event, position) => {
    const values: SqlValue[] = [];
    for (const { id, to, group: list } of on[event.type]?.(event) ?? []) {
      if (id !== event.position) throw new Error(`${name} shows ${event.type} under another id.`);
      values.push(position, list ?? group?.(to(undefined), id) ?? null);
    }
    return values;
  };

/** Pages are cut by `created`: a page's end could not stand between two that have the same one. */
export const tooManyBirths = (projection: Projection, type: string): Error =>
  new Error(`${type} makes more than one document of ${projection.name}.`);

const ofStreams =
  (projection: Projection): Births =>
  (event, position) => {
    // The first event of a stream cannot find a document that is a function of this stream.
    if (event.revision > 0) return undefined;
    const values: SqlValue[] = [];
    for (const { id, to } of projection.on[event.type]?.(event) ?? []) {
      const document = to(undefined);
      // What never was needs no row.
      if (document === undefined) continue;
      if (values.length > 0) throw tooManyBirths(projection, event.type);
      const grp = projection.group?.(document, id) ?? null;
      const sub = projection.subgroup?.(document, id) ?? null;
      values.push(id, position, position, grp, sub, JSON.stringify(document));
    }
    return values;
  };

/** What events make in this read model by themselves. */
export const createBirths = (projection: Projection): Births => {
  switch (projection.kind) {
    case 'log':
      return ofList(projection);
    case 'stream':
      return ofStreams(projection);
    case 'tombstones':
      return () => undefined;
  }
};
