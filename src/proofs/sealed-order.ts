import type { Claim } from './claims.ts';
import type { Named } from './faults.ts';
import { fingerprintBytes, fingerprintOf } from './leaves.ts';
import type { Hash } from './merkle.ts';

/** Events that are held at a time because nobody knows yet what they stand in the place of. */
const strangersMax = 1_000;

/** How far ahead of what is expected the claims are read: what comes too early, or behind what is gone, is known that far. */
const eventsAhead = 10_000;

/** Claims that are held once they are passed: what comes too late is known that far from its place. */
const claimsBehindMax = 3;

/** Something that came where something else was sealed. */
type Stranger = { readonly index: number; readonly event: Named };

/** Tells what is wrong: where in the log, with which event if one is there. */
type Tell = (index: number, event: Named | undefined, what: string) => void;

/**
 * Holds the leaves against the fingerprints that were signed. They tell what was changed, taken out, put in or moved, also
 * where every hash and every number was made anew.
 */
export const createSealedOrder = (tell: Tell) => {
  const claims: Claim[] = [];
  const places = new WeakMap<Claim, ReadonlyMap<string, number>>();
  const strangers: Stranger[] = [];
  /** Of what is held alone, lowest first. */
  const missing = new Set<number>();
  /** The number of the sealed event that should come next. */
  let expected = 0;

  /** The end of what is known to be sealed. */
  const end = (): number => claims.at(-1)?.checkpoint.tree_size ?? 0;

  const claimAt = (place: number): Claim | undefined =>
    claims.find(({ from, checkpoint }) => place >= from && place < checkpoint.tree_size);

  const isAt = (leaf: Hash, place: number): boolean => {
    const claim = claimAt(place);
    if (claim === undefined) return false;
    const at = (place - claim.from) * fingerprintBytes;
    return claim.fingerprints.compare(leaf, 0, fingerprintBytes, at, at + fingerprintBytes) === 0;
  };

  /** Where each fingerprint of a claim stands; made once something is looked for, for in a whole log nothing is. */
  const placesIn = (claim: Claim): ReadonlyMap<string, number> => {
    const made = places.get(claim);
    if (made !== undefined) return made;
    const { from, fingerprints } = claim;
    const byPrint = new Map<string, number>();
    for (let at = 0; at < fingerprints.length; at += fingerprintBytes)
      byPrint.set(fingerprints.toString('latin1', at, at + fingerprintBytes), from + at / fingerprintBytes);
    places.set(claim, byPrint);
    return byPrint;
  };

  const placeOf = (leaf: Hash): number | undefined => {
    const print = fingerprintOf(leaf).toString('latin1');
    for (const claim of claims) {
      const place = placesIn(claim).get(print);
      if (place !== undefined) return place;
    }
    return undefined;
  };

  /** What was sealed before this place has not come: each stranger stands for one, and for the rest nothing does. */
  const passTo = (place: number): void => {
    for (; expected < place; expected += 1) {
      const stranger = strangers.shift();
      // Where nothing that can be relied on was sealed, nothing can be said.
      if (claimAt(expected) === undefined) continue;
      if (stranger === undefined) {
        missing.add(expected);
        tell(expected, undefined, 'is missing: what was sealed there is not in the log');
      } else tell(stranger.index, stranger.event, `is not the event that was sealed as number ${expected}`);
    }
  };

  return {
    /** Whether the next event stands in what is known to be sealed. */
    isSealed: (): boolean => expected < end(),
    /** Whether the next claim is to be added before the next event is taken. */
    needsClaim: (): boolean => end() <= expected + strangers.length + eventsAhead,
    add: (claim: Claim): void => {
      claims.push(claim);
      while ((claims[claimsBehindMax]?.checkpoint.tree_size ?? Infinity) <= expected) claims.shift();
      for (const place of missing) {
        if (place >= (claims[0]?.from ?? 0)) break;
        missing.delete(place);
      }
    },
    /** Takes the next event of the log. */
    take: (leaf: Hash, event: Named, index: number): void => {
      if (strangers.length === 0 && isAt(leaf, expected)) {
        expected += 1;
        return;
      }
      const place = placeOf(leaf);
      if (place === undefined) {
        if (strangers.length < strangersMax) strangers.push({ index, event });
      } else if (place >= expected) {
        passTo(place);
        for (const { index: at, event: alien } of strangers.splice(0))
          tell(at, alien, 'was put in: it was never sealed');
        expected = place + 1;
      } else {
        const how = missing.delete(place) ? 'was moved' : 'is there a second time';
        tell(index, event, `${how}: it was sealed as number ${place}`);
      }
    },
    /** Nothing more comes. Strangers that are left then stand behind all that is sealed. */
    close: (): void => {
      passTo(end());
      strangers.length = 0;
    },
  };
};
