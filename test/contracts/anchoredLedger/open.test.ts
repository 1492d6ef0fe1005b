import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { EMPTY_ROOT, ORIGIN, useLedger } from "../support/ledger.ts";

describe("AnchoredLedger: open", () => {
  const ledger = useLedger();

  it("should open a ledger under the id that anybody can compute beforehand, and say so", async () => {
    const { contract, stranger, idOf } = ledger();
    const id = idOf(stranger.address, "log.example/1");
    expect(await contract.open.staticCall("log.example/1", stranger.address)).to.equal(id);
    await expect(contract.open("log.example/1", stranger.address))
      .to.emit(contract, "Opened")
      .withArgs(id, stranger.address, "log.example/1");
    expect(await contract.writerOf(id)).to.equal(stranger.address);
    expect(await contract.isEquivocated(id)).to.equal(false);
  });

  it("should begin with the empty tree, at the time of opening, before the first anchor", async () => {
    const { head, networkHelpers } = ledger();
    const time = BigInt(await networkHelpers.time.latest());
    expect(await head()).to.deep.equal({ root: EMPTY_ROOT, size: 0n, time, seq: 0n });
  });

  it("should open any number of ledgers, one per writer and origin, whoever sends", async () => {
    const { contract, stranger, writer } = ledger();
    await contract.connect(stranger).open("another.example", writer.address);
    await contract.connect(stranger).open(ORIGIN, stranger.address);
    await expect(contract.connect(stranger).open(ORIGIN, stranger.address)).to.be.revertedWithCustomError(
      contract,
      "AlreadyOpen",
    );
  });

  it("should not open one a second time, which would wipe its head", async () => {
    const { contract, writer, id, anchor, head } = ledger();
    await anchor(10);
    await expect(contract.connect(writer).open(ORIGIN, writer.address))
      .to.be.revertedWithCustomError(contract, "AlreadyOpen")
      .withArgs(id);
    expect((await head()).size).to.equal(10n);
  });

  it("should take origins of 1 to 255 bytes", async () => {
    const { contract, writer } = ledger();
    await contract.open("o", writer.address);
    await contract.open("o".repeat(255), writer.address);
    for (const [origin, length] of [
      ["", 0n],
      ["o".repeat(256), 256n],
    ] as const) {
      await expect(contract.open(origin, writer.address))
        .to.be.revertedWithCustomError(contract, "OriginLength")
        .withArgs(length, 255n);
    }
  });

  it("should refuse a ledger that nobody could write", async () => {
    const { contract } = ledger();
    await expect(contract.open("log.example", ZeroAddress)).to.be.revertedWithCustomError(
      contract,
      "WriterIsZero",
    );
  });

  it("should take no evidence against a ledger that nobody opened", async () => {
    const { contract, writer, signHead } = ledger();
    const unknown = `0x${"42".repeat(32)}`;
    const one = { ledgerId: unknown, size: 1, root: `0x${"01".repeat(32)}` };
    const other = { ...one, root: `0x${"02".repeat(32)}` };
    const signature = await signHead(writer, 1, one.root);
    const twoHeads = "proveEquivocation((bytes32,uint64,bytes32),bytes,(bytes32,uint64,bytes32),bytes)";
    await expect(contract[twoHeads](one, signature, other, signature))
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
