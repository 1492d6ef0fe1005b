import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import * as fc from "fast-check";
import { actionHash, readAction } from "tallystick-protocol/actions/action";
import {
  issueSettlementToken,
  type SettlementTokenClaims,
  verifySettlementToken,
} from "tallystick-protocol/actions/settlementToken";
import { rules } from "./support/bypasses.ts";

const secretKey = new Uint8Array(32).fill(7);
const publicKey = ed25519.getPublicKey(secretKey);
const sign = (message: Uint8Array): Uint8Array => ed25519.sign(message, secretKey);
const action = { type: "deletion", path: "/srv/project/build/app.js", recursive: false };
const NOW = 1_800_000_000;

function claims(changes: Partial<SettlementTokenClaims> = {}): SettlementTokenClaims {
  return {
    version: 1,
    origin: "tallystick.local/demo",
    action_hash: actionHash(readAction(action)),
    context_hash: "c".repeat(64),
    entry_hash: "e".repeat(64),
    parent_hash: "a".repeat(64),
    rule: rules.rules[0]?.id ?? "rule",
    issued_at: NOW,
    expires_at: NOW + 60,
    ...changes,
  };
}

const check = (token: string, changes: object = {}) =>
  verifySettlementToken({
    token,
    action,
    publicKey,
    origin: "tallystick.local/demo",
    now: NOW + 1,
    ...changes,
  });

describe("the hash of an action", () => {
  it("is the SHA-256 of its canonical JSON behind a line that says what is hashed", () => {
    const text =
      'tallystick action v1\n{"path":"/srv/project/build/app.js","recursive":false,"type":"deletion"}';
    expect(actionHash(readAction(action))).to.equal(createHash("sha256").update(text).digest("hex"));
  });
});

describe("verifySettlementToken", () => {
  const token = issueSettlementToken(claims(), sign);

  it("accepts a token for exactly its action, in any order of the fields", () => {
    const verdict = check(token, { action: { recursive: false, path: action.path, type: "deletion" } });
    expect(verdict).to.deep.equal({ valid: true, claims: claims() });
  });

  it("refuses a token for any other action", () => {
    for (const other of [
      { ...action, recursive: true },
      { ...action, path: "/srv/project/build/app2.js" },
      { ...action, path: "/srv/project/build/x/../app.js" },
      { ...action, extra: 1 },
      null,
      "rm -rf /",
    ]) {
      expect(check(token, { action: other }).valid).to.equal(false);
    }
  });

  it("accepts a token from five seconds before its issue until it expires", () => {
    expect(check(token, { now: NOW + 59 }).valid).to.equal(true);
    expect(check(token, { now: NOW + 60 })).to.deep.equal({ valid: false, reason: "has expired" });
    expect(check(token, { now: NOW - 5 }).valid).to.equal(true);
    expect(check(token, { now: NOW - 6 }).valid).to.equal(false);
    expect(check(token, { now: Number.NaN }).valid).to.equal(false);
  });

  it("refuses a token that was used before, if the caller knows the used tokens", () => {
    const used = new Set<string>();
    const isUsed = (hash: string): boolean => used.has(hash);
    expect(check(token, { isUsed }).valid).to.equal(true);
    used.add(claims().entry_hash);
    expect(check(token, { isUsed })).to.deep.equal({ valid: false, reason: "was used before" });
  });

  it("refuses a token of another service or of another ledger", () => {
    const other = ed25519.getPublicKey(new Uint8Array(32).fill(8));
    expect(check(token, { publicKey: other })).to.deep.equal({
      valid: false,
      reason: "is not signed by this service",
    });
    expect(check(token, { origin: "elsewhere" }).valid).to.equal(false);
    expect(check(token, { publicKey: new Uint8Array(3) }).valid).to.equal(false);
  });

  it("refuses a signature of the same key over the text without its prefix", () => {
    const text = JSON.stringify(claims(), Object.keys(claims()).sort());
    const plain = Buffer.from(sign(Buffer.from(text))).toString("base64url");
    expect(check(`tst_${Buffer.from(text).toString("base64url")}.${plain}`).valid).to.equal(false);
  });

  it("refuses a token with changed claims, or with the same claims in another spelling", () => {
    const [body = "", signature = ""] = token.slice(4).split(".");
    const text = Buffer.from(body, "base64url").toString();
    const forged = (changed: string): string =>
      `tst_${Buffer.from(changed).toString("base64url")}.${signature}`;
    expect(check(forged(text)).valid).to.equal(true);
    expect(check(forged(text.replace(`${NOW + 60}`, `${NOW + 9999}`))).valid).to.equal(false);
    expect(check(forged(text.replace("{", "{ "))).valid).to.equal(false);
    expect(check(forged(text.replace('"version":1', '"version":1,"x":1'))).valid).to.equal(false);
  });

  it("accepts tokens of ledgers with names of any length, whose texts need all kinds of padding", () => {
    for (let length = 1; length <= 24; length++) {
      const origin = `${"l".repeat(length - 1)}é`;
      const verdict = check(issueSettlementToken(claims({ origin }), sign), { origin });
      expect(verdict, origin).to.deep.equal({ valid: true, claims: claims({ origin }) });
    }
  });

  it("refuses a signed token in another spelling", () => {
    const text = JSON.stringify(claims(), Object.keys(claims()).sort());
    const signed = (spelling: string): string => {
      const signature = sign(Buffer.from(`tallystick settlement token v1\n${spelling}`));
      return `tst_${Buffer.from(spelling).toString("base64url")}.${Buffer.from(signature).toString("base64url")}`;
    };
    expect(signed(text)).to.equal(token);
    expect(check(signed(text.replace("{", "{ ")))).to.deep.equal({
      valid: false,
      reason: "is no settlement token",
    });
  });

  it("does not read a token of 4,096 characters or more", () => {
    const reasons = [4_095, 4_096].map((length) => {
      // The length of a text in base 64 is never one more than a multiple of four.
      const padded = ["a", "bb", "ccc", "dddd"]
        .map((origin) => issueSettlementToken(claims({ origin }), sign).padEnd(length, "A"))
        .find((one) => (one.split(".")[1] as string).length % 4 !== 1);
      const verdict = check(padded as string);
      return verdict.valid ? "none" : verdict.reason;
    });
    expect(reasons).to.deep.equal(["is not signed by this service", "is no settlement token"]);
  });

  it("says why it refuses", () => {
    const reason = (given: string, changes: object = {}) => {
      const verdict = check(given, changes);
      return verdict.valid ? "none" : verdict.reason;
    };
    for (const none of [
      "",
      `x${token}`,
      ` ${token}`,
      `${token}.`,
      `${token}\n`,
      token.slice(1),
      "tst_.",
      "tst_e30.e30",
    ])
      expect(reason(none), none).to.equal("is no settlement token");
    expect(reason([token] as unknown as string)).to.equal("is no settlement token");
    expect(reason(token, { origin: "elsewhere" })).to.equal("is of another ledger, tallystick.local/demo");
    expect(reason(token, { now: NOW - 6 })).to.equal("is not valid yet");
    expect(reason(token, { action: null })).to.equal("cannot permit this, because it is not an action");
    expect(reason(token, { action: { ...action, recursive: true } })).to.equal("is for another action");
  });

  it("refuses a key of small order, for which one signature is valid for many texts", () => {
    const weak = Uint8Array.of(1, ...new Uint8Array(31));
    const anySignature = () => Uint8Array.of(1, ...new Uint8Array(63));
    expect(check(issueSettlementToken(claims(), anySignature), { publicKey: weak })).to.deep.equal({
      valid: false,
      reason: "is not signed by this service",
    });
  });

  it("refuses the same claims in bytes that are not UTF-8", () => {
    const origin = "\ufffd";
    const given = issueSettlementToken(claims({ origin }), sign);
    expect(check(given, { origin }).valid).to.equal(true);
    const [body = "", signature = ""] = given.slice(4).split(".");
    const bytes = Buffer.from(body, "base64url");
    const at = bytes.indexOf(Buffer.from(origin));
    const respelled = Buffer.concat([bytes.subarray(0, at), Buffer.of(0xff), bytes.subarray(at + 3)]);
    expect(check(`tst_${respelled.toString("base64url")}.${signature}`, { origin }).valid).to.equal(false);
  });

  it("never throws, and accepts no damaged token", () => {
    const damaged = fc
      .tuple(fc.nat(token.length - 1), fc.constantFrom(..."AZaz09-_.=+/ "))
      .map(([at, sign]) => token.slice(0, at) + sign + token.slice(at + 1))
      .filter((text) => text !== token);
    fc.assert(
      fc.property(damaged, (text) => !check(text).valid),
      { numRuns: 200 },
    );
    fc.assert(fc.property(fc.anything(), (value) => !check(value as string).valid));
  });
});
