import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { readHireJson, toHireJson } from "tallystick-protocol/escrow/hireJson";

const hire: Hire = {
  hireId: `0x${"ab".repeat(32)}`,
  buyer: `0x${"1".repeat(40)}`,
  seller: `0x${"2".repeat(40)}`,
  payee: `0x${"3".repeat(40)}`,
  amount: (1n << 128n) - 1n,
  fee: 1n,
  feeRecipient: `0x${"4".repeat(40)}`,
  deadline: 1_800_000_000n,
  arbiter: `0x${"5".repeat(40)}`,
};

describe("the terms of an escrowed hire as JSON", () => {
  it("are the same after they are written and read", () => {
    expect(readHireJson(JSON.parse(JSON.stringify(toHireJson(hire))))).to.deep.equal(hire);
  });

  it("may omit payee, fee and arbiter", () => {
    const { payee, fee, fee_recipient, arbiter, ...rest } = toHireJson(hire);
    expect(readHireJson(rest)).to.deep.include({ fee: 0n, payee: `0x${"0".repeat(40)}` });
    expect([payee, fee, fee_recipient, arbiter].every(Boolean)).to.equal(true);
  });

  it("are refused with the name of a wrong field, and with an unknown field", () => {
    const fault = (changes: object): string | undefined => {
      try {
        readHireJson({ ...toHireJson(hire), ...changes });
      } catch (error) {
        expect(error).to.be.instanceOf(InvalidInputError);
        return (error as InvalidInputError).field;
      }
      return undefined;
    };
    expect(fault({ amount: "-1" })).to.equal("hire.amount");
    expect(fault({ amount: "all" })).to.equal("hire.amount");
    expect(fault({ fee: "1e5" })).to.equal("hire.fee");
    expect(fault({ amount: String(1n << 128n) })).to.equal("hire.amount");
    expect(fault({ amount: 5 })).to.equal("hire.amount");
    expect(fault({ buyer: `0x${"A".repeat(40)}` })).to.equal("hire.buyer");
    expect(fault({ deadline: "1" })).to.equal("hire.deadline");
    expect(fault({ hire_id: "0x12" })).to.equal("hire.hire_id");
    expect(fault({ more: 1 })).to.equal("hire");
  });
});
