import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { PUBLISHED_FEES } from "tallystick-protocol/escrow/feeSchedule";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseClaim } from "tallystick-protocol/records/claim";
import { defineParams, parseParams } from "tallystick-protocol/records/params";
import { parseRating } from "tallystick-protocol/records/rating";
import { parseTelemetry } from "tallystick-protocol/records/telemetry";

function fieldsAtFault(read: (body: RecordBody) => unknown, body: RecordBody): string[] {
  try {
    read(body);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return (error as InvalidInputError).issues.map((it) => it.field);
  }
  return [];
}

describe("packages/protocol/records/params", () => {
  it("has the published thresholds as defaults, and trusts nobody by default", () => {
    expect(defineParams()).to.deep.include({
      windowSeconds: 30 * 86_400,
      clusterOthers: 3,
      fundingSpanSeconds: 86_400,
      maxIntermediaries: 2,
      deployBatchBlocks: 256,
      maxListings: 100,
      tier2MinSuccesses: 10,
      tier2MinSuccessRate: { numerator: 9, denominator: 10 },
      tier2MinCapabilities: 3,
      operator: null,
      claimAttestors: [],
      hubs: [],
    });
  });

  it("has the published fees, and one fee for audits, as defaults that a caller may change", () => {
    const { escrowFees, audit } = defineParams();
    expect(escrowFees).to.deep.equal(PUBLISHED_FEES);
    for (const [n, band] of escrowFees.entries()) expect(band).not.to.equal(PUBLISHED_FEES[n]);
    expect(audit.fees).to.deep.equal([{ fromAtomic: "0", feeAtomic: "5000" }]);
  });

  it("has only values that can be signed in a record", () => {
    const text = JSON.stringify(parseParams({ ...defineParams() } as RecordBody));
    expect(text).to.equal(JSON.stringify(defineParams()));
  });

  it("names the wrong field: an unknown field, a float, a share above one, an address with capitals", () => {
    expect(fieldsAtFault(parseParams, { tier2MinSucceses: 9 })).to.deep.equal(["body"]);
    expect(fieldsAtFault(parseParams, { windowSeconds: 1.5 })).to.deep.equal(["body.windowSeconds"]);
    expect(fieldsAtFault(parseParams, { minHireAtomic: "1e3" })).to.deep.equal(["body.minHireAtomic"]);
    expect(fieldsAtFault(parseParams, { fundingShare: { numerator: 5, denominator: 4 } })).to.deep.equal([
      "body.fundingShare.numerator",
    ]);
    const none = { numerator: 0, denominator: 1 };
    expect(fieldsAtFault(parseParams, { fingerprintSimilarity: none })).to.deep.equal([
      "body.fingerprintSimilarity.numerator",
    ]);
    expect(fieldsAtFault(parseParams, { hubs: [`0x${"A".repeat(40)}`] })).to.deep.equal(["body.hubs.0"]);
    expect(fieldsAtFault(parseParams, { ledgers: { short: ["receipt"] } })).to.deep.equal([
      "body.ledgers.short",
    ]);
  });
});

describe("packages/protocol/records/rating, telemetry, claim", () => {
  const receipt = "a".repeat(64);

  it("accept the required fields, and keep unknown fields", () => {
    const rating = { receipt, side: "buyer", stars: 5, mood: "good" };
    expect(parseRating(rating)).to.deep.equal(rating);
    expect(parseTelemetry({ receipt, latency_ms: 7 }).latency_ms).to.equal(7);
    const agent = `0x${"1".repeat(40)}`;
    const claim = { agent_id: agent, x_handle: "ada_l", verification_hash: receipt, state: "verified" };
    expect(parseClaim(claim).state).to.equal("verified");
  });

  it("name every field that is missing or wrong", () => {
    expect(fieldsAtFault(parseRating, {})).to.have.members(["body.receipt", "body.side", "body.stars"]);
    for (const stars of [0, 6, "5"]) {
      expect(fieldsAtFault(parseRating, { receipt, side: "seller", stars })).to.deep.equal(["body.stars"]);
    }
    expect(fieldsAtFault(parseTelemetry, { receipt: `0x${receipt}`, latency_ms: -1 })).to.have.members([
      "body.receipt",
      "body.latency_ms",
    ]);
    expect(
      fieldsAtFault(parseClaim, { agent_id: "ada", x_handle: "@ada", verification_hash: "", state: "maybe" }),
    ).to.have.length(4);
  });
});
