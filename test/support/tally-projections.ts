import type { RecordedEvent, StoredEvent } from '../../src/core/event.ts';
import type { Projection } from '../../src/core/projection.ts';

/**
 * The smallest domain that shows everything a store has to do. `Opened {list?}` makes the document of its stream,
 * `Counted {by}` adds to it, `Closed` ends it; `Struck {id, at}` lays a tombstone; `Twin` and `Broken` are faults.
 * The module's URL may end in `?version=2` or `?without=strikes`: a later program on the same log.
 */
export type TallyFact =
  | { readonly type: 'Opened'; readonly data: { readonly list?: string } }
  | { readonly type: 'Counted'; readonly data: { readonly by: number } }
  | { readonly type: 'Closed'; readonly data: object }
  | { readonly type: 'Struck'; readonly data: { readonly id: string; readonly at: number } }
  | { readonly type: 'Twin'; readonly data: object }
  | { readonly type: 'Broken'; readonly data: object };

/** A document of `tallies`: one per stream, in a list. */
export type Tally = { readonly id: string; readonly list: string; readonly total: number };

/** A document of `strikes`: a tombstone, which keeps the earliest time. */
export type Strike = { readonly at: number };

const { searchParams } = new URL(import.meta.url);

/** The version of `tallies`, and what a total starts at: 0 in the first, so that a change of version shows. */
const version = Number(searchParams.get('version') ?? 1);

const define = <D>(it: Projection<D, TallyFact>): Projection => it as unknown as Projection;

const tallies = define<Tally>({
  name: 'tallies',
  version,
  kind: 'stream',
  group: ({ list }) => list,
  subgroup: (_, id) => (Number(id.slice(id.lastIndexOf('-') + 1)) % 2 === 0 ? 'even' : 'odd'),
  on: {
    Opened: ({ stream, data }) => [
      { id: stream, to: () => ({ id: stream, list: data.list ?? 'main', total: version - 1 }) },
    ],
    Counted: ({ stream, data }) => [
      {
        id: stream,
        to: (tally) => (tally === undefined ? undefined : { ...tally, total: tally.total + data.by }),
      },
    ],
    Closed: ({ stream }) => [{ id: stream, to: () => undefined }],
    Twin: ({ stream }) =>
      ['a', 'b'].map((one) => ({ id: `${stream}/${one}`, to: () => ({ id: one, list: 'main', total: 0 }) })),
    Broken: () => {
      throw new Error('This reducer is broken.');
    },
  },
});

const strikes = define<Strike>({
  name: 'strikes',
  version: 1,
  kind: 'tombstones',
  on: {
    Struck: ({ data: { id, at } }) => [
      { id, to: (laid) => (laid !== undefined && laid.at <= at ? laid : { at }) },
      { id: `${id}/too`, to: (laid) => laid ?? { at } },
    ],
    // A fault: a set that only grows lets nothing go.
    Closed: ({ stream }) => [{ id: stream, to: () => undefined }],
  },
});

/** A document of `journal`: an event, in the list of its stream. */
export type Entry = { readonly type: string; readonly stream: string; readonly revision: number };

const entry = ({ position, type, stream, revision }: RecordedEvent) => [
  { id: position, to: () => ({ type, stream, revision }) },
];

const journal = define<Entry>({
  name: 'journal',
  version: 1,
  kind: 'log',
  group: ({ stream }) => stream,
  on: { Opened: entry, Counted: entry },
});

/** The read models of the contract suites. */
export const projections: readonly Projection[] = [tallies, strikes, journal].filter(
  ({ name }) => name !== searchParams.get('without'),
);

/** Their codec's reading half. */
export const decode = (event: StoredEvent): RecordedEvent => ({
  ...event,
  data: JSON.parse(event.data),
  cause: JSON.parse(event.cause),
});
