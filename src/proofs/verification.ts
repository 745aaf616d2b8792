import type { Codec, Position, StoredEvent } from '../core/event.ts';
import { textOf, type Checkpoint } from './checkpoint.ts';
import { createClaims } from './claims.ts';
import { hashOf } from './event-hash.ts';
import { createTree, leafOf } from './merkle.ts';
import { createSealedOrder } from './sealed-order.ts';
import type { VerifierKey } from './signed-note.ts';

/** The most faults that are told: what was done to a log shows in the first ones. */
export const faultsMax = 100;

/** What is wrong, and where; what is null is not known, or has no place in the log. */
export type Fault = {
  /** The place in the log, from 0. */
  readonly index: number | null;
  readonly event_id: string | null;
  readonly position: Position | null;
  readonly stream: string | null;
  readonly revision: number | null;
  readonly what: string;
};

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
   * Takes an event, of this hash, as the next of its stream; answers what stands against that: another revision than the
   * next, or another event before it than the one that it names.
   */
  readonly take: (event: StoredEvent, hash: string) => string | undefined;
};

/** A checkpoint that somebody kept, and what it is called where it is told of. */
export type Kept = { readonly name: string; readonly checkpoint: Checkpoint };

/** What a verification stands on. */
export type VerificationNeeds = {
  readonly decode: Codec['decode'];
  readonly keys: readonly VerifierKey[];
  readonly kept: readonly Kept[];
  readonly streams: StreamEnds;
  /** The events that state checkpoints, in the log's order: read ahead of the log itself. */
  readonly checkpointEvents: AsyncIterator<StoredEvent, void>;
};

/** A root that the tree has to have when it has come to its size, and whose it is. */
type Root = { readonly of: string; readonly checkpoint: Checkpoint };

const faultAt = (index: number | null, event: StoredEvent | undefined, what: string): Fault => ({
  index,
  event_id: event?.id ?? null,
  position: event?.position ?? null,
  stream: event?.stream ?? null,
  revision: event?.revision ?? null,
  what,
});

/** Verifies a log, page by page; `end` tells what was found. Holds little, however long the log is. */
export const createVerification = (needs: VerificationNeeds) => {
  const { decode, keys, kept, streams, checkpointEvents } = needs;
  const faults: Fault[] = [];
  const told = new Set<number>();
  const isFull = (): boolean => faults.length >= faultsMax;
  const tell = (fault: Fault): void => {
    if (isFull() || (fault.index !== null && told.has(fault.index))) return;
    if (fault.index !== null) told.add(fault.index);
    faults.push(fault);
  };
  const order = createSealedOrder((index, event, what) => tell(faultAt(index, event, what)));
  const tree = createTree();
  /** Roots that are still to come. */
  const roots: Root[] = [];
  /** What those say that the log states too. By their text: others may have signed the kept ones as well. */
  const stated = new Set<string>();
  const keptTexts = new Set(kept.map(({ checkpoint }) => textOf(checkpoint)));
  let readClaim: ReturnType<typeof createClaims> | undefined;
  let isAllRead = false;
  /** Events that state checkpoints: read ahead, and come upon in the log. */
  let statements = 0;
  let statementsInLog = 0;
  let index = 0;
  let checkpoints = 0;
  let sealedAt: string | null = null;
  let sealedEvents = 0;
  /** The first root that was not what it had to be. */
  let broken: string | undefined;
  let hasLinks = false;

  const putRoot = (root: Root): void => {
    roots.push(root);
    roots.sort((a, b) => a.checkpoint.tree_size - b.checkpoint.tree_size);
  };

  for (const { name, checkpoint } of kept) putRoot({ of: `the checkpoint in ${name}`, checkpoint });

  /** Reads the events that state checkpoints on, while it is so. */
  const readWhile = async (isSo: () => boolean): Promise<void> => {
    const read = readClaim;
    if (read === undefined) return;
    while (!isAllRead && isSo()) {
      const { value, done } = await checkpointEvents.next();
      isAllRead = done === true;
      if (done === true) return;
      statements += 1;
      const { claim, why } = read(value);
      if (why !== undefined) tell(faultAt(null, value, why));
      if (claim === undefined) continue;
      checkpoints += 1;
      sealedAt = claim.checkpoint.time;
      const text = textOf(claim.checkpoint);
      if (keptTexts.has(text)) stated.add(text);
      if (!isFull()) order.add(claim);
      putRoot({ of: `checkpoint ${claim.number}`, checkpoint: claim.checkpoint });
    }
  };

  const needsClaim = (): boolean => !isFull() && order.needsClaim();

  /** What states a checkpoint in the log has to be among what is read ahead of it, or what it says would not count. */
  const findStatement = async (event: StoredEvent): Promise<void> => {
    statementsInLog += 1;
    await readWhile(() => statements < statementsInLog);
    if (statements < statementsInLog)
      tell(
        faultAt(index, event, 'states a checkpoint that is not found by its stream: it was not looked at'),
      );
  };

  const holdRoots = (): void => {
    for (let [next] = roots; next !== undefined && next.checkpoint.tree_size <= index; [next] = roots) {
      roots.shift();
      const { tree_size, root_hash } = next.checkpoint;
      if (tree_size === index && root_hash === tree.root().toString('base64')) sealedEvents = index;
      else broken ??= `the first ${tree_size} events are not those of ${next.of}`;
    }
  };

  const takeEvent = (event: StoredEvent): void => {
    const hash = hashOf(event);
    hasLinks ||= event.hash !== undefined;
    const isSealed = order.isSealed();
    if (event.hash !== undefined && event.hash !== hash)
      tell(faultAt(index, event, 'was changed: it is not what its hash says'));
    if (hasLinks && event.hash === undefined && !isSealed) tell(faultAt(index, event, 'has lost its hash'));
    const against = streams.take(event, event.hash ?? hash);
    if (against !== undefined) tell(faultAt(index, event, against));
    const leaf = leafOf(Buffer.from(hash, 'base64'));
    // What is told no more need not be looked for: in a log that is another throughout that takes longest.
    if (isSealed && !isFull()) order.take(leaf, event, index);
    tree.add(leaf);
    index += 1;
    holdRoots();
  };

  const tellEnd = (): void => {
    // Where something was found it is no news that the whole is another.
    if (broken !== undefined && faults.length === 0) tell(faultAt(null, undefined, broken));
    for (const { of, checkpoint } of roots)
      if (checkpoint.tree_size > index)
        tell(
          faultAt(
            null,
            undefined,
            `the end was cut off: the log has ${index} events, and ${of} covers ${checkpoint.tree_size}`,
          ),
        );
    for (const { name, checkpoint } of kept)
      if (!stated.has(textOf(checkpoint)))
        tell(faultAt(null, undefined, `the checkpoint in ${name} is not among those of the log`));
  };

  return {
    /** Takes the next events of the log. */
    take: async (events: readonly StoredEvent[]): Promise<void> => {
      for (const event of events) {
        readClaim ??= createClaims({ decode, keys, firstEventId: event.id });
        if (!isAllRead && needsClaim()) await readWhile(needsClaim);
        if (event.type === 'LogSealed') await findStatement(event);
        takeEvent(event);
      }
    },
    /** Tells of something that is wrong with the log and shows in no event of it. */
    tell: (what: string): void => tell(faultAt(null, undefined, what)),
    /** The log has ended. */
    end: async (): Promise<Verified> => {
      order.close();
      await readWhile(needsClaim);
      order.close();
      tellEnd();
      return {
        events: index,
        checkpoints,
        sealed_events: sealedEvents,
        sealed_at: sealedAt,
        faults,
      };
    },
  };
};
