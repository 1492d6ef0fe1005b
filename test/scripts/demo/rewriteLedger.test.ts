import { expect } from "chai";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import { LedgerLineError, verifyLedgerLines } from "tallystick-protocol/ledger/verifyLedger";
import { rewriteLedger } from "../../../scripts/demo/rewriteLedger.ts";

const SELLER = "0x00000000000000000000000000000000000000aa";

/** A ledger of receipts, one for each `passed`. */
function ledgerOf(...receipts: { seller: string; passed: boolean }[]): string[] {
  let parentHash = GENESIS_HASH;
  return receipts.map(({ seller, passed }, index) => {
    const verification = { all_passed: passed, checks: { answered: passed } };
    const payload = {
      type: "receipt",
      body: { agent_id: seller, verification },
      signer: seller,
      signature: "0x",
    };
    const entry = sealEntry({
      timestamp: 1_767_225_600.5 + index,
      taskId: `task-${index}`,
      parentHash,
      payload,
    });
    parentHash = entry.currentHash;
    return entryLine(entry);
  });
}

describe("scripts/demo/rewriteLedger", () => {
  const other = "0x00000000000000000000000000000000000000bb";
  const lines = ledgerOf(
    { seller: other, passed: false },
    { seller: SELLER, passed: true },
    { seller: SELLER, passed: false },
    { seller: other, passed: true },
  );

  it("changes only the first failed receipt of the seller, and every verifier notices it", async () => {
    const { line, edited } = rewriteLedger(lines, SELLER);
    expect(line).to.equal(3);
    expect(edited.filter((text, index) => text !== lines[index])).to.have.length(1);
    const error = await verifyLedgerLines(edited).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(LedgerLineError).that.includes({ line: 3 });
  });

  it("can make the chain of hashes valid again, with another root and one entry more", async () => {
    const { resealed } = rewriteLedger(lines, SELLER);
    const [honest, lie] = [await verifyLedgerLines(lines), await verifyLedgerLines(resealed)];
    expect(lie.size).to.equal(honest.size + 1);
    expect(resealed.slice(0, 2)).to.deep.equal(lines.slice(0, 2));
    expect(resealed[3]).to.not.equal(lines[3]);
  });

  it("reports when there is nothing to rewrite", () => {
    expect(() => rewriteLedger(lines, "0x00000000000000000000000000000000000000cc")).to.throw(
      "no failed receipt",
    );
  });
});
