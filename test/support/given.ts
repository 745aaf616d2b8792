import { expect } from 'chai';
import { evolve, type Command } from '../../src/core/command.ts';
import type { Fact, RecordedEvent } from '../../src/core/event.ts';
import type { Projection } from '../../src/core/projection.ts';
import { codec, type DomainFact } from '../../src/events/index.ts';
import { cause, time } from './examples.ts';

/** Everything stated here has to be what the log can hold: the codec throws where it is not. */
const storable = (facts: readonly DomainFact[]): void => {
  for (const fact of facts) codec.encode(fact, { id: 'event-1', time, cause });
};

/** What a decider decides on a past: `given(command, ...past).when(wish).then(...facts)`. */
export const given = <W, S, F extends Fact, C extends string>(
  command: Command<W, S, F, C>,
  ...past: readonly DomainFact[]
) => ({
  when: (wish: W) => {
    storable(past);
    const state = past.reduce(
      // A stream holds facts of its own noun alone; a fact that the fold does not name changes nothing.
      (folded, fact) => evolve(command.fold, folded, fact as unknown as F),
      command.fold.initial,
    );
    const before = structuredClone(state);
    const decision = command.decide(wish, state);
    expect(state, 'deciding changes nothing').to.deep.equal(before);
    return {
      /** It is granted, with exactly these facts. */
      // The word is the language's own; nobody awaits this object.
      // oxlint-disable-next-line unicorn/no-thenable
      then: (...facts: readonly [DomainFact, ...DomainFact[]]): void => {
        expect(decision).to.deep.equal({ accepted: true, facts });
        storable(facts);
      },
      /** It is granted, and was true already. */
      thenNothing: (): void => {
        expect(decision).to.deep.equal({ accepted: true, facts: [] });
      },
      /** It is refused under this code, with a sentence for the client. */
      thenRefused: (code: C): void => {
        expect(decision).to.include({ accepted: false, code });
        expect(decision)
          .to.have.property('detail')
          .that.matches(/^[A-Z].*\.$/);
      },
    };
  },
});

/** A fact as the log gives it back. Ids, revisions and positions rise with the place in a list unless told. */
export const happened = (
  fact: DomainFact,
  place: { readonly revision?: number; readonly time?: string } = {},
): RecordedEvent => {
  const { revision = 0 } = place;
  const stored = codec.encode(fact, { id: `event-${revision}`, time: place.time ?? time, cause });
  return codec.decode({
    ...stored,
    stream: 'stream',
    revision,
    position: String(revision).padStart(20, '0'),
  });
};

type Entry = { readonly revision: number; readonly document: unknown };

/** The documents after these events, as `Projection` says that every engine has to have them. */
const documentsAfter = (
  projection: Projection,
  events: readonly RecordedEvent[],
): ReadonlyMap<string, unknown> => {
  const held = new Map<string, Entry>();
  for (const event of events) {
    for (const { id, to } of projection.on[event.type]?.(event) ?? []) {
      const { revision, document } = held.get(id) ?? { revision: -1, document: undefined };
      if (projection.kind === 'stream' && event.revision <= revision) continue;
      held.set(id, { revision: event.revision, document: to(document) });
    }
  }
  return new Map(
    [...held]
      .filter(([, { document }]) => document !== undefined)
      .map(([id, { document }]) => [id, document]),
  );
};

/** What a read model holds after some events: `project(projection).given(...events).has(id, document)`. */
export const project = (projection: Projection) => ({
  /** Facts happen one after the other; what is recorded already keeps its own place. */
  given: (...events: readonly (DomainFact | RecordedEvent)[]) => {
    const recorded = events.map((event, revision) =>
      'revision' in event ? event : happened(event, { revision }),
    );
    const documents = documentsAfter(projection, recorded);
    return {
      has: (id: string, document: object): void => {
        expect(documents.get(id)).to.deep.equal(document);
      },
      /** Exactly these documents, by id. */
      hasOnly: (all: Readonly<Record<string, object>>): void => {
        expect(Object.fromEntries(documents)).to.deep.equal(all);
      },
      hasNothing: (): void => {
        expect([...documents.keys()]).to.deep.equal([]);
      },
      /** The documents of one list. */
      lists: (group: string, ids: readonly string[]): void => {
        const inGroup = [...documents].filter(([id, document]) => projection.group?.(document, id) === group);
        expect(inGroup.map(([id]) => id)).to.deep.equal(ids);
      },
      /** The documents of one list of the second kind. */
      sublists: (subgroup: string, ids: readonly string[]): void => {
        const inSubgroup = [...documents].filter(
          ([id, document]) => projection.subgroup?.(document, id) === subgroup,
        );
        expect(inSubgroup.map(([id]) => id)).to.deep.equal(ids);
      },
    };
  },
});
