import { expect } from "chai";
import { lookupText } from "../../../services/settlement/engine/lookupText.ts";
import { recordKey } from "../../../services/settlement/engine/recordKey.ts";

describe("the key of a record", () => {
  const digest = () => "0xd1";
  const unasked = () => expect.fail("the digest is not needed");

  it("is made of what its type may have only once, or of type, signer and digest", () => {
    const receipt = { type: "receipt", signer: "0x01", body: { agent_id: "0x02", hire_id: "h" } };
    expect(recordKey(receipt, unasked)).to.equal("receipt 0x02 h");
    const stake = { type: "verify", signer: "0x01", body: { proposal: "p", task_id: "t" } };
    expect(recordKey(stake, unasked)).to.equal("vote p 0x01 t");
    for (const type of ["listing", "no such type"])
      expect(recordKey({ type, signer: "0x01", body: {} }, digest)).to.equal(`${type} 0x01 0xd1`);
  });

  it("is a text also for a record with values of other kinds, whatever functions these values lack", () => {
    const odd = JSON.parse('{"toString": 1}');
    expect(recordKey({ type: odd, signer: odd, body: {} }, digest)).to.equal("  0xd1");
    const body = { agent_id: odd, hire_id: [7] };
    expect(recordKey({ type: "receipt", signer: odd, body }, unasked)).to.equal("receipt  ");
    const cases: [unknown, string][] = [
      ["a", "a"],
      [7n, "7"],
      [true, "true"],
      [null, "null"],
      [undefined, "undefined"],
      [[], ""],
      [{}, ""],
      [odd, ""],
    ];
    for (const [value, text] of cases) expect(lookupText(value)).to.equal(text);
  });
});
