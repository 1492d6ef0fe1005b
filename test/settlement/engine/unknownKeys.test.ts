import { expect } from "chai";
import type { RecordBody, RecordJson } from "tallystick-protocol/json/recordBody";
import {
  MAX_UNKNOWN_BYTES,
  unknownOfListing,
  unknownOfReceipt,
} from "../../../services/settlement/engine/unknownKeys.ts";
import { listingBody, receiptBody } from "../support/records.ts";

/** A text that, as the value of a key with one letter, has this many bytes together with the key. */
const textOf = (bytes: number) => "x".repeat(bytes - '"k":""'.length);
const rest = `is no field of the schema; such keys may have ${MAX_UNKNOWN_BYTES} bytes in all, and this one`;

describe("the keys of a record that its schema does not name", () => {
  const kinds: [of: (body: RecordBody) => object[], body: RecordBody][] = [
    [unknownOfListing, listingBody()],
    [unknownOfReceipt, receiptBody()],
  ];

  it("may have 4,096 bytes in all, counted in UTF-8 with their names", () => {
    for (const [of, body] of kinds) {
      expect(of(body)).to.deep.equal([]);
      expect(of({ ...body, k: textOf(4_096) })).to.deep.equal([]);
      expect(of({ ...body, k: textOf(2_000), l: textOf(2_096) })).to.deep.equal([]);
      expect(of({ ...body, k: "é".repeat(2_045) })).to.deep.equal([]);
      expect(of({ ...body, k: "é".repeat(2_045), l: 1 })).to.have.length(1);
      expect(of({ ...body, k: textOf(4_097) })).to.deep.equal([
        { field: "body.k", message: `${rest} has 4097` },
      ]);
      expect(of({ ...body, k: textOf(2_000), l: textOf(2_050), m: textOf(47) })).to.deep.equal([
        { field: "body.l", message: `${rest} and 2 more have 4097` },
      ]);
      const [long] = of({ ...body, ["n".repeat(4_096)]: 1 });
      expect(long, "a name is cut").to.have.property("field", `body.${"n".repeat(64)}`);
    }
  });

  it("do not include the keys of the schema, except for a listing's audit, which has no fixed form", () => {
    const long = textOf(5_000);
    expect(unknownOfListing(listingBody({ endpoint: long }))).to.deep.equal([]);
    expect(unknownOfReceipt(receiptBody({ hire_id: long }))).to.deep.equal([]);
    expect(unknownOfListing(listingBody({ audit: { k: long } }))[0]).to.include({ field: "body.audit" });
  });

  it("include those of a receipt's verification and of its checks", () => {
    const found = (verification: RecordJson) => unknownOfReceipt(receiptBody({ verification }));
    const field = (verification: RecordJson) => found(verification).map((issue) => issue.field);
    const long = textOf(4_097);
    expect(field({ all_passed: true, checks: [], k: long })).to.deep.equal(["body.verification.k"]);
    expect(field({ k: long })).to.deep.equal(["body.verification.k"]);
    const checks: RecordJson = [{ name: long, passed: true }, { name: "a", k: long }, { k: "" }];
    expect(field({ checks })).to.deep.equal(["body.verification.checks.1.k"]);
    expect(field({ checks: ["a", null, [long], { name: "a" }] })).to.deep.equal([]);
    expect(field({ k: textOf(2_048), checks: [{ k: textOf(2_049) }] })).to.deep.equal([
      "body.verification.checks.0.k",
    ]);
    const others: RecordJson[] = [
      null,
      long,
      [long],
      { all_passed: long },
      { checks: long },
      { checks: null },
    ];
    for (const none of others) expect(found(none)).to.deep.equal([]);
  });

  it("are not the names of checks: a receipt may name 256 checks, with 128 characters each", () => {
    const issues = (checks: RecordBody, more: RecordBody = {}) =>
      unknownOfReceipt(receiptBody({ verification: { checks }, ...more })).map(
        ({ field, message }) => `${field} ${message}`,
      );
    const named = (count: number, name = "") =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}${name}`, true]));
    const field = "body.verification.checks";
    const tooMany = `${field} must have at most 256 checks`;
    const tooLong = `${field} must have names of at most 128 characters`;
    expect(issues(named(256))).to.deep.equal([]);
    expect(issues(named(257))).to.deep.equal([tooMany]);
    expect(issues({ ["n".repeat(128)]: true })).to.deep.equal([]);
    expect(issues({ a: true, ["n".repeat(129)]: true })).to.deep.equal([tooLong]);
    expect(issues(named(257), { k: textOf(4_097) })).to.deep.equal([`body.k ${rest} has 4097`, tooMany]);
  });
});
