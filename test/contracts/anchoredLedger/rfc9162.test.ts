import { expect } from "chai";
import { hexlify } from "ethers";
import fc from "fast-check";
import { EMPTY_ROOT, leafHash, nodeHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import { verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { BUILD_TIMEOUT, freshChain } from "../support/chain.ts";
import { SpelledOutTree } from "../support/rfc6962.ts";
import type { LibrariesHarness } from "../support/world.ts";

const VERDICT = {
  Valid: 0n,
  SizeAboveLimit: 1n,
  SizeShrinks: 2n,
  IndexOutsideTree: 3n,
  ProofTooLong: 4n,
  ProofTooShort: 5n,
  OldRootMismatch: 6n,
  RootMismatch: 7n,
} as const;

type Size = number | bigint;
type Inclusion = { leaf: Uint8Array; index: Size; size: Size; root: Uint8Array; proof: Uint8Array[] };
type Consistency = {
  oldSize: Size;
  oldRoot: Uint8Array;
  newSize: Size;
  newRoot: Uint8Array;
  proof: Uint8Array[];
};

/**
 * The size of the largest tree. MERKLE_MAX=128 tests larger trees. The mutation tests use smaller trees to save time. So
 * a mutant that only larger trees notice counts as a survivor.
 */
const MAX = Number(process.env.MERKLE_MAX ?? 66);
const LIMIT = 2n ** 63n;

describe("Rfc9162", function () {
  this.timeout(BUILD_TIMEOUT);
  let harness: LibrariesHarness;
  const tree = new MerkleTree();

  before(async () => {
    const { ethers } = await freshChain();
    harness = (await ethers.deployContract("LibrariesHarness")) as unknown as LibrariesHarness;
    for (let i = 0; i < MAX; i++) tree.append(leafHash(Uint8Array.of(i)));
  });

  const inclusion = (cases: Inclusion[]) => harness.inclusion(cases);
  const consistency = (cases: Consistency[]) => harness.consistency(cases);
  const included = (index: number, size: number): Inclusion => ({
    leaf: tree.leaf(index),
    index,
    size,
    root: tree.root(size),
    proof: tree.inclusionProof(index, size),
  });
  const consistent = (oldSize: number, newSize: number): Consistency => ({
    oldSize,
    oldRoot: tree.root(oldSize),
    newSize,
    newRoot: tree.root(newSize),
    proof: tree.consistencyProof(oldSize, newSize),
  });
  const range = (length: number, from = 0) => Array.from({ length }, (_, i) => from + i);

  it("should hash an inner node as the TypeScript tree does", async () => {
    const [left, right] = [leafHash(Uint8Array.of(1)), leafHash(Uint8Array.of(2))];
    expect(await harness.nodeHash(left, right)).to.equal(hexlify(nodeHash(left, right)));
  });

  describe("given sizes and proofs at their limits and above them", () => {
    const node = leafHash(Uint8Array.of(9));
    const nodes = (length: number) => Array.from({ length }, () => node);

    it("should accept the longest possible proofs, and refuse trees of more than 2^63 leaves", async () => {
      const huge = new SpelledOutTree([[LIMIT - 1n, node]]);
      const right = {
        leaf: node,
        index: LIMIT - 1n,
        size: LIMIT,
        root: huge.root(0n, LIMIT),
        proof: huge.inclusionProof(LIMIT - 1n, 0n, LIMIT),
      };
      expect(right.proof).to.have.length(63);
      expect(await inclusion([right, { ...right, size: LIMIT + 1n }])).to.deep.equal([
        VERDICT.Valid,
        VERDICT.SizeAboveLimit,
      ]);
      const old = { oldSize: LIMIT - 1n, oldRoot: huge.root(0n, LIMIT - 1n) };
      const grown = {
        ...old,
        newSize: LIMIT,
        newRoot: right.root,
        proof: huge.consistencyProof(LIMIT - 1n, LIMIT),
      };
      expect(await consistency([grown, { ...grown, newSize: LIMIT + 1n }])).to.deep.equal([
        VERDICT.Valid,
        VERDICT.SizeAboveLimit,
      ]);
    });

    it("should say why it refuses a proof", async () => {
      const leafOnly = { leaf: tree.leaf(0), root: tree.root(1), proof: [] as Uint8Array[] };
      expect(
        await inclusion([
          { ...leafOnly, index: 0, size: 1 },
          { ...leafOnly, index: 1, size: 1 },
          { ...leafOnly, index: 0, size: 0 },
          { ...leafOnly, index: 0, size: 2 },
          { ...leafOnly, index: 0, size: 1, proof: nodes(1) },
          { ...leafOnly, index: 0, size: 1, proof: nodes(65) },
          { ...leafOnly, index: 0, size: LIMIT, proof: nodes(64) },
          { ...leafOnly, index: 0, size: 1, root: node },
        ]),
      ).to.deep.equal([
        VERDICT.Valid,
        VERDICT.IndexOutsideTree,
        VERDICT.IndexOutsideTree,
        VERDICT.ProofTooShort,
        VERDICT.ProofTooLong,
        VERDICT.ProofTooLong,
        VERDICT.ProofTooLong,
        VERDICT.RootMismatch,
      ]);
      const right = consistent(3, 7);
      expect(
        await consistency([
          { ...right, oldSize: 8 },
          { ...right, proof: right.proof.slice(0, -1) },
          { ...right, proof: [] },
          { ...consistent(4, 7), proof: [] },
          { ...right, proof: [...right.proof, node] },
          { ...right, proof: nodes(65) },
          { ...right, oldRoot: node },
          { ...right, newRoot: node },
        ]),
      ).to.deep.equal([
        VERDICT.SizeShrinks,
        VERDICT.ProofTooShort,
        VERDICT.ProofTooShort,
        VERDICT.ProofTooShort,
        VERDICT.ProofTooLong,
        VERDICT.ProofTooLong,
        VERDICT.OldRootMismatch,
        VERDICT.RootMismatch,
      ]);
    });

    it("should accept any tree after the empty tree, and after a tree of the same size only an equal tree", async () => {
      const empty = { oldSize: 0, oldRoot: EMPTY_ROOT, proof: [] as Uint8Array[] };
      const same = consistent(5, 5);
      expect(
        await consistency([
          { ...empty, newSize: 0, newRoot: EMPTY_ROOT },
          { ...empty, newSize: 0, newRoot: node },
          { ...empty, newSize: 9, newRoot: node },
          { ...empty, newSize: 9, newRoot: node, proof: nodes(1) },
          { ...empty, oldRoot: node, newSize: 9, newRoot: node },
          { ...same },
          { ...same, newRoot: node },
          { ...same, proof: nodes(1) },
        ]),
      ).to.deep.equal([
        VERDICT.Valid,
        VERDICT.RootMismatch,
        VERDICT.Valid,
        VERDICT.ProofTooLong,
        VERDICT.OldRootMismatch,
        VERDICT.Valid,
        VERDICT.RootMismatch,
        VERDICT.ProofTooLong,
      ]);
    });
  });

  // These tests find most faults within a second, before the exhaustive tests below.
  describe("given small trees", () => {
    it("should accept every proof, and refuse it with a flipped bit, a missing node, an extra node, or two swapped nodes", async () => {
      const sizes = [1, 2, 3, 5, 6, 7, 8, 11];
      const paths = sizes.flatMap((size) => range(size).map((index) => included(index, size)));
      expect(new Set(await inclusion(paths))).to.deep.equal(new Set([VERDICT.Valid]));
      const proofs = sizes.flatMap((size) => range(size, 1).map((oldSize) => consistent(oldSize, size)));
      expect(new Set(await consistency(proofs))).to.deep.equal(new Set([VERDICT.Valid]));
      const changed = <T extends { proof: Uint8Array[] }>(right: T) =>
        mutatedProofs(right.proof).map((proof) => ({ ...right, proof }));
      await refusesAll(paths.flatMap(changed), inclusion);
      await refusesAll(proofs.flatMap(changed), consistency);
    });
  });

  describe(`given the TypeScript tree's proofs for every size up to ${MAX}`, () => {
    const upTo = (most: number, sizes: number[]) => sizes.filter((size) => size <= most);

    it("should accept the inclusion of every leaf at every size", async () => {
      for (const size of range(MAX, 1)) {
        const verdicts = await inclusion(range(size).map((index) => included(index, size)));
        expect(verdicts.every((verdict) => verdict === VERDICT.Valid)).to.equal(true, `size ${size}`);
      }
    });

    it("should accept the consistency of every two sizes, including 0 and equal sizes", async () => {
      for (const newSize of range(MAX + 1)) {
        const verdicts = await consistency(range(newSize + 1).map((oldSize) => consistent(oldSize, newSize)));
        expect(verdicts.every((verdict) => verdict === VERDICT.Valid)).to.equal(true, `to ${newSize}`);
      }
    });

    it("should refuse every inclusion proof with a flipped bit, a missing node, an extra node, or two swapped nodes", async () => {
      for (const size of upTo(MAX, [1, 2, 3, 5, 7, 8, 13, 64, 100])) {
        const mutants = range(size).flatMap((index) => {
          const right = included(index, size);
          return [
            ...mutatedProofs(right.proof).map((proof) => ({ ...right, proof })),
            { ...right, leaf: flipped(right.leaf, index) },
            { ...right, root: flipped(right.root, index) },
          ];
        });
        await refusesAll(mutants, inclusion);
      }
    });

    it("should refuse every leaf at every other position", async () => {
      for (const size of upTo(MAX, [2, 3, 7, 16, 33])) {
        const mutants = range(size).flatMap((index) =>
          range(size)
            .filter((other) => other !== index)
            .map((other) => ({ ...included(index, size), index: other })),
        );
        await refusesAll(mutants, inclusion);
      }
    });

    it("should refuse every consistency proof with a flipped bit, a missing node, an extra node, or two swapped nodes", async () => {
      for (const newSize of upTo(MAX, [2, 3, 5, 8, 13, 65, 100])) {
        const mutants = range(newSize - 1, 1).flatMap((oldSize) => {
          const right = consistent(oldSize, newSize);
          return [
            ...mutatedProofs(right.proof).map((proof) => ({ ...right, proof })),
            { ...right, oldRoot: flipped(right.oldRoot, oldSize) },
            { ...right, newRoot: flipped(right.newRoot, oldSize) },
          ];
        });
        await refusesAll(mutants, consistency);
      }
    });
  });

  describe("given trees of up to 2^40 leaves, computed by the definitions of RFC 6962", () => {
    const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const trees = fc
      .record({
        newSize: fc.oneof(
          fc.bigInt(2n, 2n ** 40n),
          fc.bigInt(1n, 39n).map((bits) => 2n ** bits + 1n),
        ),
        oldAt: fc.bigInt(0n, 2n ** 41n),
        indexAt: fc.bigInt(0n, 2n ** 41n),
        near: fc.array(fc.tuple(fc.bigInt(-3n, 3n), hashes), { maxLength: 6 }),
        far: fc.array(fc.tuple(fc.bigInt(0n, 2n ** 41n), hashes), { maxLength: 6 }),
        edge: fc.constantFrom("any", "power of two", "one less"),
      })
      .map(({ newSize, oldAt, indexAt, near, far, edge }) => {
        const power = 2n ** BigInt((newSize - 1n).toString(2).length - 1);
        const chosen = {
          any: 1n + (oldAt % (newSize - 1n)),
          "power of two": power,
          "one less": newSize - 1n,
        }[edge];
        const index = indexAt % newSize;
        const special = [
          ...near.flatMap(([step, hash]): [bigint, Uint8Array][] => [
            [index + step, hash],
            [chosen + step, hash.toReversed()],
          ]),
          ...far.map(([at, hash]): [bigint, Uint8Array] => [at % newSize, hash]),
          [index, leafHash(Uint8Array.of(1))] as [bigint, Uint8Array],
        ].filter(([position]) => position >= 0n && position < newSize);
        return { newSize, oldSize: chosen, index, tree: new SpelledOutTree(special) };
      });

    it("should accept inclusion and consistency, as the TypeScript verifiers do", async () => {
      await fc.assert(
        fc.asyncProperty(trees, async ({ newSize, oldSize, index, tree: huge }) => {
          const [oldRoot, newRoot] = [huge.root(0n, oldSize), huge.root(0n, newSize)];
          const path = huge.inclusionProof(index, 0n, newSize);
          const proof = huge.consistencyProof(oldSize, newSize);
          const leaf = huge.leaf(index);
          expect(await inclusion([{ leaf, index, size: newSize, root: newRoot, proof: path }])).to.deep.equal(
            [0n],
          );
          expect(await consistency([{ oldSize, oldRoot, newSize, newRoot, proof }])).to.deep.equal([0n]);
          expect(
            verifyInclusion({ leafHash: leaf, index, size: newSize, root: newRoot, proof: path }),
          ).to.equal(true);
          const sizes = { from: oldSize, to: newSize, fromRoot: oldRoot, toRoot: newRoot };
          expect(verifyConsistency({ ...sizes, proof })).to.equal(true);
        }),
        { numRuns: 200 },
      );
    });

    it("should refuse changed proofs, as the TypeScript verifiers do", async () => {
      await fc.assert(
        fc.asyncProperty(trees, fc.nat(), async ({ newSize, oldSize, index, tree: huge }, seed) => {
          const [oldRoot, newRoot] = [huge.root(0n, oldSize), huge.root(0n, newSize)];
          const paths = mutatedProofs(huge.inclusionProof(index, 0n, newSize));
          const proofs = mutatedProofs(huge.consistencyProof(oldSize, newSize));
          const path = paths[seed % paths.length]!;
          const proof = proofs[seed % proofs.length]!;
          const leaf = huge.leaf(index);
          await refusesAll([{ leaf, index, size: newSize, root: newRoot, proof: path }], inclusion);
          await refusesAll([{ oldSize, oldRoot, newSize, newRoot, proof }], consistency);
          expect(
            verifyInclusion({ leafHash: leaf, index, size: newSize, root: newRoot, proof: path }),
          ).to.equal(false);
          const sizes = { from: oldSize, to: newSize, fromRoot: oldRoot, toRoot: newRoot };
          expect(verifyConsistency({ ...sizes, proof })).to.equal(false);
        }),
        { numRuns: 100 },
      );
    });
  });
});

/** Every proof that differs from `proof` by one change: an extra, flipped, missing or repeated node, or two swapped nodes. */
function mutatedProofs(proof: Uint8Array[]): Uint8Array[][] {
  const mutants = [
    [...proof, leafHash(Uint8Array.of(7))],
    [leafHash(Uint8Array.of(7)), ...proof],
  ];
  for (const [i, node] of proof.entries()) {
    mutants.push(proof.with(i, flipped(node, i)), proof.toSpliced(i, 1), proof.toSpliced(i, 0, node));
    const next = proof[i + 1];
    if (next !== undefined && hexlify(next) !== hexlify(node))
      mutants.push(proof.with(i, next).with(i + 1, node));
  }
  return mutants;
}

function flipped(hash: Uint8Array, at: number): Uint8Array {
  const i = at % 32;
  return hash.with(i, (hash[i] as number) ^ (1 << (at % 8)));
}

/** Checks 256 proofs in each call, because a node limits the size of a call. */
async function refusesAll<T>(mutants: T[], check: (cases: T[]) => Promise<bigint[]>): Promise<void> {
  for (let i = 0; i < mutants.length; i += 256) {
    const verdicts = await check(mutants.slice(i, i + 256));
    const accepted = verdicts.indexOf(VERDICT.Valid);
    expect(accepted === -1 ? "none accepted" : JSON.stringify(mutants[i + accepted])).to.equal(
      "none accepted",
    );
  }
}
