import { expect } from "chai";
import { anchorWord, headWord, storedWord, wordKind } from "tallystick-protocol/ledger/word";

const signed = {
  signer: `0x${"11".repeat(20)}`,
  size: 7n,
  root: `0x${"22".repeat(32)}`,
  signature: `0x${"33".repeat(65)}`,
} as const;

describe("a word for proveFork", () => {
  it("has the contract's number for its kind: 0 for the stored head, 1 for a head, 2 for an anchor", () => {
    expect(storedWord.kind).to.equal(0);
    expect(wordKind).to.deep.equal({ stored: 0, head: 1, anchor: 2 });
  });

  it("has the seq that was signed if it is an anchor, and 0 if it is a head", () => {
    expect(headWord(signed)).to.deep.equal({ ...signed, kind: 1, seq: 0n });
    expect(anchorWord({ ...signed, seq: 9n })).to.deep.equal({ ...signed, kind: 2, seq: 9n });
    // An anchor has the same fields as a head, and its seq is no part of a head.
    expect(headWord(anchorWord({ ...signed, seq: 9n }))).to.deep.equal({ ...signed, kind: 1, seq: 0n });
  });
});
