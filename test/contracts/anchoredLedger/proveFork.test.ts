import { expect } from "chai";
import { wordKind } from "tallystick-protocol/ledger/word";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { EMPTY_ROOT, ORIGIN, proofOf, rootAt, STORED, treeOf, useLedger } from "../support/ledger.ts";
import { wrap6492 } from "../support/world.ts";

const REASON = { ProofTooLong: 4n, ProofTooShort: 5n, OldRoot: 6n, Root: 7n };
const WRONG = `0x${"5a".repeat(32)}`;

/** The first `size` leaves of `tree`, with one of them replaced. */
function forkOf(tree: MerkleTree, size: number, position: number): MerkleTree {
  const fork = new MerkleTree();
  const foreign = treeOf(1, 77).leaf(0);
  for (let i = 0; i < size; i++) fork.append(i === position ? foreign : tree.leaf(i));
  return fork;
}

describe("AnchoredLedger: proveFork", () => {
  const ledger = useLedger();

  describe("given one signed word of the writer and the stored head", () => {
    it("should mark the ledger even after later anchors, so that a further anchor does not help the writer", async () => {
      const { contract, id, tree, stranger, anchor, headWord } = ledger();
      const lie = await headWord(20, rootAt(forkOf(tree, 20, 3)));
      await anchor(20);
      await anchor(21);
      await anchor(150);
      await expect(
        contract.connect(stranger).proveFork(id, lie, STORED, rootAt(tree, 20), proofOf(tree, 20, 150)),
      )
        .to.emit(contract, "Equivocated")
        .withArgs(id, 20n, lie.root, rootAt(tree, 20));
      expect(await contract.isEquivocated(id)).to.equal(true);
    });

    it("should mark the ledger by a word of the same size as the stored head, with an empty proof", async () => {
      const { contract, id, tree, anchor, headWord } = ledger();
      const lie = await headWord(20, rootAt(forkOf(tree, 20, 19)));
      await anchor(20);
      await expect(contract.proveFork(id, lie, STORED, rootAt(tree, 20), []))
        .to.emit(contract, "Equivocated")
        .withArgs(id, 20n, lie.root, rootAt(tree, 20));
    });

    it("should mark the ledger by a word about a longer tree that does not begin with the stored head", async () => {
      const { contract, id, tree, anchor, anchorWord } = ledger();
      await anchor(20);
      const fork = forkOf(tree, 30, 5);
      const lie = await anchorWord(2n, 30, rootAt(fork));
      await expect(contract.proveFork(id, STORED, lie, rootAt(fork, 20), proofOf(fork, 20, 30)))
        .to.emit(contract, "Equivocated")
        .withArgs(id, 20n, rootAt(tree, 20), rootAt(fork, 20));
    });

    it("should mark the ledger of a writer that signed an empty tree with an impossible root", async () => {
      const { contract, id, anchor, headWord } = ledger();
      await anchor(20);
      const lie = await headWord(0, WRONG);
      await expect(contract.proveFork(id, lie, STORED, EMPTY_ROOT, []))
        .to.emit(contract, "Equivocated")
        .withArgs(id, 0n, WRONG, EMPTY_ROOT);
    });

    it("should not accept the stored head as both words", async () => {
      const { contract, id, tree, anchor } = ledger();
      await anchor(20);
      await expect(
        contract.proveFork(id, STORED, STORED, rootAt(tree, 20), []),
      ).to.be.revertedWithCustomError(contract, "RootsAgree");
      for (const root of [WRONG, EMPTY_ROOT]) {
        await expect(contract.proveFork(id, STORED, STORED, root, [])).to.be.revertedWithCustomError(
          contract,
          "Inconsistent",
        );
      }
    });

    it("should ignore every field of the stored word except its kind", async () => {
      const { contract, id, tree, writer, anchor, headWord } = ledger();
      await anchor(20);
      const lie = await headWord(20, WRONG);
      const pretended = {
        ...STORED,
        signer: writer.address,
        seq: 9n,
        size: 2,
        root: WRONG,
        signature: "0x12",
      };
      await contract.proveFork(id, lie, pretended, rootAt(tree, 20), []);
      expect(await contract.isEquivocated(id)).to.equal(true);
    });
  });

  describe("given two words of the writer", () => {
    it("should mark the ledger without any anchor, for words of every kind and of many pairs of sizes", async () => {
      const { contract, id, tree, headWord, anchorWord, networkHelpers } = ledger();
      const fresh = await networkHelpers.takeSnapshot();
      for (const [shorter, longer, position] of [
        [15, 15, 0],
        [15, 16, 14],
        [16, 17, 0],
        [1, 150, 0],
        [64, 128, 63],
        [149, 150, 80],
      ] as const) {
        const fork = forkOf(tree, longer, position);
        for (const [a, b] of [
          [await headWord(shorter, rootAt(tree, shorter)), await headWord(longer, rootAt(fork))],
          [await anchorWord(1n, shorter, rootAt(tree, shorter)), await headWord(longer, rootAt(fork))],
          [await anchorWord(7n, shorter, rootAt(tree, shorter)), await anchorWord(1n, longer, rootAt(fork))],
        ]) {
          await expect(contract.proveFork(id, a!, b!, rootAt(fork, shorter), proofOf(fork, shorter, longer)))
            .to.emit(contract, "Equivocated")
            .withArgs(id, BigInt(shorter), rootAt(tree, shorter), rootAt(fork, shorter));
          await fresh.restore();
        }
      }
    });

    it("should accept a contract wallet's signatures, plain and wrapped", async () => {
      const { contract, open, idOf, tree, writer, signHead, wallet } = ledger();
      const address = await (await wallet(writer)).getAddress();
      await open(ORIGIN, address);
      const id = idOf(address);
      const word = async (root: string, wrap: (signature: string) => string) => ({
        kind: wordKind.head,
        signer: address,
        seq: 0n,
        size: 15,
        root,
        signature: wrap(await signHead(writer, 15, root, id)),
      });
      const a = await word(rootAt(tree, 15), (signature) => signature);
      const b = await word(WRONG, wrap6492);
      await contract.proveFork(id, a, b, WRONG, []);
      expect(await contract.isEquivocated(id)).to.equal(true);
    });
  });

  describe("given words of one history", () => {
    it("should never mark the ledger, for any pair of words in any order, and for any proof", async () => {
      const { contract, id, tree, anchor, headWord, anchorWord } = ledger();
      await anchor(9);
      const words = [STORED];
      for (const size of [0, 1, 7, 8, 9, 16]) {
        words.push(await headWord(size, rootAt(tree, size)));
        words.push(await anchorWord(2n, size, rootAt(tree, size)));
      }
      const sizeOf = (word: (typeof words)[number]) => (word.kind === wordKind.stored ? 9 : word.size);
      for (const a of words) {
        for (const b of words) {
          const [from, to] = [sizeOf(a), sizeOf(b)];
          const call = (ownRoot: string, proof: string[]) =>
            contract.proveFork.staticCall(id, a, b, ownRoot, proof).then(
              () => "convicted",
              (error: { data?: string }) => contract.interface.parseError(error.data ?? "0x")?.name,
            );
          if (from > to) {
            expect(await call(rootAt(tree, to), proofOf(tree, to, from))).to.equal("SizesDiffer");
            continue;
          }
          expect(await call(rootAt(tree, from), proofOf(tree, from, to))).to.equal("RootsAgree");
          expect(await call(WRONG, proofOf(tree, from, to))).to.equal("Inconsistent");
          expect(await call(WRONG, [])).to.equal("Inconsistent");
          const other = rootAt(tree, from === 0 ? 1 : from - 1);
          expect(await call(other, proofOf(tree, from, to))).to.equal("Inconsistent");
        }
      }
    }).timeout(180_000);

    it("should not mark the ledger for two anchors with one seq, which an honest writer signs after a reorganisation", async () => {
      const { contract, id, tree, anchorWord } = ledger();
      const before = await anchorWord(1n, 12, rootAt(tree, 12));
      const after = await anchorWord(1n, 19, rootAt(tree, 19));
      await expect(contract.proveFork(id, before, after, rootAt(tree, 12), proofOf(tree, 12, 19)))
        .to.be.revertedWithCustomError(contract, "RootsAgree")
        .withArgs(rootAt(tree, 12));
    });
  });

  describe("given bad evidence", () => {
    it("should refuse the words in the wrong order", async () => {
      const { contract, id, tree, headWord } = ledger();
      const [longer, shorter] = [await headWord(16, WRONG), await headWord(15, rootAt(tree, 15))];
      await expect(contract.proveFork(id, longer, shorter, WRONG, []))
        .to.be.revertedWithCustomError(contract, "SizesDiffer")
        .withArgs(16n, 15n);
    });

    it("should say which part of a proof is wrong", async () => {
      const { contract, id, tree, anchor, headWord } = ledger();
      await anchor(80);
      const lie = await headWord(50, WRONG);
      const proof = proofOf(tree, 50, 80);
      for (const [ownRoot, nodes, reason] of [
        [rootAt(tree, 50), proof.slice(1), REASON.ProofTooShort],
        [rootAt(tree, 50), [...proof, WRONG], REASON.ProofTooLong],
        [rootAt(tree, 49), proof, REASON.OldRoot],
        [rootAt(tree, 50), [...proof.slice(0, -1), WRONG], REASON.Root],
        [rootAt(tree, 50), Array(65).fill(WRONG), REASON.ProofTooLong],
      ] as const) {
        await expect(contract.proveFork(id, lie, STORED, ownRoot, [...nodes]))
          .to.be.revertedWithCustomError(contract, "Inconsistent")
          .withArgs(reason, 50n, 80n);
      }
    });

    it("should refuse a statement that is not this writer's word about this ledger, in both places", async () => {
      const {
        contract,
        id,
        idOf,
        open,
        tree,
        writer,
        stranger,
        guardian,
        domain,
        sign,
        headWord,
        anchorWord,
      } = ledger();
      await open("other.example", writer.address);
      const other = idOf(writer.address, "other.example");
      const good = await headWord(15, rootAt(tree, 15));
      const head = await headWord(15, WRONG);
      const anchor = await anchorWord(3n, 15, WRONG);
      const message = { ledgerId: id, size: 15, root: WRONG };
      for (const bad of [
        { ...head, signature: (await headWord(15, WRONG, stranger)).signature },
        { ...head, signature: (await headWord(15, WRONG, guardian)).signature },
        { ...head, signature: (await headWord(15, WRONG, writer, other)).signature },
        { ...head, signature: (await headWord(16, WRONG)).signature },
        { ...head, signature: await sign(writer, "Head", message, { ...domain, chainId: 1n }) },
        { ...head, signature: "0x" },
        // The signature is of the writer, but over a word of the other kind, or over another seq.
        { ...head, signature: anchor.signature },
        { ...anchor, signature: head.signature },
        { ...anchor, seq: 4n },
      ]) {
        for (const [a, b] of [
          [good, bad],
          [bad, good],
        ] as const) {
          for (const sender of [stranger, guardian]) {
            await expect(contract.connect(sender).proveFork(id, a, b, b.root, []))
              .to.be.revertedWithCustomError(contract, "InvalidSignature")
              .withArgs(writer.address);
          }
        }
      }
      for (const other of [stranger, guardian]) {
        const word = await headWord(15, WRONG, other);
        await expect(contract.proveFork(id, good, word, WRONG, []))
          .to.be.revertedWithCustomError(contract, "NotWriter")
          .withArgs(other.address, writer.address);
      }
      expect(await contract.isEquivocated(id)).to.equal(false);
    });
  });

  describe("given a ledger that is already marked", () => {
    async function marked() {
      const world = ledger();
      await world.anchor(20);
      await world.contract.connect(world.writer).announceWriter(world.id, world.stranger.address);
      const lie = await world.headWord(20, WRONG);
      const root = rootAt(world.tree, 20);
      await world.contract.proveFork(world.id, lie, STORED, root, []);
      return { ...world, prove: () => world.contract.proveFork(world.id, lie, STORED, root, []) };
    }

    it("should accept no anchor, no evidence and no other writer any more, and keep the head readable", async () => {
      const { contract, id, tree, writer, guardian, anchor, head, signAnchor, prove } = await marked();
      const relayed = await signAnchor(writer, 2n, 30, rootAt(tree, 30));
      for (const call of [
        () => anchor(30),
        () => contract.anchor(id, 30, rootAt(tree, 30), proofOf(tree, 20, 30), relayed),
        () => contract.connect(guardian).announceWriter(id, guardian.address),
        () => contract.connect(writer).announceWriter(id, writer.address),
        () => contract.acceptWriter(id),
        prove,
      ]) {
        await expect(call()).to.be.revertedWithCustomError(contract, "LedgerEquivocated").withArgs(id);
      }
      expect(await head()).to.include({ root: rootAt(tree, 20), size: 20n, seq: 1n });
    });

    it("should not affect the writer's other ledgers", async () => {
      const { contract, open, idOf, writer, tree } = await marked();
      await open("other.example", writer.address);
      const other = idOf(writer.address, "other.example");
      await contract.connect(writer).anchor(other, 3, rootAt(tree, 3), [], "0x");
      expect(await contract.isEquivocated(other)).to.equal(false);
    });
  });
});
