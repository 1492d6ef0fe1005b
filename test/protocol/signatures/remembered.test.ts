import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { checkNestedSignature } from "tallystick-protocol/records/nestedSignature";
import { isSignedBy, signBody, signerOf } from "tallystick-protocol/records/record";
import { recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { remembered } from "tallystick-protocol/signatures/remembered";

const privateKey = `0x${"11".repeat(32)}` as const;
const signer = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a" as Address;

describe("remembered recovery", () => {
  const body: RecordBody = { hire_id: "h", latency_ms: 3 };
  let signature: string;
  let asked: number;
  const counting = () => {
    asked = 0;
    return remembered((...question) => {
      asked++;
      return recoverByNoble(...question);
    });
  };
  before(async () => {
    signature = await signBody(body, { privateKey });
  });

  it("recovers the key only once for each body object and signature", async () => {
    const recover = counting();
    for (let n = 0; n < 3; n++) expect(isSignedBy(body, signature, signer, recover)).to.equal(true);
    expect(isSignedBy(body, signature, `0x${"00".repeat(20)}`, recover)).to.equal(false);
    expect(asked).to.equal(1);
    expect(isSignedBy({ ...body }, signature, signer, recover)).to.equal(true);
    expect(asked).to.equal(2);
    const other = await signBody({ ...body, latency_ms: 4 }, { privateKey });
    expect(isSignedBy(body, other, signer, recover)).to.equal(false);
    expect(isSignedBy(body, signature, signer, recover)).to.equal(true);
    expect(asked).to.equal(3);
  });

  it("distinguishes a signature over a body from a signature inside of the body", () => {
    const recover = counting();
    const countersigned = { ...body, buyer_signature: signature };
    for (let n = 0; n < 2; n++) {
      expect(checkNestedSignature(countersigned, "buyer_signature", signer, recover)).to.equal(true);
      expect(isSignedBy(countersigned, signature, signer, recover)).to.equal(false);
      expect(signerOf(countersigned, signature, recover, "hire_id")).to.not.equal(signer);
    }
    expect(asked).to.equal(3);
  });

  it("remembers that a signature is invalid", () => {
    const recover = counting();
    const forged = `0x${"ff".repeat(32)}${"01".repeat(32)}1b`;
    for (let n = 0; n < 2; n++) expect(signerOf(body, forged, recover)).to.equal(null);
    expect(asked).to.equal(1);
  });

  it("uses results that another thread computed", () => {
    const recover = counting();
    recover.known.add(body, { signature, signer });
    expect(isSignedBy(body, signature, signer, recover)).to.equal(true);
    expect(asked).to.equal(0);
  });
});
