import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError, type TallystickError } from "tallystick-protocol/errors";
import { readBudgetToken, requireBudgetToken, signBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { hireId, jobId, receiptId } from "tallystick-protocol/hire/hireIds";
import { readHireRequest, signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { jsonHash, paramsHash } from "tallystick-protocol/hire/paramsHash";
import { keccak256, sha256, stringToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount(`0x${"51".repeat(32)}`);
const buyer = account.address.toLowerCase() as Address;
const seller = `0x${"ab".repeat(20)}` as Address;
const nonce = `0x${"0c".repeat(16)}`;
const terms = {
  protocol: "swarmwage/v0.3",
  buyer_id: buyer,
  capability: "compute.statistics.mean",
  params: { data: [1, 2] },
  nonce,
};

function refusal(read: () => unknown): TallystickError {
  try {
    read();
  } catch (error) {
    return error as TallystickError;
  }
  throw new Error("nothing was refused");
}

describe("a hire", () => {
  it("must have a known version", () => {
    for (const protocol of ["swarmwage/v0.4", "swarmwage/v0.", "", 3, null, undefined, ["swarmwage/v0.3"]]) {
      const { code, field, message, hint } = refusal(() => readHireRequest({ ...terms, protocol }, seller));
      expect({ code, field, message, hint }, String(protocol)).to.deep.equal({
        code: "unsupported_protocol",
        field: "protocol",
        message: "protocol: must be one of swarmwage/v0.1, swarmwage/v0.2, swarmwage/v0.3",
        hint: 'Send "protocol": "swarmwage/v0.3".',
      });
    }
    for (const value of [null, [], "text", 1, undefined])
      expect((refusal(() => readHireRequest(value, seller)) as InvalidInputError).issues).to.deep.equal([
        { field: "", message: "must be a JSON object" },
      ]);
  });

  it("must have a nonce and a signature from v0.3 on, and may be unsigned in earlier versions", async () => {
    const signed = await signHireRequest(terms, { account });
    expect(readHireRequest(signed, seller).signed).to.equal(true);
    for (const missing of ["nonce", "signature"]) {
      const { [missing]: _, ...rest } = signed;
      expect(
        refusal(() => readHireRequest(rest, seller)),
        missing,
      ).to.include({
        code: "signature_required",
        field: missing,
        message: `${missing}: is required in a hire of swarmwage/v0.3`,
        hint: "Sign the hire and give it a fresh nonce, or send it as swarmwage/v0.2 and pay for it.",
      });
      for (const protocol of ["swarmwage/v0.1", "swarmwage/v0.2"])
        expect(readHireRequest({ ...rest, protocol }, seller).signed).to.equal(false);
    }
    const old = await signHireRequest({ ...terms, protocol: "swarmwage/v0.2" }, { account });
    expect(readHireRequest(old, seller).signed).to.equal(true);
    expect(refusal(() => readHireRequest({ ...old, protocol: "swarmwage/v0.1" }, seller))).to.include({
      code: "invalid_signature",
      field: "signature",
    });
  });

  it("is signed without undefined fields, and is accepted only by the seller that it names", async () => {
    const signed = await signHireRequest(
      { ...terms, seller_id: seller, max_latency_ms: undefined, callback_url: undefined },
      { account },
    );
    expect(signed).not.to.have.property("max_latency_ms");
    expect(readHireRequest(signed, seller).signed).to.equal(true);
    const error = refusal(() => readHireRequest(signed, buyer)) as InvalidInputError;
    expect(error.issues).to.deep.equal([
      { field: "seller_id", message: `must be ${buyer}, the address of this seller` },
    ]);
    // A new signature does not cover an earlier signature, of whatever form.
    for (const signature of [signed.signature, "none"]) {
      const again = await signHireRequest({ ...signed, signature } as unknown as typeof terms, {
        account,
      });
      expect(again.signature).to.equal(signed.signature);
    }
  });

  it("has ids that follow from buyer and nonce", () => {
    expect(hireId(buyer, nonce)).to.equal(keccak256(stringToBytes(`hire|${buyer}|${nonce}`)));
    const characters = (text: string): string => {
      const bits = BigInt(sha256(stringToBytes(text)))
        .toString(2)
        .padStart(256, "0");
      return (bits.slice(0, 130).match(/.{5}/g) ?? [])
        .map((five) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[Number.parseInt(five, 2)])
        .join("");
    };
    expect(jobId(buyer, nonce)).to.equal(`job_${characters(`job|${buyer}|${nonce}`)}`);
    expect(receiptId("0xab")).to.equal(`rcpt_${characters("0xab")}`);
  });

  it("has params that are JSON, whose hash is over their RFC 8785 bytes", () => {
    expect(paramsHash({ b: 1.5, a: [] })).to.equal(keccak256(stringToBytes('{"a":[],"b":1.5}')));
    const cycle: { self?: object } = {};
    cycle.self = cycle;
    for (const [value, what] of [
      [undefined, "it is undefined"],
      [Number.NaN, "NaN"],
      [cycle, ""],
    ] as const) {
      const error = refusal(() => jsonHash(value)) as InvalidInputError;
      expect(error).to.be.instanceOf(InvalidInputError);
      expect(error.issues).to.have.length(1);
      expect(error.issues[0]?.field).to.equal("value");
      expect(error.issues[0]?.message)
        .to.match(/^must be JSON: ./)
        .and.contain(what);
      expect(error.cause).to.be.instanceOf(Error);
    }
    expect(refusal(() => paramsHash(undefined)).field).to.equal("params");
  });
});

describe("a budget token", () => {
  const about = { agent_id: buyer, max_amount_usdc: "5.00", max_duration_seconds: 100, issued_at: 1_000 };

  it("is valid for one wallet, from its first second until its end", async () => {
    const read = readBudgetToken(await signBudgetToken(about, { account }));
    expect(read).to.deep.equal({
      operator: buyer,
      agent: buyer,
      maxAtomic: 5_000_000n,
      from: 1_000,
      until: 1_100,
    });
    for (const now of [1_000, 1_099]) expect(() => requireBudgetToken(read, buyer, now)).not.to.throw();
    for (const [agent, now, problem] of [
      [seller, 1_000, `is for ${buyer}, not for ${seller}`],
      [buyer, 999, "is not valid yet"],
      [buyer, 1_100, "has expired"],
    ] as const)
      expect(
        refusal(() => requireBudgetToken(read, agent, now)),
        problem,
      ).to.include({
        code: "budget_token_refused",
        message: `budget_token: ${problem}`,
        field: "budget_token",
        hint: "Ask the operator for a new budget token.",
      });
  });

  it("names its wallet in lower case, also when the operator wrote it with a checksum", async () => {
    const token = await signBudgetToken({ ...about, agent_id: account.address }, { account });
    expect(token).to.deep.equal(await signBudgetToken(about, { account }));
    expect(token.agent_id).to.equal(buyer);
  });

  it("is refused with the name of the wrong field", async () => {
    const token = await signBudgetToken(about, { account });
    expect(refusal(() => readBudgetToken({ ...token, max_amount_usdc: "5.0000001" })).field).to.equal(
      "budget_token.max_amount_usdc",
    );
    expect(refusal(() => readBudgetToken({ ...token, signature: `0x${"00".repeat(65)}` })).field).to.equal(
      "budget_token.signature",
    );
    expect(readBudgetToken({ ...token, max_amount_usdc: "50.00" }).operator).not.to.equal(buyer);
  });
});
