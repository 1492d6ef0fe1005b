import { expect } from "chai";
import * as fc from "fast-check";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { bodyWithout, canonicalBody, type RecordBody } from "tallystick-protocol/json/recordBody";
import { checkNestedSignature } from "tallystick-protocol/records/nestedSignature";
import {
  isSignedBy,
  recordDigest,
  recordFromPayload,
  recordPayload,
  recordSigningHash,
  recoverBodySigner,
  signBody,
  signRecord,
} from "tallystick-protocol/records/record";
import { hashMessage, recoverMessageAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { anyRecordBody } from "../../support/arbitraries.ts";
import { readVectors } from "../../vectors/vectors.ts";

type Vector = {
  name: string;
  type: string;
  privateKey: Hex;
  body: RecordBody;
  canonical: string;
  digest: Hex;
  signer: Address;
  signature: Hex;
  highS: Hex;
};
const { records } = readVectors<{ records: Vector[] }>("records.json");

/** The signature with this recovery byte. */
function withV(signature: Hex, v: number): Hex {
  return `${signature.slice(0, 130)}${v.toString(16).padStart(2, "0")}` as Hex;
}

describe("signed records", () => {
  for (const vector of records) {
    it(`equal the golden vector: ${vector.name}`, async () => {
      const { body, privateKey, signer, signature } = vector;
      const type = vector.type as "listing" | "receipt";
      expect(canonicalBody(body)).to.equal(vector.canonical);
      expect(recordDigest(body)).to.equal(vector.digest);
      expect(await signRecord({ type, body, privateKey })).to.deep.equal({ type, body, signer, signature });
      expect(recoverBodySigner(body, signature)).to.equal(signer);
      expect(() => recoverBodySigner(body, vector.highS)).to.throw(InvalidInputError, "signature: ");
    });
  }

  it("are signed like messages of wallets: EIP-191 over the 32 bytes of the digest", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    await fc.assert(
      fc.asyncProperty(anyRecordBody, async (body) => {
        const signature = await signBody(body, { account });
        const raw = recordDigest(body);
        expect(recordSigningHash(body)).to.equal(hashMessage({ raw }));
        expect(await recoverMessageAddress({ message: { raw }, signature })).to.equal(account.address);
        expect(isSignedBy(body, signature, account.address.toLowerCase() as Address)).to.equal(true);
      }),
      { numRuns: 30 },
    );
  });

  it("accept v as 27, 28, 0 or 1 and nothing else", () => {
    const { body, signature, signer } = records[0]!;
    const v = Number.parseInt(signature.slice(130), 16);
    expect(recoverBodySigner(body, withV(signature, v - 27))).to.equal(signer);
    for (const wrong of [2, 3, 26, 29, 30, 255]) {
      expect(() => recoverBodySigner(body, withV(signature, wrong))).to.throw(
        InvalidInputError,
        "v = 27 or 28",
      );
    }
  });

  it("are refused with the field's name if the bytes are not a signature", () => {
    const { body, signature } = records[0]!;
    const wrong = [
      "0x",
      "0x00",
      signature.slice(0, -2),
      `${signature}00`,
      signature.slice(2),
      "0xzz",
      `0x${"00".repeat(65)}`,
    ];
    for (const bytes of wrong) {
      expect(() => recoverBodySigner(body, bytes, "buyer_signature"))
        .to.throw(InvalidInputError)
        .with.property("field", "buyer_signature");
    }
  });

  it("are refused with any changed bit of the signature, or any other body", () => {
    const { body, signature, signer } = records[1]!;
    const bytes = fromHex(signature);
    for (let bit = 0; bit < 8 * 65; bit += 3) {
      const flipped = bytes.with(bit >> 3, bytes[bit >> 3]! ^ (1 << (bit & 7)));
      expect(isSignedBy(body, toHex(flipped), signer), `bit ${bit}`).to.equal(false);
    }
    expect(isSignedBy({ ...body, amount_usdc_atomic: "500001" }, signature, signer)).to.equal(false);
    expect(isSignedBy(bodyWithout(body, "network"), signature, signer)).to.equal(false);
  });

  it("are unchanged in a ledger entry's payload", () => {
    for (const { type, body, signer, signature } of records) {
      const record = { type, body, signer, signature };
      expect(recordFromPayload(parsePythonJson(dumpsPythonJson(recordPayload(record))))).to.deep.equal(
        record,
      );
    }
  });

  it("are refused with every wrong field if a payload is not a record", () => {
    expect(() =>
      recordFromPayload(parsePythonJson('{"type": "", "signer": "0xAB", "signature": "0x1", "body": {}}')),
    )
      .to.throw(InvalidInputError)
      .with.property("issues")
      .satisfies(
        (issues: { field: string }[]) => issues.map(({ field }) => field).join() === "type,signer,signature",
      );
    expect(() => recordFromPayload({}))
      .to.throw(InvalidInputError)
      .with.property("issues")
      .that.deep.equals([
        { field: "type", message: "must be a lower-case name of at most 64 characters" },
        { field: "signer", message: "must be 0x and 40 lower-case hex digits" },
        { field: "signature", message: "must be 0x and an even number of hex digits" },
      ]);
    const { signer, signature } = records[0]!;
    const withBody = (body: PyJson) => () => recordFromPayload({ type: "listing", signer, signature, body });
    expect(withBody({ price: 0.5 })).to.throw(InvalidInputError, /^body\.price: /);
    expect(withBody([])).to.throw(InvalidInputError, /^body: must be an object/);
    for (const none of [null, [], "text", 1n, true])
      expect(() => recordFromPayload(none), String(none)).to.throw(
        InvalidInputError,
        /^payload: must be an object$/,
      );
    const good = { type: "listing", signer, signature, body: {} };
    expect(recordFromPayload(good)).to.deep.equal(good);
    expect(() => recordFromPayload({ ...good, type: ["listing"] })).to.throw(InvalidInputError, /^type: /);
    expect(() => recordFromPayload({ type: "listing", signer, signature })).to.throw(
      InvalidInputError,
      /^body: must be an object/,
    );
    // A field that the payload only inherits is missing.
    expect(() => recordFromPayload(Object.create(good))).to.throw(InvalidInputError, /^type: /);
  });

  it("may have a countersignature over the same body without this signature", () => {
    const countersigned = records[2]!.body;
    const buyer = countersigned.buyer as Address;
    expect(checkNestedSignature(countersigned, "buyer_signature", buyer)).to.equal(true);
    expect(checkNestedSignature(countersigned, "buyer_signature", records[2]!.signer)).to.equal(false);
    expect(checkNestedSignature({ ...countersigned, latency_ms: 1 }, "buyer_signature", buyer)).to.equal(
      false,
    );
    expect(checkNestedSignature(records[1]!.body, "buyer_signature", buyer)).to.equal(false);
    // A signature that the body only inherits is none.
    const { buyer_signature: inherited, ...own } = countersigned;
    const heir = Object.assign(Object.create({ buyer_signature: inherited }), own) as RecordBody;
    expect(checkNestedSignature(heir, "buyer_signature", buyer)).to.equal(false);
  });
});
