import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { proofOf, rootAt, STORED, useLedger } from "../support/ledger.ts";

const DAY = 86_400;
const WRONG = `0x${"5a".repeat(32)}`;

describe("AnchoredLedger: succession", () => {
  const ledger = useLedger();

  describe("announceWriter", () => {
    it("should let the writer announce another writer, who can take over seven days later", async () => {
      const { contract, id, writer, next, networkHelpers } = ledger();
      const time = (await networkHelpers.time.latest()) + 100;
      await networkHelpers.time.setNextBlockTimestamp(time);
      await expect(contract.connect(writer).announceWriter(id, next.address))
        .to.emit(contract, "WriterAnnounced")
        .withArgs(id, next.address, writer.address, BigInt(time + 7 * DAY));
      expect([...(await contract.announcedWriter(id))]).to.deep.equal([
        next.address,
        BigInt(time + 7 * DAY),
        false,
      ]);
      expect(await contract.writerOf(id)).to.equal(writer.address);
    });

    it("should let the writer anchor after its announcement, and replace or withdraw the announcement", async () => {
      const { contract, id, writer, next, stranger, anchor } = ledger();
      const asWriter = contract.connect(writer);
      await asWriter.announceWriter(id, next.address);
      await anchor(5);
      await asWriter.announceWriter(id, stranger.address);
      expect((await contract.announcedWriter(id)).next).to.equal(stranger.address);
      await expect(asWriter.announceWriter(id, writer.address))
        .to.emit(contract, "AnnouncementWithdrawn")
        .withArgs(id, writer.address);
      expect([...(await contract.announcedWriter(id))]).to.deep.equal([ZeroAddress, 0n, false]);
    });

    it("should let the guardian replace the writer's announcement, which stops anchoring until the guardian withdraws it", async () => {
      const { contract, id, writer, guardian, next, stranger, tree, anchor, signAnchor } = ledger();
      await contract.connect(writer).announceWriter(id, stranger.address);
      await contract.connect(guardian).announceWriter(id, next.address);
      expect([...(await contract.announcedWriter(id))].toSpliced(1, 1)).to.deep.equal([next.address, true]);
      await expect(anchor(5)).to.be.revertedWithCustomError(contract, "GuardianAnnounced").withArgs(id);
      const relayed = await signAnchor(writer, 1n, 5, rootAt(tree, 5));
      await expect(contract.anchor(id, 5, rootAt(tree, 5), [], relayed)).to.be.revertedWithCustomError(
        contract,
        "GuardianAnnounced",
      );
      await contract.connect(guardian).announceWriter(id, writer.address);
      await anchor(5);
    });

    it("should not let the writer replace or withdraw the guardian's announcement", async () => {
      const { contract, id, writer, guardian, next, stranger } = ledger();
      await contract.connect(guardian).announceWriter(id, next.address);
      for (const other of [writer.address, stranger.address, next.address]) {
        await expect(contract.connect(writer).announceWriter(id, other))
          .to.be.revertedWithCustomError(contract, "GuardianAnnounced")
          .withArgs(id);
      }
    });

    it("should refuse an announcement by anybody else, also by the announced writer", async () => {
      const { contract, id, writer, guardian, next, stranger } = ledger();
      await contract.connect(writer).announceWriter(id, next.address);
      for (const sender of [stranger, next]) {
        await expect(contract.connect(sender).announceWriter(id, sender.address))
          .to.be.revertedWithCustomError(contract, "NotWriterOrGuardian")
          .withArgs(sender.address, writer.address, guardian.address);
      }
    });

    it("should start the seven days again when the announcement is repeated", async () => {
      const { contract, id, writer, next, networkHelpers } = ledger();
      await contract.connect(writer).announceWriter(id, next.address);
      await networkHelpers.time.increase(6 * DAY);
      await contract.connect(writer).announceWriter(id, next.address);
      await networkHelpers.time.increase(2 * DAY);
      await expect(contract.connect(next).acceptWriter(id)).to.be.revertedWithCustomError(
        contract,
        "TooEarly",
      );
    });

    it("should refuse the zero address, a withdrawal without an announcement, and a ledger that is not open", async () => {
      const { contract, id, writer, guardian } = ledger();
      await expect(contract.connect(writer).announceWriter(id, ZeroAddress)).to.be.revertedWithCustomError(
        contract,
        "WriterIsZero",
      );
      for (const sender of [writer, guardian]) {
        await expect(contract.connect(sender).announceWriter(id, writer.address))
          .to.be.revertedWithCustomError(contract, "NothingAnnounced")
          .withArgs(id);
      }
      await expect(contract.announceWriter(WRONG, writer.address))
        .to.be.revertedWithCustomError(contract, "UnknownLedger")
        .withArgs(WRONG);
    });

    it("should not stop anchoring when the writer is its own guardian, or when there is no guardian", async () => {
      const { contract, idOf, writer, next, tree } = ledger();
      for (const [origin, guardian] of [
        ["own.example", writer.address],
        ["alone.example", ZeroAddress],
      ] as const) {
        await contract.open(origin, writer.address, guardian);
        const id = idOf(writer.address, origin, guardian);
        await contract.connect(writer).announceWriter(id, next.address);
        expect((await contract.announcedWriter(id)).halted).to.equal(false);
        await contract.connect(writer).anchor(id, 5, rootAt(tree, 5), [], "0x");
        await contract.connect(writer).announceWriter(id, writer.address);
      }
    });
  });

  describe("acceptWriter", () => {
    it("should accept the announced account exactly from the second at which the seven days are over", async () => {
      const { contract, id, writer, next, networkHelpers, anchor } = ledger();
      await anchor(12);
      await contract.connect(writer).announceWriter(id, next.address);
      const announcedAt = await networkHelpers.time.latest();
      await networkHelpers.time.setNextBlockTimestamp(announcedAt + 7 * DAY - 1);
      await expect(contract.connect(next).acceptWriter(id))
        .to.be.revertedWithCustomError(contract, "TooEarly")
        .withArgs(BigInt(announcedAt + 7 * DAY - 1), BigInt(announcedAt + 7 * DAY));
      await networkHelpers.time.setNextBlockTimestamp(announcedAt + 7 * DAY);
      await expect(contract.connect(next).acceptWriter(id))
        .to.emit(contract, "WriterChanged")
        .withArgs(id, writer.address, next.address, 12n);
      expect(await contract.writerOf(id)).to.equal(next.address);
      expect([...(await contract.announcedWriter(id))]).to.deep.equal([ZeroAddress, 0n, false]);
    });

    it("should let the new writer anchor and refuse the old writer, whoever sends the old writer's signature", async () => {
      const { contract, id, writer, next, tree, anchor, succeed, signAnchor, head } = ledger();
      await anchor(12);
      const signedBefore = await signAnchor(writer, 2n, 20, rootAt(tree, 20));
      await succeed();
      const proof = proofOf(tree, 12, 20);
      await expect(contract.connect(writer).anchor(id, 20, rootAt(tree, 20), proof, "0x"))
        .to.be.revertedWithCustomError(contract, "NotWriter")
        .withArgs(writer.address, next.address);
      await expect(contract.anchor(id, 20, rootAt(tree, 20), proof, signedBefore))
        .to.be.revertedWithCustomError(contract, "InvalidSignature")
        .withArgs(next.address);
      await contract.connect(next).anchor(id, 20, rootAt(tree, 20), proof, "0x");
      expect(await head()).to.include({ size: 20n, seq: 2n });
    });

    it("should not let the new writer rewrite anchored entries", async () => {
      const { contract, id, next, anchor, succeed } = ledger();
      await anchor(12);
      await succeed();
      await expect(contract.connect(next).anchor(id, 12, WRONG, [], "0x")).to.be.revertedWithCustomError(
        contract,
        "Inconsistent",
      );
    });

    it("should allow anchors again when the account that the guardian announced accepts", async () => {
      const { contract, id, next, guardian, tree, succeed } = ledger();
      await succeed(guardian);
      await contract.connect(next).anchor(id, 5, rootAt(tree, 5), [], "0x");
      expect(await contract.guardianOf(id)).to.equal(guardian.address);
    });

    it("should refuse everybody except the announced account, and everybody when nobody is announced", async () => {
      const { contract, id, writer, guardian, next, stranger, networkHelpers } = ledger();
      await expect(contract.connect(next).acceptWriter(id))
        .to.be.revertedWithCustomError(contract, "NothingAnnounced")
        .withArgs(id);
      await contract.connect(writer).announceWriter(id, next.address);
      await networkHelpers.time.increase(8 * DAY);
      for (const sender of [stranger, writer, guardian]) {
        await expect(contract.connect(sender).acceptWriter(id))
          .to.be.revertedWithCustomError(contract, "NotAnnounced")
          .withArgs(sender.address, next.address);
      }
    });

    it("should never accept a former writer again, because then its old words about lost entries would count again", async () => {
      const { contract, id, writer, next, succeed } = ledger();
      await succeed();
      await expect(contract.connect(next).announceWriter(id, writer.address))
        .to.be.revertedWithCustomError(contract, "WasWriter")
        .withArgs(writer.address);
    });
  });

  describe("words of a former writer", () => {
    it("should be evidence for thirty days, for sizes up to the anchored size at the change of writer", async () => {
      const { contract, id, writer, next, tree, anchor, succeed, headWord, networkHelpers } = ledger();
      await anchor(12);
      const lie = await headWord(12, WRONG);
      const shorterLie = await headWord(3, WRONG);
      const lost = await headWord(13, WRONG);
      await succeed();
      const changedAt = await networkHelpers.time.latest();
      const until = BigInt(changedAt + 30 * DAY);
      expect([...(await contract.formerWriter(id, writer.address))]).to.deep.equal([12n, until]);
      await contract.connect(next).anchor(id, 40, rootAt(tree, 40), proofOf(tree, 12, 40), "0x");

      // Entries that the old writer signed and never anchored do not bind the new writer.
      await expect(contract.proveFork(id, lost, STORED, rootAt(tree, 13), proofOf(tree, 13, 40)))
        .to.be.revertedWithCustomError(contract, "NoEvidence")
        .withArgs(writer.address, 13n, 12n, until);
      await contract.proveFork.staticCall(id, shorterLie, STORED, rootAt(tree, 3), proofOf(tree, 3, 40));

      const late = await networkHelpers.takeSnapshot();
      await networkHelpers.time.setNextBlockTimestamp(until + 1n);
      await expect(contract.proveFork(id, lie, STORED, rootAt(tree, 12), proofOf(tree, 12, 40)))
        .to.be.revertedWithCustomError(contract, "NoEvidence")
        .withArgs(writer.address, 12n, 12n, until);
      await late.restore();
      await networkHelpers.time.setNextBlockTimestamp(until);
      await contract.proveFork(id, lie, STORED, rootAt(tree, 12), proofOf(tree, 12, 40));
      expect(await contract.isEquivocated(id)).to.equal(true);
    });

    it("should be evidence together with a word of the new writer", async () => {
      const { contract, id, next, tree, anchor, succeed, headWord } = ledger();
      await anchor(12);
      const old = await headWord(12, rootAt(tree, 12));
      await succeed();
      const lie = await headWord(12, WRONG, next);
      await contract.proveFork(id, old, lie, WRONG, []);
      expect(await contract.isEquivocated(id)).to.equal(true);
    });

    it("should not count words of the announced writer before it is the writer", async () => {
      const { contract, id, writer, next, anchor, headWord, tree } = ledger();
      await anchor(12);
      await contract.connect(writer).announceWriter(id, next.address);
      const early = await headWord(12, WRONG, next);
      await expect(contract.proveFork(id, early, STORED, rootAt(tree, 12), []))
        .to.be.revertedWithCustomError(contract, "NotWriter")
        .withArgs(next.address, writer.address);
    });
  });
});
