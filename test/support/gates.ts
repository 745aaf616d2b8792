import type { Documents, ReadModels } from '../../src/core/ports.ts';

/** Something that happens once, and that others can wait for. */
export type Signal = { readonly happened: Promise<void>; readonly give: () => void };

/** A signal that has not been given. */
export const createSignal = (): Signal => {
  const waiting: (() => void)[] = [];
  const happened = new Promise<void>((resolve) => {
    waiting.push(resolve);
  });
  return {
    happened,
    give: () => {
      for (const resolve of waiting) resolve();
    },
  };
};

/** A place at which a request can be held while others go on. */
export type Gates = {
  /** Put between the service and its read models. */
  readonly readModels: (real: ReadModels) => ReadModels;
  /** Holds whoever makes the n-th look-up of a document from now on (from 1); all others pass. */
  arm(nth: number): void;
  /** Resolves when somebody is held, or when `over` does: true where somebody is held. */
  held(over: Promise<unknown>): Promise<boolean>;
  /** Lets the one that is held go on. */
  release(): void;
};

/** Holds a request at any of its look-ups, so that what may happen in between does happen. */
export const createGates = (): Gates => {
  let left = 0;
  let reached = createSignal();
  let released = createSignal();
  const pass = async (): Promise<void> => {
    if (left === 0) return;
    left -= 1;
    if (left > 0) return;
    reached.give();
    await released.happened;
  };
  return {
    readModels: (real) => ({
      ...real,
      documents: <D>(name: string): Documents<D> => {
        const documents = real.documents<D>(name);
        return {
          ...documents,
          get: async (id) => {
            await pass();
            return documents.get(id);
          },
          getWithRevision: async (id) => {
            await pass();
            return documents.getWithRevision(id);
          },
          getMany: async (ids) => {
            await pass();
            return documents.getMany(ids);
          },
        };
      },
    }),
    arm: (nth) => {
      left = nth;
      reached = createSignal();
      released = createSignal();
    },
    held: (over) => Promise.race([reached.happened.then(() => true), over.then(() => false)]),
    release: () => {
      left = 0;
      released.give();
    },
  };
};
