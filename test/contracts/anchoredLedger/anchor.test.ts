import { expect } from "chai";
import { hexlify } from "ethers";
import { EMPTY_ROOT, ORIGIN, proofOf, rootAt, treeOf, useLedger } from "../support/ledger.ts";
import { wrap6492 } from "../support/world.ts";

const REASON = {
  SizeAboveLimit: 1n,
  SizeShrinks: 2n,
  ProofTooLong: 4n,
  ProofTooShort: 5n,
  OldRoot: 6n,
  Root: 7n,
};

describe("AnchoredLedger: anchor", () => {
  const ledger = useLedger();

  describe("given the writer and a proof that the new tree begins with the anchored one", () => {
    it("should store the new head, and emit the sizes of the old and the new head", async () => {
      const { contract, writer, id, tree, anchor, head, networkHelpers } = ledger();
      await expect(anchor(7)).to.emit(contract, "Anchored").withArgs(id, 1n, 0n, 7n, rootAt(tree, 7));
      const time = BigInt(await networkHelpers.time.latest()) + 50n;
      await networkHelpers.time.setNextBlockTimestamp(time);
      await expect(anchor(130)).to.emit(contract, "Anchored").withArgs(id, 2n, 7n, 130n, rootAt(tree, 130));
      expect(await head()).to.deep.equal({ root: rootAt(tree, 130), size: 130n, time, seq: 2n });
      expect(await contract.writerOf(id)).to.equal(writer.address);
    });

    it("should accept a ledger that grows by small and large steps", async () => {
      const { anchor, head, tree } = ledger();
      for (const size of [1, 2, 3, 4, 8, 9, 15, 16, 17, 64, 65, 127, 128, 200]) {
        await anchor(size);
        expect((await head()).root).to.equal(rootAt(tree, size));
      }
      expect((await head()).seq).to.equal(14n);
    });

    it("should accept the same head again as a heartbeat", async () => {
      const { contract, id, tree, anchor, head } = ledger();
      await anchor(9);
      await expect(anchor(9)).to.emit(contract, "Anchored").withArgs(id, 2n, 9n, 9n, rootAt(tree, 9));
      expect((await head()).seq).to.equal(2n);
    });

    it("should accept a heartbeat of a ledger that is still empty", async () => {
      const { contract, writer, id, head } = ledger();
      await contract.connect(writer).anchor(id, 0, EMPTY_ROOT, [], "0x");
      expect((await head()).seq).to.equal(1n);
    });
  });

  describe("given a writer that rewrites or forks its history", () => {
    it("should refuse a tree with another anchored entry, with any proof", async () => {
      const { contract, writer, id, anchor, tree } = ledger();
      await anchor(50);
      const forged = treeOf(80, 1);
      for (const proof of [proofOf(forged, 50), proofOf(tree, 50, 80), []]) {
        await expect(
          contract.connect(writer).anchor(id, 80, rootAt(forged), proof, "0x"),
        ).to.be.revertedWithCustomError(contract, "Inconsistent");
      }
    });

    it("should refuse a shorter history", async () => {
      const { contract, writer, id, anchor, tree } = ledger();
      await anchor(50);
      await expect(contract.connect(writer).anchor(id, 49, rootAt(tree, 49), [], "0x"))
        .to.be.revertedWithCustomError(contract, "Inconsistent")
        .withArgs(REASON.SizeShrinks, 50n, 49n);
    });

    it("should refuse another root for the same size", async () => {
      const { contract, writer, id, anchor } = ledger();
      await anchor(50);
      await expect(contract.connect(writer).anchor(id, 50, rootAt(treeOf(50, 1)), [], "0x"))
        .to.be.revertedWithCustomError(contract, "Inconsistent")
        .withArgs(REASON.Root, 50n, 50n);
    });

    it("should say which part of a proof is wrong", async () => {
      const { contract, writer, id, anchor, tree } = ledger();
      await anchor(50);
      const proof = proofOf(tree, 50, 80);
      const root = rootAt(tree, 80);
      const wrong = rootAt(treeOf(3, 5));
      for (const [nodes, newRoot, reason] of [
        [proof.slice(1), root, REASON.ProofTooShort],
        [[...proof, wrong], root, REASON.ProofTooLong],
        [[wrong, ...proof.slice(1)], root, REASON.OldRoot],
        [proof, wrong, REASON.Root],
      ] as const) {
        await expect(contract.connect(writer).anchor(id, 80, newRoot, [...nodes], "0x"))
          .to.be.revertedWithCustomError(contract, "Inconsistent")
          .withArgs(reason, 50n, 80n);
      }
    });

    it("should refuse more than 2^63 entries", async () => {
      const { contract, writer, id } = ledger();
      await expect(contract.connect(writer).anchor(id, 2n ** 63n + 1n, EMPTY_ROOT, [], "0x"))
        .to.be.revertedWithCustomError(contract, "Inconsistent")
        .withArgs(REASON.SizeAboveLimit, 0n, 2n ** 63n + 1n);
    });
  });

  describe("given a sender who is not the writer", () => {
    it("should refuse an anchor without the writer's signature", async () => {
      const { contract, id, stranger, writer, tree } = ledger();
      await expect(contract.connect(stranger).anchor(id, 3, rootAt(tree, 3), [], "0x"))
        .to.be.revertedWithCustomError(contract, "NotWriter")
        .withArgs(stranger.address, writer.address);
    });

    it("should refuse the guardian when it sends, signs, or relays a signature of another account", async () => {
      const { contract, id, guardian, stranger, writer, tree, signAnchor } = ledger();
      const root = rootAt(tree, 3);
      await expect(contract.connect(guardian).anchor(id, 3, root, [], "0x"))
        .to.be.revertedWithCustomError(contract, "NotWriter")
        .withArgs(guardian.address, writer.address);
      for (const [sender, signer] of [
        [stranger, guardian],
        [guardian, stranger],
      ] as const) {
        const signature = await signAnchor(signer, 1n, 3, root);
        await expect(contract.connect(sender).anchor(id, 3, root, [], signature))
          .to.be.revertedWithCustomError(contract, "InvalidSignature")
          .withArgs(writer.address);
      }
    });

    it("should accept the writer's signature for the next seq from any sender", async () => {
      const { contract, id, stranger, writer, tree, signAnchor, head } = ledger();
      const signature = await signAnchor(writer, 1n, 3, rootAt(tree, 3));
      await contract.connect(stranger).anchor(id, 3, rootAt(tree, 3), [], signature);
      expect((await head()).size).to.equal(3n);
    });

    it("should refuse a signature that was used before, or whose seq was used by another anchor", async () => {
      const { contract, id, writer, tree, anchor, signAnchor } = ledger();
      await anchor(3);
      const heartbeat = await signAnchor(writer, 2n, 3, rootAt(tree, 3));
      const overtaken = await signAnchor(writer, 2n, 5, rootAt(tree, 5));
      await contract.anchor(id, 3, rootAt(tree, 3), [], heartbeat);
      for (const [size, signature] of [
        [3, heartbeat],
        [5, overtaken],
      ] as const) {
        await expect(contract.anchor(id, size, rootAt(tree, size), proofOf(tree, 3, size), signature))
          .to.be.revertedWithCustomError(contract, "InvalidSignature")
          .withArgs(writer.address);
      }
    });

    it("should refuse a signature for another seq, size, root, ledger or domain, and a signature of another account", async () => {
      const { contract, open, id, idOf, writer, stranger, tree, domain, sign, signAnchor, signHead } =
        ledger();
      const root = rootAt(tree, 3);
      await open("other.example", writer.address);
      const message = { ledgerId: id, seq: 1n, newSize: 3, newRoot: root };
      for (const signature of [
        await signAnchor(writer, 2n, 3, root),
        await signAnchor(writer, 0n, 3, root),
        await signAnchor(writer, 1n, 4, root),
        await signAnchor(writer, 1n, 3, rootAt(tree, 4)),
        await signAnchor(writer, 1n, 3, root, idOf(writer.address, "other.example")),
        await sign(writer, "Anchor", message, { ...domain, chainId: 1n }),
        await sign(writer, "Anchor", message, { ...domain, verifyingContract: stranger.address }),
        await signHead(writer, 3, root),
        await signAnchor(stranger, 1n, 3, root),
        `0x${"11".repeat(65)}`,
      ]) {
        await expect(contract.connect(writer).anchor(id, 3, root, [], signature))
          .to.be.revertedWithCustomError(contract, "InvalidSignature")
          .withArgs(writer.address);
      }
    });
  });

  describe("given a contract wallet as writer", () => {
    it("should accept the owner's signature, plain and wrapped, and the wallet's own call", async () => {
      const { contract, open, idOf, writer, tree, signAnchor, head, wallet } = ledger();
      const account = await wallet(writer);
      const address = await account.getAddress();
      await open(ORIGIN, address);
      const id = idOf(address);
      await contract.anchor(id, 3, rootAt(tree, 3), [], await signAnchor(writer, 1n, 3, rootAt(tree, 3), id));
      const wrapped = wrap6492(await signAnchor(writer, 2n, 4, rootAt(tree, 4), id));
      await contract.anchor(id, 4, rootAt(tree, 4), proofOf(tree, 3, 4), wrapped);
      const call = contract.interface.encodeFunctionData("anchor", [
        id,
        9,
        rootAt(tree, 9),
        proofOf(tree, 4, 9),
        "0x",
      ]);
      await account.connect(writer).execute(await contract.getAddress(), call);
      expect(await head(id)).to.include({ root: rootAt(tree, 9), size: 9n, seq: 3n });
    });
  });

  describe("given a ledger that is not open", () => {
    it("should refuse every anchor", async () => {
      const { contract, idOf, stranger, tree } = ledger();
      const id = idOf(stranger.address);
      await expect(contract.connect(stranger).anchor(id, 3, rootAt(tree, 3), [], "0x"))
        .to.be.revertedWithCustomError(contract, "UnknownLedger")
        .withArgs(id);
    });
  });
});

describe("AnchoredLedger: views", () => {
  const ledger = useLedger();

  it("should tell whether a leaf is in the anchored ledger", async () => {
    const { contract, id, tree, anchor } = ledger();
    await anchor(50);
    const leaf = hexlify(tree.leaf(33));
    const proof = tree.inclusionProof(33, 50).map((node) => hexlify(node));
    expect(await contract.verifyInclusion(id, leaf, 33, proof)).to.equal(true);
    expect(await contract.verifyInclusion(id, leaf, 34, proof)).to.equal(false);
    expect(await contract.verifyInclusion(id, leaf, 50, proof)).to.equal(false);
    expect(await contract.verifyInclusion(id, leaf, 33, proof.slice(1))).to.equal(false);
    expect(await contract.verifyInclusion(id, hexlify(tree.leaf(34)), 33, proof)).to.equal(false);
    await anchor(51);
    expect(await contract.verifyInclusion(id, leaf, 33, proof)).to.equal(false);
  });

  it("should accept an old inclusion proof together with a consistency proof from its tree to the anchored one", async () => {
    const { contract, id, tree, anchor } = ledger();
    await anchor(50);
    const leaf = hexlify(tree.leaf(33));
    const proof = tree.inclusionProof(33, 50).map((node) => hexlify(node));
    const at = (
      changes: Partial<Record<"leaf" | "root", string>> & {
        index?: number;
        size?: number;
        proof?: string[];
        path?: string[];
      } = {},
    ) =>
      contract.verifyInclusionAt(
        id,
        changes.leaf ?? leaf,
        changes.index ?? 33,
        changes.proof ?? proof,
        changes.size ?? 50,
        changes.root ?? rootAt(tree, 50),
        changes.path ?? [],
      );
    expect(await at()).to.equal(true);
    await anchor(51);
    await anchor(180);
    const path = proofOf(tree, 50, 180);
    expect(await at({ path })).to.equal(true);
    expect(await at()).to.equal(false);
    expect(await at({ path, leaf: hexlify(tree.leaf(34)) })).to.equal(false);
    expect(await at({ path, index: 34 })).to.equal(false);
    expect(await at({ path, proof: proof.slice(1) })).to.equal(false);
    expect(await at({ path: path.slice(1) })).to.equal(false);
    // This tree has the leaf, but the ledger does not begin with this tree.
    const forged = treeOf(50, 1);
    const forgedProof = forged.inclusionProof(33, 50).map((node) => hexlify(node));
    const foreign = { leaf: hexlify(forged.leaf(33)), proof: forgedProof, root: rootAt(forged), path };
    expect(await at(foreign)).to.equal(false);
    expect(await at({ ...foreign, path: proofOf(treeOf(180, 1), 50, 180) })).to.equal(false);
    // A tree that is longer than the anchored one, and a tree without entries.
    expect(await at({ size: 181, root: rootAt(tree, 181), path: proofOf(tree, 180, 181) })).to.equal(false);
    expect(await at({ size: 0, index: 0, root: EMPTY_ROOT, proof: [] })).to.equal(false);
  });

  it("should call a ledger stale when more than the given number of seconds passed since its last anchor", async () => {
    const { contract, id, anchor, networkHelpers } = ledger();
    const { time } = networkHelpers;
    await anchor(5);
    await time.increase(60);
    expect(await contract.isStale(id, 60)).to.equal(false);
    expect(await contract.isStale(id, 59)).to.equal(true);
    expect(await contract.isStale(id, 2n ** 256n - 1n)).to.equal(false);
    await anchor(5);
    expect(await contract.isStale(id, 59)).to.equal(false);
  });

  it("should know nothing about a ledger that is not open", async () => {
    const { contract, stranger, idOf } = ledger();
    const id = idOf(stranger.address);
    expect(await contract.writerOf(id)).to.equal(`0x${"00".repeat(20)}`);
    expect(await contract.guardianOf(id)).to.equal(`0x${"00".repeat(20)}`);
    expect(await contract.isEquivocated(id)).to.equal(false);
    for (const view of [
      () => contract.head(id),
      () => contract.isStale(id, 1),
      () => contract.verifyInclusion(id, id, 0, []),
      () => contract.verifyInclusionAt(id, id, 0, [], 0, id, []),
    ]) {
      await expect(view()).to.be.revertedWithCustomError(contract, "UnknownLedger").withArgs(id);
    }
  });
});
