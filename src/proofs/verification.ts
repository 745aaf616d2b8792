import type { Entry } from './entries.ts';
import { createFaults, type Fault } from './faults.ts';
import { createTree, leafOfHash } from './merkle.ts';
import { createRoots } from './roots.ts';
import { createSealedOrder } from './sealed-order.ts';
import { createStatements, type StatementsNeeds } from './statements.ts';

/** How a verification ended. */
export type Verified = {
  readonly events: number;
  readonly checkpoints: number;
  /** How many events, from the first, are as a checkpoint or a kept note says. */
  readonly sealed_events: number;
  /** When the last checkpoint was signed. */
  readonly sealed_at: string | null;
  /** What is wrong, in the order in which it was found; the first `faultsMax` of it. */
  readonly faults: readonly Fault[];
};

/** Where streams end, as far as they have been read. */
export type StreamEnds = {
  /**
   * Takes events, each as the next of its stream; answers what stands against that, where something does: another
   * revision than the next, or another event before it than the one that it names.
   */
  readonly take: (events: readonly Entry[]) => readonly (string | undefined)[];
};

/** What a verification stands on. */
export type VerificationNeeds = StatementsNeeds & { readonly streams: StreamEnds };

/** Verifies a log, page by page; `end` tells what was found. Holds little, however long the log is. */
export const createVerification = ({ streams, ...needs }: VerificationNeeds) => {
  const faults = createFaults();
  const order = createSealedOrder(faults.tellAt);
  const tree = createTree();
  const roots = createRoots(tree, faults);
  for (const { name, checkpoint } of needs.kept) roots.add({ of: `the checkpoint in ${name}`, checkpoint });
  const statements = createStatements(needs, faults, (claim) => {
    // What is told no more need not be looked for: in a log that is another throughout that takes longest.
    if (!faults.isFull()) order.add(claim);
    roots.add({ of: `checkpoint ${claim.number}`, checkpoint: claim.checkpoint });
  });
  const needsClaim = (): boolean => !faults.isFull() && order.needsClaim();
  let index = 0;
  let hasLinks = false;

  const takeEvent = (event: Entry, against: string | undefined): void => {
    hasLinks ||= event.hash !== undefined;
    const isSealed = order.isSealed();
    if (event.hash !== undefined && event.hash !== event.computed)
      faults.tellAt(index, event, 'was changed: it is not what its hash says');
    if (hasLinks && event.hash === undefined && !isSealed) faults.tellAt(index, event, 'has lost its hash');
    const leaf = leafOfHash(event.computed);
    if (isSealed && !faults.isFull()) order.take(leaf, event, index);
    // Of a place the first is told: what was sealed there says more than what a stream lacks.
    if (against !== undefined) faults.tellAt(index, event, against);
    tree.add(leaf);
    index += 1;
    roots.hold(index);
  };

  return {
    /** Takes the next events of the log. */
    take: async (events: readonly Entry[]): Promise<void> => {
      const against = streams.take(events);
      for (const [n, event] of events.entries()) {
        statements.begin(event.id);
        if (!statements.isAllRead() && needsClaim()) await statements.readWhile(needsClaim);
        if (event.type === 'LogSealed') await statements.find(event, index);
        takeEvent(event, against[n]);
      }
    },
    /** Tells of something that is wrong with the log and shows in no event of it. */
    tell: faults.tell,
    /** The log has ended. */
    end: async (): Promise<Verified> => {
      order.close();
      await statements.readWhile(needsClaim);
      order.close();
      roots.end(index);
      const stated = statements.end();
      return {
        events: index,
        ...stated,
        sealed_events: roots.sealedEvents(),
        faults: faults.found(),
      };
    },
  };
};
