import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { EMPTY_ROOT, ORIGIN, useLedger } from "../support/ledger.ts";

describe("AnchoredLedger: open", () => {
  const ledger = useLedger();

  it("should open a ledger under an id that anybody can compute beforehand, and emit the id", async () => {
    const { contract, stranger, guardian, idOf } = ledger();
    const id = idOf(stranger.address, "log.example/1");
    const args = ["log.example/1", stranger.address, guardian.address] as const;
    expect(await contract.open.staticCall(...args)).to.equal(id);
    await expect(contract.open(...args))
      .to.emit(contract, "Opened")
      .withArgs(id, stranger.address, guardian.address, "log.example/1");
    expect(await contract.writerOf(id)).to.equal(stranger.address);
    expect(await contract.guardianOf(id)).to.equal(guardian.address);
    expect(await contract.isEquivocated(id)).to.equal(false);
  });

  it("should begin with the empty tree, at the time of opening, before the first anchor", async () => {
    const { head, networkHelpers } = ledger();
    const time = BigInt(await networkHelpers.time.latest());
    expect(await head()).to.deep.equal({ root: EMPTY_ROOT, size: 0n, time, seq: 0n });
  });

  it("should open any number of ledgers, one for each writer, guardian and origin, for any sender", async () => {
    const { contract, stranger, writer, guardian } = ledger();
    const asStranger = contract.connect(stranger);
    await asStranger.open("another.example", writer.address, guardian.address);
    await asStranger.open(ORIGIN, writer.address, stranger.address);
    await asStranger.open(ORIGIN, writer.address, ZeroAddress);
    await asStranger.open(ORIGIN, stranger.address, guardian.address);
    await expect(asStranger.open(ORIGIN, stranger.address, guardian.address)).to.be.revertedWithCustomError(
      contract,
      "AlreadyOpen",
    );
  });

  it("should refuse to open a ledger a second time, which would erase its head", async () => {
    const { contract, writer, guardian, id, anchor, head } = ledger();
    await anchor(10);
    await expect(contract.connect(writer).open(ORIGIN, writer.address, guardian.address))
      .to.be.revertedWithCustomError(contract, "AlreadyOpen")
      .withArgs(id);
    expect((await head()).size).to.equal(10n);
  });

  it("should accept origins of 1 to 255 bytes", async () => {
    const { contract, open, writer } = ledger();
    await open("o", writer.address);
    await open("o".repeat(255), writer.address);
    for (const [origin, length] of [
      ["", 0n],
      ["o".repeat(256), 256n],
    ] as const) {
      await expect(open(origin, writer.address))
        .to.be.revertedWithCustomError(contract, "OriginLength")
        .withArgs(length, 255n);
    }
  });

  it("should refuse the zero address as writer", async () => {
    const { contract, open } = ledger();
    await expect(open("log.example", ZeroAddress)).to.be.revertedWithCustomError(contract, "WriterIsZero");
  });

  it("should accept no evidence against a ledger that is not open", async () => {
    const { contract, writer, headWord } = ledger();
    const unknown = `0x${"42".repeat(32)}` as const;
    const one = await headWord(1, `0x${"01".repeat(32)}`, writer, unknown);
    const other = await headWord(1, `0x${"02".repeat(32)}`, writer, unknown);
    await expect(contract.proveFork(unknown, one, other, other.root, []))
      .to.be.revertedWithCustomError(contract, "UnknownLedger")
      .withArgs(unknown);
  });

  it("should publish its EIP-712 domain (ERC-5267)", async () => {
    const { contract, domain } = ledger();
    const found = await contract.eip712Domain();
    expect([found.name, found.version, found.chainId, found.verifyingContract]).to.deep.equal([
      domain.name,
      domain.version,
      domain.chainId,
      domain.verifyingContract,
    ]);
  });
});
