import { expect } from "chai";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import { areHashes, areSizes, verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";

const bytes = (length: number) => new Uint8Array(length).fill(7);

describe("the form of a Merkle proof", () => {
  it("has hashes of 32 bytes, each of them", () => {
    expect(areHashes()).to.equal(true);
    expect(areHashes(bytes(32), bytes(32))).to.equal(true);
    for (const length of [0, 31, 33, 64])
      for (const hashes of [
        [bytes(length)],
        [bytes(length), bytes(32)],
        [bytes(32), bytes(length)],
        [bytes(32), bytes(length), bytes(32)],
      ])
        expect(areHashes(...hashes), String(length)).to.equal(false);
  });

  it("has sizes that are whole numbers, and not negative", () => {
    expect(areSizes(0, 1, Number.MAX_SAFE_INTEGER, 0n, 2n ** 63n)).to.equal(true);
    for (const size of [
      -1,
      0.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.MAX_SAFE_INTEGER + 1,
      -1n,
      2n ** 63n + 1n,
    ])
      for (const sizes of [[size], [1, size], [size, 1]])
        expect(areSizes(...sizes), String(size)).to.equal(false);
  });

  it("proves nothing about texts of another length that are equal", () => {
    // A tree with one leaf has the leaf's hash as its root, so without a check any two equal texts would do.
    for (const length of [0, 31, 33]) {
      const it = bytes(length);
      expect(verifyInclusion({ leafHash: it, index: 0, size: 1, proof: [], root: it })).to.equal(false);
      const same = { from: 3, to: 3, proof: [], fromRoot: it, toRoot: it };
      expect(verifyConsistency(same), String(length)).to.equal(false);
    }
    const it = bytes(32);
    expect(verifyInclusion({ leafHash: it, index: 0, size: 1, proof: [], root: it })).to.equal(true);
  });

  it("is refused if a hash of a good proof is cut or longer", () => {
    const tree = new MerkleTree();
    for (let n = 0; n < 7; n++) tree.append(leafHash(new Uint8Array([n])));
    const parts = {
      leafHash: leafHash(new Uint8Array([2])),
      index: 2,
      size: 7,
      proof: tree.inclusionProof(2, 7),
      root: tree.root(7),
    };
    expect(verifyInclusion(parts)).to.equal(true);
    for (const n of parts.proof.keys())
      for (const wrong of [
        (hash: Uint8Array) => hash.slice(0, 31),
        (hash: Uint8Array) => new Uint8Array([...hash, 0]),
      ]) {
        const proof = parts.proof.map((hash, at) => (at === n ? wrong(hash) : hash));
        expect(verifyInclusion({ ...parts, proof })).to.equal(false);
      }
  });
});
