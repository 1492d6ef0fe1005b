import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { type DisclosedHire, readDisclosure, writeDisclosure } from "tallystick-protocol/audits/disclosure";
import { InvalidInputError } from "tallystick-protocol/errors";
import { hireId } from "tallystick-protocol/hire/hireIds";
import { signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { jsonHash, paramsHash } from "tallystick-protocol/hire/paramsHash";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const buyer = account.address.toLowerCase() as Address;
const seller: Address = `0x${"ab".repeat(20)}`;
const other: Address = `0x${"cd".repeat(20)}`;
const nonce = `0x${"0c".repeat(16)}`;
const params = { text: "a text", half: 0.5 };
const result = { words: ["one", 1.5] };
const terms = {
  protocol: "swarmwage/v0.3",
  buyer_id: buyer,
  seller_id: seller,
  capability: "text.summarize",
  params,
  nonce,
};
const hire: DisclosedHire = {
  seller,
  buyer,
  capability: "text.summarize",
  hireId: hireId(buyer, nonce),
  paramsHash: paramsHash(params),
  resultHash: jsonHash(result),
};

const fault = (value: unknown, of: DisclosedHire = hire): string => {
  try {
    readDisclosure(value, of);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return (error as InvalidInputError).issues.map(({ field, message }) => `${field}: ${message}`).join("; ");
  }
  return "none";
};

describe("the work of a hire that is shown to an auditor", () => {
  it("is read as it was written, if the buyer asked for it and the seller delivered it", async () => {
    const request = await signHireRequest(terms, { account });
    const shown = writeDisclosure({ request, result });
    expect(JSON.parse(JSON.stringify(shown))).to.deep.equal(shown);
    expect(readDisclosure(shown, hire)).to.deep.equal({ request, params, result });
    // The order of the members makes no difference.
    const { nonce: first, ...rest } = request;
    expect(fault(writeDisclosure({ request: { nonce: first, ...rest }, result }))).to.equal("none");
  });

  it("has null as its result if there is none", async () => {
    const request = await signHireRequest(terms, { account });
    const shown = writeDisclosure({ request, result: undefined });
    expect(shown.result).to.equal("null");
    expect(readDisclosure(shown, { ...hire, resultHash: jsonHash(null) }).result).to.equal(null);
  });

  it("is refused if it is not the work of the hire, with the part that differs and what the hire has", async () => {
    const request = await signHireRequest(terms, { account });
    const shown = writeDisclosure({ request, result });
    const hash = `0x${"ef".repeat(32)}` as const;
    for (const [change, field, wanted] of [
      [{ buyer: other }, "request.buyer_id", other],
      [{ capability: "text.translate" }, "request.capability", "text.translate"],
      [{ hireId: hash }, "request.nonce", hash],
      [{ paramsHash: hash }, "request.params", hash],
      [{ resultHash: hash }, "result", hash],
    ] as const)
      expect(fault(shown, { ...hire, ...change })).to.equal(`${field}: must fit the hire: ${wanted}`);
    expect(fault(shown, { ...hire, seller: other })).to.equal(
      `seller_id: must be ${other}, the address of this seller`,
    );
    expect(fault({ ...shown, result: "null" })).to.equal(`result: must fit the hire: ${hire.resultHash}`);
  });

  it("is refused if its buyer named no seller, signed nothing, or gave it no nonce", async () => {
    const { seller_id: _, ...unbound } = terms;
    const toAnyone = await signHireRequest(unbound, { account });
    expect(fault(writeDisclosure({ request: toAnyone, result }))).to.equal(
      `request.seller_id: must fit the hire: ${seller}`,
    );
    const unsigned = "request.signature: must fit the hire: a signature of its buyer";
    const old = await signHireRequest({ ...terms, protocol: "swarmwage/v0.2" }, { account });
    for (const missing of ["signature", "nonce"]) {
      const { [missing]: __, ...request } = old;
      expect(fault(writeDisclosure({ request, result })), missing).to.equal(unsigned);
    }
    expect(fault(writeDisclosure({ request: old, result }))).to.equal("none");
  });

  it("is refused with the part that cannot be read", () => {
    expect(fault(null)).to.match(/^The input|^: /);
    expect(fault({ request: 1, result: "" })).to.match(/^request: /);
    expect(fault({ request: "{", result: "1" })).to.equal(": is no JSON");
    expect(fault({ request: "[]", result: "1" })).to.equal(": must be a JSON object");
  });
});
