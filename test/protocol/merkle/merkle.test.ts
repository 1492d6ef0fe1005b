import { createHash } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { fromHex, toBareHex } from "tallystick-protocol/hex";
import { EMPTY_ROOT, leafHash, nodeHash } from "tallystick-protocol/merkle/hash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { MerkleRange } from "tallystick-protocol/merkle/merkleRange";
import { keptHashes, MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import { verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { readVectors } from "../../vectors/vectors.ts";

const MAX_SIZE = 130;

/** A tree of MAX_SIZE leaves, and the root that it had at every size. */
const tree = new MerkleTree();
const roots: Uint8Array[] = [tree.root()];
for (let i = 0; i < MAX_SIZE; i++) {
  tree.append(leafHash(new TextEncoder().encode(`leaf ${i}`)));
  roots.push(tree.root());
}
const rootAt = (size: number): Uint8Array => roots[size]!;

/** The tree hash as RFC 6962 §2.1 defines it. It uses only SHA-256. */
function definedRoot(leaves: Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return createHash("sha256").digest();
  if (leaves.length === 1) return leaves[0]!;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  const [left, right] = [definedRoot(leaves.slice(0, k)), definedRoot(leaves.slice(k))];
  return createHash("sha256").update(Uint8Array.of(1)).update(left).update(right).digest();
}

/** Every proof that differs from a valid one in one place: in a node, in the number of nodes, or in their order. */
function mutations(proof: Uint8Array[]): Uint8Array[][] {
  const changed = proof.map((node, i) =>
    proof.with(
      i,
      Uint8Array.from(node, (byte, at) => (at === 7 ? byte ^ 1 : byte)),
    ),
  );
  const dropped = proof.map((_, i) => proof.toSpliced(i, 1));
  const added = [
    [...proof, EMPTY_ROOT],
    [EMPTY_ROOT, ...proof],
  ];
  const swapped = proof.slice(1).map((node, i) => proof.with(i, node).with(i + 1, proof[i]!));
  const short = proof.map((node, i) => proof.with(i, node.subarray(1)));
  return [...changed, ...dropped, ...added, ...swapped, ...short];
}

describe("Merkle trees (RFC 6962)", () => {
  it("have the roots, inclusion and consistency proofs of the golden vectors", () => {
    const vectors = readVectors<{
      leaves: string[];
      roots: string[];
      inclusion: { index: number; size: number; proof: string[] }[];
      consistency: { from: number; to: number; proof: string[] }[];
    }>("merkle.json");
    vectors.leaves.forEach((leaf, i) => void expect(toBareHex(tree.leaf(i))).to.equal(leaf));
    vectors.roots.forEach((root, size) => void expect(toBareHex(tree.root(size))).to.equal(root));
    for (const { index, size, proof } of vectors.inclusion) {
      expect(tree.inclusionProof(index, size).map(toBareHex)).to.deep.equal(proof);
    }
    for (const { from, to, proof } of vectors.consistency) {
      expect(tree.consistencyProof(from, to).map(toBareHex)).to.deep.equal(proof);
    }
  });

  it("have the roots that Certificate Transparency publishes for its reference leaves", () => {
    // The inputs and roots of the reference tree in the test suite of Certificate Transparency.
    const leaves = [
      "",
      "00",
      "10",
      "2021",
      "3031",
      "40414243",
      "5051525354555657",
      "606162636465666768696a6b6c6d6e6f",
    ];
    const reference = new MerkleTree();
    expect(toBareHex(reference.root())).to.equal(
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    for (const leaf of leaves) reference.append(leafHash(fromHex(`0x${leaf}`)));
    expect(toBareHex(reference.root(1))).to.equal(
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    );
    expect(toBareHex(reference.root(2))).to.equal(
      "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    );
    expect(toBareHex(reference.root(8))).to.equal(
      "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    );
  });

  it("have at every size the root that the definition gives", () => {
    const leaves = Array.from({ length: MAX_SIZE }, (_, i) => tree.leaf(i));
    for (let size = 0; size <= MAX_SIZE; size++) {
      expect(toBareHex(rootAt(size))).to.equal(toBareHex(definedRoot(leaves.slice(0, size))));
      expect(toBareHex(tree.root(size))).to.equal(toBareHex(rootAt(size)));
    }
  });

  it("have the same root when only the frontier is stored", () => {
    const frontier = new MerkleFrontier();
    for (let size = 0; size <= MAX_SIZE; size++) {
      expect(frontier.size).to.equal(size);
      expect(toBareHex(frontier.root())).to.equal(toBareHex(rootAt(size)));
      if (size < MAX_SIZE) frontier.append(tree.leaf(size));
    }
    expect(() => frontier.append(new Uint8Array(33)))
      .to.throw("a leaf hash has 32 bytes, not 33")
      .with.property("code", "not_a_hash");
  });

  it("store thousands of leaves, and the root of every complete subtree", () => {
    const [large, frontier] = [new MerkleTree(), new MerkleFrontier()];
    for (let n = 0; n < 4_400; n++) {
      const leaf = Uint8Array.from({ length: 32 }, (_, at) => (n >> (at % 13)) & 255);
      large.append(leaf);
      frontier.append(leaf);
    }
    expect(toBareHex(large.root())).to.equal(toBareHex(frontier.root()));
    for (const index of [0, 255, 256, 4_399]) {
      const claim = { leafHash: large.leaf(index), index, size: 4_400, root: large.root() };
      expect(verifyInclusion({ ...claim, proof: large.inclusionProof(index) }), `${index}`).to.equal(true);
    }
    const leaves = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => large.leaf(from + n));
    for (const [height, index] of [
      [0, 4_399],
      [1, 2_199],
      [3, 549],
      [4, 0],
      [4, 274],
      [8, 16],
      [12, 0],
    ] as const) {
      const [from, to] = [index * 2 ** height, (index + 1) * 2 ** height];
      expect(toBareHex(large.node(height, index)), `${height}/${index}`).to.equal(
        toBareHex(definedRoot(leaves(from, to))),
      );
      const none = Math.floor(4_400 / 2 ** height);
      for (const bad of [none, -1, 0.5])
        expect(() => large.node(height, bad)).to.throw(`index: must be an integer below ${none}`);
    }
  });

  it("tell how many hashes they store at each level, and continue with hashes from another store", () => {
    const levels: Uint8Array[][] = [];
    const level = (at: number) => {
      levels[at] ??= [];
      const hashes = levels[at];
      return { push: (hash: Uint8Array) => void hashes.push(hash), at: (n: number) => hashes[n]! };
    };
    const first = new MerkleTree(undefined, { size: 0, level });
    for (let n = 0; n < 69; n++) first.append(tree.leaf(n));
    expect(levels.map(({ length }) => length)).to.deep.equal([69, 4, 2, 1]);
    for (const [at, { length }] of levels.entries()) expect(keptHashes(69, at)).to.equal(length);
    const next = new MerkleTree(undefined, { size: 69, level });
    for (let n = 69; n < MAX_SIZE; n++) next.append(tree.leaf(n));
    expect(next.size).to.equal(MAX_SIZE);
    expect(toBareHex(next.root())).to.equal(toBareHex(rootAt(MAX_SIZE)));
  });

  it("continue from a stored frontier, and refuse a frontier that does not fit its size", () => {
    for (const size of [0, 1, 7, 64, 100]) {
      const frontier = new MerkleFrontier();
      for (let i = 0; i < size; i++) frontier.append(tree.leaf(i));
      const restored = MerkleFrontier.restore(size, frontier.roots);
      restored.append(tree.leaf(size));
      expect(toBareHex(restored.root())).to.equal(toBareHex(rootAt(size + 1)));
      for (const roots of [[...frontier.roots, EMPTY_ROOT], frontier.roots.slice(1)].slice(0, size + 1))
        expect(() => MerkleFrontier.restore(size, roots))
          .to.throw(`${roots.length} subtrees cannot make up a tree of ${size} leaves`)
          .with.property("code", "not_a_frontier");
    }
  });

  it("have the same root when parts of any length are hashed and joined from left to right", () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: MAX_SIZE }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_SIZE }), cuts, (size, given) => {
        const bounds = [0, ...given.filter((cut) => cut < size), size].sort((a, b) => a - b);
        const whole = new MerkleRange();
        for (const [n, from] of bounds.slice(0, -1).entries()) {
          const part = new MerkleRange(from);
          for (let at = from; at < bounds[n + 1]!; at++) part.append(tree.leaf(at));
          // A range has at most two subtrees of each height, so its memory does not grow with the number of its leaves.
          expect(part.subtrees.length).to.be.at.most(2 * Math.ceil(Math.log2(MAX_SIZE + 1)));
          whole.join(part);
        }
        expect(whole.root()).to.deep.equal(rootAt(size));
      }),
    );
    const later = new MerkleRange(3);
    later.append(tree.leaf(3));
    expect(() => new MerkleRange().join(later))
      .to.throw("leaves from 3 on do not follow those up to 0")
      .with.property("code", "not_a_range");
    expect(() => later.root())
      .to.throw("the leaves before 3 are unknown")
      .with.property("code", "not_a_range");
    expect([later.from, later.to]).to.deep.equal([3, 4]);
  });

  it("tell their caller every subtree that a leaf completes, the leaf first", () => {
    const frontier = new MerkleFrontier();
    for (let n = 0; n < 40; n++) {
      const completed: [number, number, string][] = [];
      frontier.append(tree.leaf(n), (height, index, hash) =>
        completed.push([height, index, toBareHex(hash)]),
      );
      const heights = Array.from({ length: 7 }, (_, height) => height).filter(
        (it) => (n + 1) % 2 ** it === 0,
      );
      expect(completed).to.deep.equal(
        heights.map((it) => {
          const index = (n + 1) / 2 ** it - 1;
          return [it, index, toBareHex(tree.node(it, index))];
        }),
      );
    }
  });

  it("have the fewest complete subtrees that make up a range, from left to right", () => {
    for (const [from, to, expected] of [
      [0, 0, []],
      [0, 8, [[3, 0]]],
      [
        0,
        7,
        [
          [2, 0],
          [1, 2],
          [0, 6],
        ],
      ],
      [
        3,
        12,
        [
          [0, 3],
          [2, 1],
          [2, 2],
        ],
      ],
      [
        1,
        8,
        [
          [0, 1],
          [1, 1],
          [2, 1],
        ],
      ],
      [5, 6, [[0, 5]]],
    ] as const) {
      const range = new MerkleRange(from);
      for (let n = from; n < to; n++) range.append(tree.leaf(n));
      const subtrees = range.subtrees.map(({ height, index }) => [height, index]);
      expect(subtrees, `${from} to ${to}`).to.deep.equal(expected);
      for (const { height, index, hash } of range.subtrees)
        expect(hash).to.deep.equal(tree.node(height, index));
    }
  });

  it("hash their nodes by the function that the caller gives", () => {
    let calls = 0;
    const sha256 = (data: Uint8Array | string): Uint8Array => {
      calls++;
      return createHash("sha256").update(data).digest();
    };
    const used = (work: () => Uint8Array) => {
      calls = 0;
      expect(toBareHex(work())).to.equal(toBareHex(rootAt(13)));
      return calls;
    };
    const leaves = Array.from({ length: 13 }, (_, n) => tree.leaf(n));
    // A tree of 13 leaves has 12 inner nodes. Two of them join the three complete subtrees.
    const frontier = new MerkleFrontier(sha256);
    expect(
      used(() => {
        for (const leaf of leaves) frontier.append(leaf);
        return frontier.root();
      }),
    ).to.equal(12);
    expect(used(() => MerkleFrontier.restore(13, frontier.roots, sha256).root())).to.equal(2);
    const range = new MerkleRange(0, sha256);
    expect(
      used(() => {
        for (const leaf of leaves) range.append(leaf);
        return range.root();
      }),
    ).to.equal(12);
    const whole = new MerkleTree(sha256);
    expect(
      used(() => {
        for (const leaf of leaves) whole.append(leaf);
        return whole.root();
      }),
    ).to.be.at.least(12);
  });

  it("prove every leaf at every size", () => {
    for (let size = 1; size <= MAX_SIZE; size++) {
      for (let index = 0; index < size; index++) {
        const proof = tree.inclusionProof(index, size);
        const claim = { leafHash: tree.leaf(index), index, size, root: rootAt(size) };
        expect(verifyInclusion({ ...claim, proof }), `${index} in ${size}`).to.equal(true);
      }
    }
  });

  it("prove that the tree of every size is the beginning of every larger tree", () => {
    for (let to = 0; to <= MAX_SIZE; to++) {
      for (let from = 0; from <= to; from++) {
        const proof = tree.consistencyProof(from, to);
        const claim = { from, to, fromRoot: rootAt(from), toRoot: rootAt(to) };
        expect(verifyConsistency({ ...claim, proof }), `${from} to ${to}`).to.equal(true);
      }
    }
  });

  it("reject every mutated inclusion proof, and a valid proof for another leaf, index or root", () => {
    for (let size = 1; size <= MAX_SIZE; size += size < 18 ? 1 : 7) {
      for (let index = 0; index < size; index += size < 18 ? 1 : 3) {
        const proof = tree.inclusionProof(index, size);
        const claim = { leafHash: tree.leaf(index), index, size, root: rootAt(size), proof };
        for (const wrong of mutations(proof))
          expect(verifyInclusion({ ...claim, proof: wrong })).to.equal(false);
        expect(verifyInclusion({ ...claim, leafHash: EMPTY_ROOT })).to.equal(false);
        expect(verifyInclusion({ ...claim, root: EMPTY_ROOT })).to.equal(false);
        expect(verifyInclusion({ ...claim, index: size })).to.equal(false);
        expect(verifyInclusion({ ...claim, index: -1 })).to.equal(false);
        if (size > 1) expect(verifyInclusion({ ...claim, index: (index + 1) % size })).to.equal(false);
      }
    }
  });

  it("reject every mutated consistency proof, and a valid proof for other roots", () => {
    for (let to = 0; to <= MAX_SIZE; to += to < 18 ? 1 : 7) {
      for (let from = 0; from <= to; from += to < 18 ? 1 : 3) {
        const proof = tree.consistencyProof(from, to);
        const claim = { from, to, fromRoot: rootAt(from), toRoot: rootAt(to), proof };
        for (const wrong of mutations(proof)) {
          expect(verifyConsistency({ ...claim, proof: wrong }), `${from} to ${to}`).to.equal(false);
        }
        expect(verifyConsistency({ ...claim, fromRoot: leafHash(EMPTY_ROOT) })).to.equal(false);
        // Every tree follows from size 0.
        if (from > 0) expect(verifyConsistency({ ...claim, toRoot: leafHash(EMPTY_ROOT) })).to.equal(false);
        if (from !== to) expect(verifyConsistency({ ...claim, from: to, to: from })).to.equal(false);
      }
    }
  });

  it("reject a consistency proof with a wrong number of nodes at every size", () => {
    const lengths = (from: number, to: number) => tree.consistencyProof(from, to).length;
    for (let from = 1; from <= 64; from++) {
      const wanted = Array.from({ length: 65 }, (_, size) => (size < from ? -1 : lengths(from, size)));
      for (let to = from; to <= 64; to++) {
        const proof = tree.consistencyProof(from, to);
        const claim = { from, fromRoot: rootAt(from), toRoot: rootAt(to), proof };
        for (let other = from; other <= 64; other++) {
          // If two proofs have the same number of nodes, only the roots distinguish the sizes. For example, the
          // proof from 4 to 5 leaves and the proof from 4 to 8 leaves have one node each.
          if (wanted[other] === proof.length) continue;
          expect(verifyConsistency({ ...claim, to: other }), `${from} to ${to}, as ${other}`).to.equal(false);
        }
      }
    }
  });

  it("reject an empty proof of growth with the same root", () => {
    for (let from = 1; from <= 64; from++) {
      for (let to = from + 1; to <= 65; to++) {
        const claim = { from, to, fromRoot: rootAt(from), toRoot: rootAt(from), proof: [] };
        expect(verifyConsistency(claim), `${from} to ${to}`).to.equal(false);
      }
    }
  });

  it("reject every proof between trees that differ in an old leaf", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 0, max: 64 }),
        fc.nat(),
        (from, more, at) => {
          const forged = new MerkleTree();
          for (let i = 0; i < from + more; i++) {
            forged.append(i === at % from ? nodeHash(tree.leaf(i), EMPTY_ROOT) : tree.leaf(i));
          }
          const proof = forged.consistencyProof(from);
          const claim = { from, to: from + more, fromRoot: rootAt(from), toRoot: forged.root(), proof };
          expect(verifyConsistency(claim)).to.equal(false);
        },
      ),
    );
  });

  it("accept sizes as bigint too, up to 2^63", () => {
    const size = 2n ** 63n;
    const proof = Array.from({ length: 63 }, () => EMPTY_ROOT);
    const root = proof.reduce((hash, node) => nodeHash(hash, node), EMPTY_ROOT);
    expect(verifyInclusion({ leafHash: EMPTY_ROOT, index: 0n, size, proof, root })).to.equal(true);
    expect(verifyInclusion({ leafHash: EMPTY_ROOT, index: 0n, size: size + 1n, proof, root })).to.equal(
      false,
    );
    const pair = { leafHash: EMPTY_ROOT, proof: [EMPTY_ROOT], root: nodeHash(EMPTY_ROOT, EMPTY_ROOT) };
    expect(verifyInclusion({ ...pair, index: 0, size: 2 })).to.equal(true);
    for (const [index, size] of [
      [0.5, 2],
      [-1n, 2],
      [0, 1.5],
      [0, 2 ** 53],
      [0n, -2n],
      [Number.NaN, 2],
    ] as const)
      expect(verifyInclusion({ ...pair, index, size }), `${index} in ${size}`).to.equal(false);
    const empty = { fromRoot: EMPTY_ROOT, toRoot: rootAt(5), proof: [] };
    expect(verifyConsistency({ ...empty, from: 0n, to: 5n })).to.equal(true);
    expect(verifyConsistency({ ...empty, from: 0n, to: 2n ** 63n })).to.equal(true);
    expect(verifyConsistency({ ...empty, from: 0n, to: 2n ** 63n + 1n })).to.equal(false);
    expect(verifyConsistency({ ...empty, from: -1n, to: 5n })).to.equal(false);
    const other = leafHash(EMPTY_ROOT);
    expect(verifyConsistency({ ...empty, from: 0, to: 0, fromRoot: other, toRoot: other })).to.equal(false);
    expect(verifyConsistency({ ...empty, from: 0, to: 5, proof: [EMPTY_ROOT] })).to.equal(false);
  });

  it("refuse impossible sizes and leaves, and name the field", () => {
    const refused = (action: () => unknown, message: string) =>
      expect(action, message).to.throw(InvalidInputError, message).with.property("code", "not_in_tree");
    for (const bad of [MAX_SIZE + 1, -1, 0.5]) {
      refused(() => tree.root(bad), `size: must be an integer from 0 to ${MAX_SIZE}`);
      refused(() => tree.inclusionProof(0, bad), `size: must be an integer from 0 to ${MAX_SIZE}`);
      refused(() => tree.consistencyProof(0, bad), `to: must be an integer from 0 to ${MAX_SIZE}`);
    }
    for (const bad of [5, -1, 0.5])
      refused(() => tree.inclusionProof(bad, 5), "index: must be an integer from 0 to 4");
    for (const bad of [MAX_SIZE, -1, 0.5])
      refused(() => tree.leaf(bad), `index: must be an integer from 0 to ${MAX_SIZE - 1}`);
    for (const bad of [6, -1, 0.5])
      refused(() => tree.consistencyProof(bad, 5), "from: must be an integer from 0 to 5");
    refused(() => tree.inclusionProof(0, 0), "index: there is no leaf in an empty tree");
    expect(() => tree.append(new Uint8Array(31)))
      .to.throw("a leaf hash has 32 bytes, not 31")
      .with.property("code", "not_a_hash");
  });
});
