import type { Filter } from 'mongodb';
import type { Position } from '../../core/event.ts';
import type { Projection } from '../../core/projection.ts';
import { readOptions, type Server } from './client.ts';
import { keepsPast, pastIn, pastIndexes, pastOf, withPast } from './past.ts';
import { retrying, sleep } from '../retrying.ts';
import { earlierRegisterName, keyOf, unregistered, type Registered, type Registry } from './registry.ts';

/** How long a collection that is live no more is still written, in milliseconds; see `registry.ts`. */
const retireMs = 20_000;

/** Another node projects: nothing more may be written under this term. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** What the node that projects may change in the register, every change fenced by its token. */
export type Term = {
  readonly signal: AbortSignal;
  /** How the read models stood when the term began. */
  readonly begun: ReadonlyMap<string, Registered>;
  /** Sets these members for all of these read models, or throws `LeaseLost`; a checkpoint never goes back. */
  readonly set: (
    keys: readonly string[],
    members: Partial<Pick<Registered, 'checkpoint' | 'building' | 'stopped' | 'rebuilt'>>,
  ) => Promise<void>;
  /** An empty collection with its past and its indexes that from now on every write reaches. */
  readonly addTarget: (projection: Projection) => Promise<string>;
  /** Makes a collection the live one; the one before is left later. */
  readonly swap: (key: string, live: string, at?: Position) => Promise<void>;
  /** A collection that is not wanted any more: it is written for a while yet, then dropped. */
  readonly retire: (key: string, collection: string) => Promise<void>;
};

type TermInput = {
  readonly server: Server;
  readonly registry: Registry;
  readonly projections: readonly Projection[];
  readonly token: number;
  readonly signal: AbortSignal;
  readonly told: (task: string, error: unknown) => void;
};

/** Of documents or of their past, by this version of the program or an earlier one; with the term that made it. */
const collectionForm = /_v\d+_(\d+)_\d+(?:_now|_past)?$/;

/**
 * Takes over what an earlier version of the program has left: it goes on answering until the same is there with a past.
 * The nodes of that version find nothing any more, and say so.
 */
const adopt = async ({ server, registry, projections, token }: TermInput): Promise<void> => {
  const earlier = server.db.collection<Registered>(server.name(earlierRegisterName));
  const call = <T>(run: () => Promise<T>): Promise<T> => server.call('Taking read models over', run);
  // Fenced first: no node of that version may swap or drop what is taken over.
  await call(() => earlier.updateMany({}, { $max: { fence: token } }));
  const keys = new Set(projections.map(keyOf));
  for (const { _id, live, targets, checkpoint } of await call(() =>
    earlier.find({}, readOptions).toArray(),
  )) {
    if (live === undefined || !keys.has(_id)) continue;
    const { _id: _, ...rest } = { ...unregistered(_id), live, targets, checkpoint };
    await call(() => registry.collection.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true }));
  }
  await call(() => earlier.deleteMany({}));
};

const dropCollection = (server: Server, name: string): Promise<unknown> =>
  server.call('Dropping a collection', () => server.db.collection(name).drop()).catch(() => {});

const indexes = ({ grouped, subgrouped }: { grouped: boolean; subgrouped: boolean }) => [
  { key: { 's.c': 1 } as const, name: 'page' },
  ...(grouped ? [{ key: { 's.g': 1, 's.c': 1 } as const, name: 'page_of_group' }] : []),
  ...(subgrouped ? [{ key: { 's.u': 1, 's.c': 1 } as const, name: 'page_of_subgroup' }] : []),
];

/** Begins a term: whoever projected before can't move a checkpoint any more. */
export const beginTerm = async (input: TermInput): Promise<Term> => {
  const { server, registry, projections, token, signal, told } = input;
  const { collection, fresh } = registry;
  const keys = projections.map(keyOf);
  await adopt(input);
  for (const key of keys) {
    const { _id, fence: _, ...rest } = unregistered(key);
    await server.call('Registering a read model', () =>
      collection.updateOne({ _id }, { $max: { fence: token }, $setOnInsert: rest }, { upsert: true }),
    );
  }
  const begun = await fresh();
  const targets = new Map(keys.map((key) => [key, new Set(begun.get(key)?.targets)]));
  let made = 0;
  let steps = Math.max(0, ...[...begun.values()].map(({ step }) => step));
  let last: Promise<unknown> = Promise.resolve();

  // MongoDB changes a document in one atomic step. FerretDB reads it, and later writes all of it back: of two changes
  // at once one would undo the other, and a target that is forgotten misses writes.
  const inTurn = (change: () => Promise<void>): Promise<void> => {
    const begin = (): Promise<void> => {
      signal.throwIfAborted();
      return change();
    };
    const done = last.then(begin, begin);
    last = done;
    return done;
  };
  const update = async (
    of: readonly string[],
    { checkpoint, ...members }: Partial<Registered>,
    guard: Filter<Registered> = {},
  ): Promise<void> => {
    const { matchedCount } = await server.call('Moving a checkpoint', () =>
      collection.updateMany(
        { _id: { $in: [...of] }, fence: token, ...guard },
        // A write that comes late, because nobody waited for it any more, moves nothing back.
        {
          ...(checkpoint && { $max: { checkpoint } }),
          ...(Object.keys(members).length > 0 && { $set: members }),
        },
      ),
    );
    if (matchedCount !== of.length) throw new LeaseLost('Another node projects.');
  };
  const targetsOf = (key: string): Set<string> => targets.get(key) ?? new Set();
  // None late, for the same reason: what nobody waits for any more changes nothing once a later one has come.
  const saveTargets = (key: string, more: Partial<Registered> = {}): Promise<void> =>
    inTurn(async () => {
      const step = (steps += 1);
      await update([key], { ...more, targets: [...targetsOf(key)], step }, { step: { $lt: step } });
    });
  const drop = async (name: string): Promise<void> => {
    if (keepsPast(name)) await dropCollection(server, pastOf(name));
    await dropCollection(server, name);
  };

  const retire: Term['retire'] = async (key, name) => {
    await sleep(retireMs, signal);
    if (signal.aborted) return;
    targetsOf(key).delete(name);
    await retrying(
      signal,
      () => saveTargets(key),
      (error) => told('leaving a collection', error),
    );
    await drop(name);
  };

  return {
    signal,
    begun,
    set: (of, members) => inTurn(() => update(of, members)),
    addTarget: async (projection) => {
      const key = keyOf(projection);
      made += 1;
      const { name: ofWhat, version, group, subgroup } = projection;
      const name = withPast(server.name(`${ofWhat}_v${version}_${token}_${made}`));
      const lists = { grouped: group !== undefined, subgrouped: subgroup !== undefined };
      await server.call('Making a collection', () => server.rows(name).createIndexes(indexes(lists)));
      // What a tombstone was stands in its row, and an event is what it was.
      if (projection.kind === 'stream')
        await server.call('Making a collection', () =>
          pastIn(server, name).createIndexes(pastIndexes(lists)),
        );
      targetsOf(key).add(name);
      await saveTargets(key);
      return name;
    },
    swap: (key, live, at) =>
      saveTargets(key, {
        live,
        building: null,
        ...(at === undefined ? {} : { checkpoint: at, stopped: null }),
      }),
    retire,
  };
};

/** Removes what earlier terms and other versions of the program have left; resolves when it is done. */
export const tidy = async (input: TermInput, term: Term): Promise<void> => {
  const { server, registry, projections, token, signal } = input;
  const keys = new Set(projections.map(keyOf));
  // A version that comes back later would be behind: it is better filled anew.
  const foreign = [...term.begun.keys()].filter((key) => !keys.has(key));
  if (foreign.length > 0)
    await server.call('Removing a read model', () =>
      registry.collection.deleteMany({ _id: { $in: foreign } }),
    );
  const live = new Set([...keys].map((key) => term.begun.get(key)?.live));
  await Promise.all(
    [...keys].flatMap((key) =>
      (term.begun.get(key)?.targets ?? [])
        .filter((name) => !live.has(name))
        .map((name) => term.retire(key, name)),
    ),
  );
  await sleep(retireMs, signal);
  if (signal.aborted) return;
  const targets = [...(await registry.fresh()).values()].flatMap((it) => it.targets);
  const wanted = new Set([...targets, ...targets.filter(keepsPast).map(pastOf)]);
  const all = await server.call('Listing collections', () =>
    server.db.listCollections({}, { nameOnly: true }).toArray(),
  );
  for (const { name } of all) {
    const by = collectionForm.exec(name)?.[1];
    // What this term makes may not be registered yet.
    if (!name.startsWith(server.name('')) || by === undefined || Number(by) >= token || wanted.has(name))
      continue;
    await dropCollection(server, name);
  }
};
