import { createHash } from 'node:crypto';
import type { Position, RecordedEvent } from '../core/event.ts';
import type { Projection } from '../core/projection.ts';
import { catalogue } from '../events/index.ts';
import { decode, projections } from '../projections/index.ts';
import { shown, type AuditEvent } from '../http/audit.ts';
import { readPageEventsMax } from '../core/ports.ts';
import type { Source } from './engines.ts';

/** What a thing is in one read model; `document` is null where it is gone. */
export type State = { readonly read_model: string; readonly id: string; readonly document: unknown };

/** One event, and what the thing then was in the read models that it changed. */
export type Step = { readonly event: AuditEvent; readonly states: readonly State[] };

/** What stands in the place of a secret: secrets that are not the same are told apart, and none is given away. */
const inPlaceOf = (secret: unknown): string =>
  `(secret ${createHash('sha256').update(String(secret)).digest('hex').slice(0, 8)})`;

/** The event as if its secrets had been other ones: what is made of it holds none, and ids are still told apart. */
const concealed = (event: RecordedEvent): RecordedEvent => {
  const secrets = new Set(catalogue.get(event.type)?.secrets);
  const entries = Object.entries(event.data).map(([name, value]) => [
    name,
    secrets.has(name) && value !== null && value !== undefined ? inPlaceOf(value) : value,
  ]);
  return { ...event, data: Object.fromEntries(entries) as RecordedEvent['data'] };
};

/** What is in these: a document for each event is in the event already. */
const ofThings = projections.filter(({ kind }) => kind !== 'log');

const changed = (
  projection: Projection,
  event: RecordedEvent,
  held: Map<string, State>,
): readonly State[] => {
  const states: State[] = [];
  for (const { id, to } of projection.on[event.type]?.(event) ?? []) {
    const key = `${projection.name}\u0000${id}`;
    const before = held.get(key)?.document ?? undefined;
    const document = to(before) ?? null;
    if (document === null && before === undefined) continue;
    const state = { read_model: projection.name, id, document };
    held.set(key, state);
    states.push(state);
  }
  return states;
};

/**
 * What the events of one stream say, step by step, up to a position. Of tombstones, which other streams may lay too, it
 * is this stream's part.
 */
export async function* stepsOf(
  { readStream }: Pick<Source, 'readStream'>,
  stream: string,
  upTo: Position | undefined,
  held: Map<string, State>,
): AsyncGenerator<Step, void> {
  for (let revision = 0; ;) {
    const page = await readStream(stream, revision);
    for (const stored of page) {
      if (upTo !== undefined && stored.position > upTo) return;
      const event = decode(stored);
      const states = ofThings.flatMap((projection) => changed(projection, concealed(event), held));
      yield { event: shown(event), states };
    }
    if (page.length < readPageEventsMax) return;
    revision = (page.at(-1)?.revision ?? revision) + 1;
  }
}
