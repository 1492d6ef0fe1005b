import { expect } from "chai";
import { ORIGIN, proofOf, rootAt, treeOf, useLedger } from "../support/ledger.ts";
import { wrap6492 } from "../support/world.ts";

const AGAINST_STORED = "proveEquivocation((bytes32,uint64,bytes32),bytes)";
const TWO_HEADS = "proveEquivocation((bytes32,uint64,bytes32),bytes,(bytes32,uint64,bytes32),bytes)";

describe("AnchoredLedger: proveEquivocation", () => {
  const ledger = useLedger();
  const forged = treeOf(20, 1);

  /** A ledger anchored at 20, and a signed head of its writer that contradicts it. */
  async function contradicted() {
    const l = ledger();
    await l.anchor(20);
    const head = { ledgerId: l.id, size: 20, root: rootAt(forged) };
    const signature = await l.signHead(l.writer, 20, head.root);
    return { ...l, lie: head, signature };
  }

  describe("given a head that the writer signed and the anchored head of the same size", () => {
    it("should mark the ledger for good, whoever brings it, and say what contradicts what", async () => {
      const { contract, id, tree, stranger, lie, signature } = await contradicted();
      await expect(contract.connect(stranger)[AGAINST_STORED](lie, signature))
        .to.emit(contract, "Equivocated")
        .withArgs(id, 20n, lie.root, rootAt(tree, 20));
      expect(await contract.isEquivocated(id)).to.equal(true);
    });

    it("should take no anchor any more, by nobody and by no signature, and keep the head to be read", async () => {
      const { contract, id, tree, writer, anchor, head, signAnchor, lie, signature } = await contradicted();
      await contract[AGAINST_STORED](lie, signature);
      await expect(anchor(30)).to.be.revertedWithCustomError(contract, "LedgerEquivocated").withArgs(id);
      const relayed = await signAnchor(writer, 2n, 30, rootAt(tree, 30));
      await expect(
        contract.anchor(id, 30, rootAt(tree, 30), proofOf(tree, 20, 30), relayed),
      ).to.be.revertedWithCustomError(contract, "LedgerEquivocated");
      expect(await head()).to.include({ root: rootAt(tree, 20), size: 20n, seq: 1n });
    });

    it("should leave the writer's other ledgers alone", async () => {
      const { contract, idOf, writer, tree, lie, signature } = await contradicted();
      await contract.open("other.example", writer.address);
      await contract[AGAINST_STORED](lie, signature);
      const other = idOf(writer.address, "other.example");
      await contract.connect(writer).anchor(other, 3, rootAt(tree, 3), [], "0x");
      expect(await contract.isEquivocated(other)).to.equal(false);
    });

    it("should refuse the head that is anchored", async () => {
      const { contract, id, tree, writer, signHead } = await contradicted();
      const root = rootAt(tree, 20);
      await expect(
        contract[AGAINST_STORED]({ ledgerId: id, size: 20, root }, await signHead(writer, 20, root)),
      )
        .to.be.revertedWithCustomError(contract, "RootsAgree")
        .withArgs(root);
    });

    it("should refuse a head of another size, which contradicts nothing by itself", async () => {
      const { contract, id, writer, signHead } = await contradicted();
      for (const size of [19, 21]) {
        const head = { ledgerId: id, size, root: rootAt(forged) };
        await expect(contract[AGAINST_STORED](head, await signHead(writer, size, head.root)))
          .to.be.revertedWithCustomError(contract, "SizesDiffer")
          .withArgs(BigInt(size), 20n);
      }
    });

    it("should refuse what the writer did not sign as a head of this ledger", async () => {
      const { contract, id, idOf, writer, stranger, lie, domain, sign, signHead, signAnchor } =
        await contradicted();
      for (const signature of [
        await signHead(stranger, 20, lie.root),
        await signHead(writer, 21, lie.root),
        await signHead(writer, 20, rootAt(forged, 19)),
        await signHead(writer, 20, lie.root, idOf(writer.address, "other.example")),
        await signAnchor(writer, 2n, 20, lie.root),
        await sign(writer, "Head", lie, { ...domain, chainId: 1n }),
        "0x",
      ]) {
        await expect(contract.connect(writer)[AGAINST_STORED](lie, signature))
          .to.be.revertedWithCustomError(contract, "InvalidSignature")
          .withArgs(writer.address);
      }
      expect(await contract.isEquivocated(id)).to.equal(false);
    });
  });

  describe("given two heads of one size that the writer signed", () => {
    it("should mark the ledger, whatever is anchored, and say what contradicts what", async () => {
      const { contract, id, tree, writer, signHead } = ledger();
      const [a, b] = [
        { ledgerId: id, size: 15, root: rootAt(tree, 15) },
        { ledgerId: id, size: 15, root: rootAt(forged, 15) },
      ];
      const [signatureA, signatureB] = [
        await signHead(writer, 15, a.root),
        await signHead(writer, 15, b.root),
      ];
      await expect(contract[TWO_HEADS](a, signatureA, b, signatureB))
        .to.emit(contract, "Equivocated")
        .withArgs(id, 15n, a.root, b.root);
      expect(await contract.isEquivocated(id)).to.equal(true);
      await expect(contract[TWO_HEADS](a, signatureA, b, signatureB))
        .to.be.revertedWithCustomError(contract, "LedgerEquivocated")
        .withArgs(id);
    });

    it("should take a contract wallet's signatures, bare and wrapped", async () => {
      const { contract, idOf, tree, writer, signHead, wallet } = ledger();
      const address = await (await wallet(writer)).getAddress();
      await contract.open(ORIGIN, address);
      const id = idOf(address);
      const [a, b] = [
        { ledgerId: id, size: 15, root: rootAt(tree, 15) },
        { ledgerId: id, size: 15, root: rootAt(forged, 15) },
      ];
      const signatureA = await signHead(writer, 15, a.root, id);
      const signatureB = wrap6492(await signHead(writer, 15, b.root, id));
      await contract[TWO_HEADS](a, signatureA, b, signatureB);
      expect(await contract.isEquivocated(id)).to.equal(true);
    });

    it("should refuse two that agree, of two sizes, or of two ledgers", async () => {
      const { contract, id, idOf, tree, writer, signHead } = ledger();
      await contract.open("other.example", writer.address);
      const other = idOf(writer.address, "other.example");
      const a = { ledgerId: id, size: 15, root: rootAt(tree, 15) };
      const signatureA = await signHead(writer, 15, a.root);
      await expect(contract[TWO_HEADS](a, signatureA, a, signatureA))
        .to.be.revertedWithCustomError(contract, "RootsAgree")
        .withArgs(a.root);
      const longer = { ledgerId: id, size: 16, root: rootAt(forged, 16) };
      await expect(contract[TWO_HEADS](a, signatureA, longer, await signHead(writer, 16, longer.root)))
        .to.be.revertedWithCustomError(contract, "SizesDiffer")
        .withArgs(15n, 16n);
      const elsewhere = { ledgerId: other, size: 15, root: rootAt(forged, 15) };
      const signed = await signHead(writer, 15, elsewhere.root, other);
      await expect(contract[TWO_HEADS](a, signatureA, elsewhere, signed))
        .to.be.revertedWithCustomError(contract, "LedgersDiffer")
        .withArgs(id, other);
    });

    it("should refuse when either signature is not the writer's", async () => {
      const { contract, id, tree, writer, stranger, signHead } = ledger();
      const [a, b] = [
        { ledgerId: id, size: 15, root: rootAt(tree, 15) },
        { ledgerId: id, size: 15, root: rootAt(forged, 15) },
      ];
      const [mine, forgery] = [await signHead(writer, 15, a.root), await signHead(stranger, 15, b.root)];
      await expect(contract[TWO_HEADS](a, mine, b, forgery)).to.be.revertedWithCustomError(
        contract,
        "InvalidSignature",
      );
      await expect(contract[TWO_HEADS](b, forgery, a, mine)).to.be.revertedWithCustomError(
        contract,
        "InvalidSignature",
      );
    });
  });

  describe("given a ledger that is not open", () => {
    it("should refuse", async () => {
      const { contract, idOf, stranger, signHead } = ledger();
      const id = idOf(stranger.address);
      const head = { ledgerId: id, size: 0, root: rootAt(forged) };
      const signature = await signHead(stranger, 0, head.root, id);
      await expect(contract[AGAINST_STORED](head, signature))
        .to.be.revertedWithCustomError(contract, "UnknownLedger")
        .withArgs(id);
    });
  });
});
