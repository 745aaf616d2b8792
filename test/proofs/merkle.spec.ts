import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  consistencyPath,
  createTree,
  emptyRoot,
  inclusionPath,
  isConsistent,
  leafOf,
  leafOfHash,
  rootFromInclusion,
  rootOf,
  type Hash,
} from '../../src/proofs/merkle.ts';

/** Trees up to here are tried in every pair of sizes. */
const sizeMax = 40;

/** The inputs and roots that implementations of RFC 6962 are tested with. */
const inputs = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const leaves = Array.from({ length: sizeMax }, (_, n) => leafOf(Buffer.from(`leaf ${n}`)));

/** The definition of RFC 6962 §2.1, word for word. */
const definition = (hashes: readonly Hash[]): Hash => {
  if (hashes.length === 0) return createHash('sha256').digest();
  if (hashes.length === 1) return hashes[0] as Hash;
  const k = 2 ** (Math.ceil(Math.log2(hashes.length)) - 1);
  const [left, right] = [definition(hashes.slice(0, k)), definition(hashes.slice(k))];
  return createHash('sha256')
    .update(Buffer.concat([Buffer.from([1]), left, right]))
    .digest();
};

const subtree = async (begin: number, end: number): Promise<Hash> => definition(leaves.slice(begin, end));

const treeOf = (size: number) => ({ size, root: definition(leaves.slice(0, size)) });

const changed = (hash: Hash): Hash => Buffer.from(hash.map((byte, n) => (n === 7 ? byte ^ 1 : byte)));

describe('the Merkle tree', () => {
  it('has the same leaf over a hash as text and as bytes', () => {
    for (const hash of leaves) expect(leafOfHash(hash.toString('base64'))).to.deep.equal(leafOf(hash));
  });
  it('has the roots that others have', () => {
    const hashes = inputs.map((input) => leafOf(Buffer.from(input, 'hex')));
    expect(hashes.map((_, n) => rootOf(hashes.slice(0, n + 1)).toString('hex'))).to.deep.equal(roots);
    expect(rootOf([]).equals(emptyRoot)).to.equal(true);
  });

  it('is that of RFC 6962, leaf by leaf and block by block', () => {
    for (let size = 0; size <= sizeMax; size += 1) {
      const wanted = definition(leaves.slice(0, size));
      expect(rootOf(leaves.slice(0, size)).equals(wanted), `${size}`).to.equal(true);
      const tree = createTree();
      let at = 0;
      for (; at + 4 <= size; at += 4) tree.add(rootOf(leaves.slice(at, at + 4)), 4);
      const rest = tree.copy();
      for (const leaf of leaves.slice(at, size)) rest.add(leaf);
      expect(rest.root().equals(wanted), `${size} in blocks`).to.equal(true);
      expect([tree.size(), rest.size()]).to.deep.equal([at, size]);
    }
  });

  it('shows of every leaf of every tree that it is in it, and of no other', async () => {
    for (let size = 1; size <= sizeMax; size += 1) {
      const root = definition(leaves.slice(0, size));
      for (const [index, leaf] of leaves.slice(0, size).entries()) {
        const path = await inclusionPath(index, size, subtree);
        const where = `${index} of ${size}`;
        expect(rootFromInclusion(leaf, index, size, path)?.equals(root), where).to.equal(true);
        const isIn = (...[it, at, of, by]: Parameters<typeof rootFromInclusion>): boolean =>
          rootFromInclusion(it, at, of, by)?.equals(root) === true;
        expect(isIn(changed(leaf), index, size, path), where).to.equal(false);
        expect(isIn(leaf, index + 1, size, path), where).to.equal(false);
        expect(isIn(leaf, index, size, [...path, root]), where).to.equal(false);
        for (const [n, hash] of path.entries()) {
          expect(isIn(leaf, index, size, path.with(n, changed(hash))), where).to.equal(false);
          expect(isIn(leaf, index, size, path.toSpliced(n, 1)), where).to.equal(false);
        }
      }
    }
  });

  it('shows of every tree that it begins with every smaller one, and with nothing else', async () => {
    for (let size = 0; size <= sizeMax; size += 1)
      for (let from = 0; from <= size; from += 1) {
        const path = await consistencyPath(from, size, subtree);
        const where = `${from} of ${size}`;
        expect(isConsistent(treeOf(from), treeOf(size), path), where).to.equal(true);
        if (from === 0) continue;
        const other = { ...treeOf(from), root: changed(treeOf(from).root) };
        expect(isConsistent(other, treeOf(size), path), where).to.equal(false);
        expect(
          isConsistent(treeOf(from), { ...treeOf(size), root: changed(treeOf(size).root) }, path),
        ).to.equal(false);
        expect(isConsistent(treeOf(from), treeOf(size), [...path, emptyRoot]), where).to.equal(false);
        for (const [n, hash] of path.entries()) {
          expect(isConsistent(treeOf(from), treeOf(size), path.with(n, changed(hash))), where).to.equal(
            false,
          );
          expect(isConsistent(treeOf(from), treeOf(size), path.toSpliced(n, 1)), where).to.equal(false);
        }
      }
    expect(isConsistent(treeOf(5), treeOf(4), [])).to.equal(false);
  });
});
