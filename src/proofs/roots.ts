import type { Checkpoint } from './checkpoint.ts';
import type { Faults } from './faults.ts';
import type { GrowingTree } from './merkle.ts';

/** A root that the tree has to have when it has come to its size, and whose it is. */
type Root = { readonly of: string; readonly checkpoint: Checkpoint };

/** Holds a tree that grows against the roots that were signed. */
export const createRoots = (tree: GrowingTree, faults: Faults) => {
  /** Those that are still to come, the next one first. */
  const roots: Root[] = [];
  let sealedEvents = 0;
  /** The first that was not what it had to be. */
  let broken: string | undefined;

  return {
    /** How many events, from the first, are what was signed. */
    sealedEvents: (): number => sealedEvents,
    add: (root: Root): void => {
      roots.push(root);
      roots.sort((a, b) => a.checkpoint.tree_size - b.checkpoint.tree_size);
    },
    /** The tree has so many leaves now. */
    hold: (leaves: number): void => {
      for (let [next] = roots; next !== undefined && next.checkpoint.tree_size <= leaves; [next] = roots) {
        roots.shift();
        const { tree_size, root_hash } = next.checkpoint;
        if (tree_size === leaves && root_hash === tree.root().toString('base64')) sealedEvents = leaves;
        else broken ??= `the first ${tree_size} events are not those of ${next.of}`;
      }
    },
    /** No more leaves come. */
    end: (leaves: number): void => {
      // Where something was found it is no news that the whole is another.
      if (broken !== undefined && faults.found().length === 0) faults.tell(broken);
      for (const { of, checkpoint } of roots)
        faults.tell(
          `the end was cut off: the log has ${leaves} events, and ${of} covers ${checkpoint.tree_size}`,
        );
    },
  };
};

/** The roots that a log is held against. */
export type Roots = ReturnType<typeof createRoots>;
