import { hash } from 'node:crypto';

/**
 * The Merkle tree of RFC 6962 §2.1 (RFC 9162 §2.1): leaves are hashed behind a 0 byte and nodes behind a 1 byte, so that
 * no node passes for a leaf. A tree of n leaves is split at the largest power of two below n.
 */

/** A hash: SHA-256, 32 bytes. */
export type Hash = Buffer;

const hashBytes = 32;

/** What a node is hashed from: a 1 byte and two hashes. Like the next one filled anew for each, for there are as many as events. */
const nodeInput = Buffer.alloc(1 + 2 * hashBytes, 1);

/** What a leaf over a hash is hashed from: a 0 byte and the hash. */
const leafInput = Buffer.alloc(1 + hashBytes);

/** The root of a tree without leaves. */
export const emptyRoot: Hash = hash('sha256', '', 'buffer');

/** The hash of a leaf that says this. */
export const leafOf = (content: Buffer): Hash => {
  const input = Buffer.allocUnsafe(1 + content.length);
  input[0] = 0;
  content.copy(input, 1);
  return hash('sha256', input, 'buffer');
};

/** The hash of a leaf that says this hash: SHA-256, base64. */
export const leafOfHash = (content: string): Hash => {
  leafInput.write(content, 1, 'base64');
  return hash('sha256', leafInput, 'buffer');
};

/** The hash of a node over these two. */
export const nodeOf = (left: Hash, right: Hash): Hash => {
  left.copy(nodeInput, 1);
  right.copy(nodeInput, 1 + hashBytes);
  return hash('sha256', nodeInput, 'buffer');
};

/** The largest power of two below `n`, which is above 1. Not by bits: a log may be longer than 2^31. */
export const splitOf = (n: number): number => {
  let power = 1;
  while (2 * power < n) power *= 2;
  return power;
};

/**
 * A tree that grows at its end, and of which alone the roots of its perfect subtrees are kept: at most one for each
 * power of two.
 */
export type GrowingTree = {
  readonly size: () => number;
  readonly root: () => Hash;
  /** Adds a perfect subtree of so many leaves; the size must be a multiple of that. */
  readonly add: (subtree: Hash, leaves?: number) => void;
  readonly copy: () => GrowingTree;
};

/** The perfect subtrees from the left, each smaller than the one before it. */
type Peaks = readonly { readonly hash: Hash; readonly leaves: number }[];

/** An empty tree, or one of these perfect subtrees. */
export const createTree = (from: Peaks = []): GrowingTree => {
  const peaks = [...from];
  const size = (): number => peaks.reduce((sum, { leaves }) => sum + leaves, 0);
  return {
    size,
    root: () =>
      peaks.length === 0
        ? emptyRoot
        : peaks.map(({ hash: own }) => own).reduceRight((right, left) => nodeOf(left, right)),
    add: (subtree, leaves = 1) => {
      let added = { hash: subtree, leaves };
      for (let last = peaks.at(-1); last !== undefined && last.leaves <= added.leaves; last = peaks.at(-1)) {
        if (last.leaves < added.leaves)
          throw new Error('A perfect subtree stands at a multiple of its size.');
        peaks.pop();
        added = { hash: nodeOf(last.hash, added.hash), leaves: 2 * last.leaves };
      }
      peaks.push(added);
    },
    copy: () => createTree(peaks),
  };
};

/** The root over these leaves. */
export const rootOf = (leaves: readonly Hash[]): Hash => {
  const tree = createTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree.root();
};

/** Answers the hash over the leaves from `begin` up to, and without, `end`. */
export type Subtree = (begin: number, end: number) => Promise<Hash>;

/**
 * What with the leaf at `index` makes the root of the tree of the first `size` leaves: PATH(m, D[n]) of RFC 6962 §2.1.1,
 * the leaf's neighbour first. Not more hashes than the size has binary digits.
 */
export const inclusionPath = async (index: number, size: number, subtree: Subtree): Promise<Hash[]> => {
  const path: Hash[] = [];
  for (let [begin, end] = [0, size]; end - begin > 1;) {
    const middle = begin + splitOf(end - begin);
    const isLeft = index < middle;
    path.unshift(await (isLeft ? subtree(middle, end) : subtree(begin, middle)));
    if (isLeft) end = middle;
    else begin = middle;
  }
  return path;
};

/**
 * What shows that the tree of the first `from` leaves is the beginning of that of the first `size`: PROOF(m, D[n]) of
 * RFC 6962 §2.1.2. Empty where they are the same, or the first is empty.
 */
export const consistencyPath = async (from: number, size: number, subtree: Subtree): Promise<Hash[]> => {
  if (from === 0 || from === size) return [];
  const path: Hash[] = [];
  let [begin, end] = [0, size];
  while (end !== from) {
    const middle = begin + splitOf(end - begin);
    if (from <= middle) {
      path.unshift(await subtree(middle, end));
      end = middle;
    } else {
      path.unshift(await subtree(begin, middle));
      begin = middle;
    }
  }
  // Where it began at the first leaf, whoever checks has this hash: it is the first tree's root.
  return begin === 0 ? path : [await subtree(begin, end), ...path];
};

/** The root that a leaf and its path make; absent where the path is of no such tree (RFC 9162 §2.1.3.2). */
export const rootFromInclusion = (
  leaf: Hash,
  index: number,
  size: number,
  path: readonly Hash[],
): Hash | undefined => {
  if (index >= size) return undefined;
  const walk = (begin: number, end: number, depth: number): Hash | undefined => {
    if (end - begin === 1) return depth === 0 ? leaf : undefined;
    const sibling = path[depth - 1];
    if (sibling === undefined) return undefined;
    const middle = begin + splitOf(end - begin);
    const isLeft = index < middle;
    const own = isLeft ? walk(begin, middle, depth - 1) : walk(middle, end, depth - 1);
    if (own === undefined) return undefined;
    return isLeft ? nodeOf(own, sibling) : nodeOf(sibling, own);
  };
  return walk(0, size, path.length);
};

/**
 * Whether the path shows that a tree of `from` leaves with the first root is the beginning of one of `size` leaves with
 * the second (RFC 9162 §2.1.4.2).
 */
export const isConsistent = (
  from: { readonly size: number; readonly root: Hash },
  to: { readonly size: number; readonly root: Hash },
  path: readonly Hash[],
): boolean => {
  if (from.size > to.size) return false;
  if (from.size === to.size) return path.length === 0 && from.root.equals(to.root);
  if (from.size === 0) return path.length === 0;
  // Both roots are made from the same hashes: those left of the first tree's end count for both.
  const isPerfect = splitOf(2 * from.size) === from.size;
  const hashes = isPerfect ? [from.root, ...path] : path;
  const walk = (begin: number, end: number, depth: number): readonly [Hash, Hash] | undefined => {
    const own = hashes[depth];
    if (own === undefined) return undefined;
    if (end === from.size) return depth === 0 ? [own, own] : undefined;
    const middle = begin + splitOf(end - begin);
    if (from.size <= middle) {
      const inner = walk(begin, middle, depth - 1);
      return inner && [inner[0], nodeOf(inner[1], own)];
    }
    const inner = walk(middle, end, depth - 1);
    return inner && [nodeOf(own, inner[0]), nodeOf(own, inner[1])];
  };
  const roots = walk(0, to.size, hashes.length - 1);
  return roots !== undefined && roots[0].equals(from.root) && roots[1].equals(to.root);
};
