import { ed25519 } from "@noble/curves/ed25519.js";
import canonicalize from "canonicalize";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { namedKey, reportKeyOf } from "tallystick-protocol/trustReport/reportKey";
import { signTrustReport } from "tallystick-protocol/trustReport/signTrustReport";
import { verifyTrustReport } from "tallystick-protocol/trustReport/verifyTrustReport";

const secretKey = new Uint8Array(32).fill(7);
const { public_key: publicKey } = reportKeyOf(secretKey);
const agent_id = `0x${"1a".repeat(20)}`;
const report_date = "2026-01-31T12:00:00Z";
const report = {
  agent_id,
  report_date,
  trust_score: 0.932018869,
  factors: { uptime: { evidence: ["ü", 1e-9, null] } },
};
const signed = () =>
  signTrustReport(report, { secretKey, verificationUrl: "https://node.example/v1/report-key" });
/** The report after it was written to a file and read. */
const read = () => JSON.parse(JSON.stringify(signed(), null, 4));

describe("a trust report", () => {
  it("is signed with Ed25519 over its RFC 8785 bytes, so that any tool can check it", () => {
    const { verification, ...rest } = read().trust_report;
    const { signature, verification_url: _, ...key } = verification;
    const text = `tallystick/trust-report/v1\n${canonicalize({ ...rest, verification: key })}`;
    const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
    expect(ed25519.verify(bytes(signature), Buffer.from(text), bytes(publicKey))).to.equal(true);
  });

  it("is checked offline, with the node's key or with the key that the report names", () => {
    const good = { isValid: true, agent: agent_id, reportDate: report_date, publicKey };
    expect(verifyTrustReport(read())).to.deep.equal(good);
    expect(verifyTrustReport(read(), { publicKey: `0x${publicKey.toUpperCase()}` })).to.deep.equal(good);
    const other = reportKeyOf(new Uint8Array(32).fill(8)).public_key;
    expect(verifyTrustReport(read(), { publicKey: other })).to.include({
      isValid: false,
      reason: "other_key",
    });
  });

  it("is refused after any change, and with an invalid key", () => {
    const changed = read();
    changed.trust_report.trust_score = 0.94;
    expect(verifyTrustReport(changed)).to.include({ isValid: false, reason: "signature" });
    // A key of small order. One signature of such a key is valid for many texts.
    const weak = read();
    weak.trust_report.verification = {
      ...weak.trust_report.verification,
      public_key: `01${"00".repeat(31)}`,
      signed_by: namedKey(Uint8Array.of(1, ...new Uint8Array(31))).signed_by,
      signature: `01${"00".repeat(63)}`,
    };
    expect(verifyTrustReport(weak)).to.include({ isValid: false, reason: "signature" });
    // These bytes are no point of the curve.
    const noPoint = read();
    noPoint.trust_report.verification = {
      ...noPoint.trust_report.verification,
      public_key: "ff".repeat(32),
      signed_by: namedKey(new Uint8Array(32).fill(255)).signed_by,
    };
    expect(verifyTrustReport(noPoint)).to.include({ isValid: false, reason: "signature" });
    const misnamed = read();
    misnamed.trust_report.verification.signed_by = `sha256:${"00".repeat(32)}`;
    expect(verifyTrustReport(misnamed)).to.include({ isValid: false, reason: "signed_by" });
    for (const bad of [
      null,
      1,
      [],
      {},
      { trust_report: {} },
      { trust_report: { ...read().trust_report, agent_id: "x" } },
      { trust_report: { ...read().trust_report, report_date: "yesterday" } },
      { trust_report: { ...read().trust_report, report_date: "2026-13-31T12:00:00Z" } },
      { trust_report: { ...read().trust_report, report_date: "2026-02-31T12:00:00Z" } },
    ])
      expect(() => verifyTrustReport(bad)).to.throw(InvalidInputError, /trust_report|object/);
  });

  it("is refused as invalid input with a number that is too large for JSON, instead of a fault", () => {
    const text = JSON.stringify(read()).replace("0.932018869", "1e999");
    expect(() => verifyTrustReport(JSON.parse(text)))
      .to.throw(InvalidInputError, /^trust_report: must be JSON: ./)
      .with.property("cause")
      .that.is.instanceOf(Error);
  });

  it("that is too old or has no date is refused when the reader requires a newer report", () => {
    const then = Date.parse(report_date) / 1_000;
    expect(verifyTrustReport(read(), { notBefore: then }).isValid).to.equal(true);
    expect(verifyTrustReport(read(), { notBefore: then + 1 })).to.include({
      isValid: false,
      reason: "too_old",
    });
    const { report_date: _, ...undated } = report;
    const old = signTrustReport(undated, {
      secretKey,
      verificationUrl: "https://node.example/v1/report-key",
    });
    expect(verifyTrustReport(old)).to.include({ isValid: true, reportDate: null });
    expect(verifyTrustReport(old, { notBefore: 0 })).to.include({ isValid: false, reason: "not_dated" });
    // The date is newer than the signature.
    const dated = read();
    dated.trust_report.report_date = "2026-11-30T12:00:00Z";
    expect(verifyTrustReport(dated, { notBefore: then + 1 })).to.include({ reason: "signature" });
  });
});
