import { createHash } from "node:crypto";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { noticeId } from "tallystick-protocol/notices/notice";
import { noticeSubscriptionId } from "tallystick-protocol/notices/noticeSubscription";
import { auditToken } from "tallystick-protocol/records/auditToken";
import { breachId, breachIdSchema } from "tallystick-protocol/records/breachId";
import { consensusTypes, isConsensusType } from "tallystick-protocol/records/consensus";
import { isLedgerName } from "tallystick-protocol/records/ledgerName";
import { escrowProviderOf } from "tallystick-protocol/records/paymentMode";
import { recordTypeNamed, recordTypeNames, recordTypeRoutes } from "tallystick-protocol/records/recordTypes";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The first 26 characters in base 32 of a text's SHA-256, from a text of its bits. */
function characters(text: string): string {
  const digest = createHash("sha256").update(text).digest();
  const bits = [...digest].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.slice(0, 130).match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join("");
}

describe("ids that follow from what they name", () => {
  const [hire, agent, breach] = [`0x${"ab".repeat(32)}-3`, `0x${"cd".repeat(20)}`, `brch_${"0".repeat(26)}`];

  it("are the first 130 bits of a SHA-256 in base 32, over the parts with slashes between them", () => {
    expect(auditToken({ hire, round: 2, attempt: 13, auditor: agent })).to.equal(
      `audt_${characters(`${hire}/2/13/${agent}`)}`,
    );
    expect(breachId({ agent, guarantee: "uptime/30", detected: 1_767_225_600 })).to.equal(
      `brch_${characters(`${agent}/uptime/30/1767225600`)}`,
    );
    expect(noticeSubscriptionId({ buyer: agent as Address, url: "https://b.example/n" })).to.equal(
      `nsub_${characters(`${agent}/https://b.example/n`)}`,
    );
    const notice = { subscription: "nsub_1", breach, step: "paid" } as const;
    expect(noticeId({ ...notice, record: "ef" })).to.equal(`ntc_${characters(`nsub_1/${breach}/paid/ef`)}`);
    expect(noticeId({ ...notice, record: null })).to.equal(`ntc_${characters(`nsub_1/${breach}/paid/`)}`);
  });

  it("have the form that records require of them", () => {
    const id = breachId({ agent, guarantee: "uptime/30", detected: 1 });
    expect(breachIdSchema.safeParse(id).success).to.equal(true);
    for (const bad of [id.slice(0, -1), `${id}0`, id.toLowerCase(), `x${id}`])
      expect(breachIdSchema.safeParse(bad).success, bad).to.equal(false);
  });

  it("use the given function for SHA-256", () => {
    const zeros = () => new Uint8Array(32);
    const none = "0".repeat(26);
    expect(auditToken({ hire, round: 1, attempt: 1, auditor: agent }, zeros)).to.equal(`audt_${none}`);
    expect(breachId({ agent, guarantee: "uptime/30", detected: 1 }, zeros)).to.equal(`brch_${none}`);
  });
});

describe("the identity of a record", () => {
  /** The fields that make two records of a type the same one, for every type that says it. */
  const identities: { [type: string]: string[] } = {
    receipt: ["agent_id", "hire_id"],
    rating: ["receipt", "side"],
    telemetry: ["receipt"],
    stake: ["proposal", "task_id"],
    verify: ["proposal", "task_id", "signer"],
    contest: ["proposal", "task_id", "signer"],
    review: ["proposal"],
    audit_verdict: ["signer", "hire", "round", "attempt"],
    audit_judge: ["signer", "hire", "round"],
    audit_actuation: ["signer", "hire"],
    audit_history: ["signer", "hire"],
    uptime: ["signer", "hour", "part"],
    monitoring: ["signer", "day", "part"],
    sla_dispute: ["signer", "breach"],
    sla_payment: ["signer", "tx_hash", "log_index"],
    outcomes: ["hour", "part"],
  };
  const fields = [...new Set([...Object.values(identities).flat(), "other"])].filter((it) => it !== "signer");

  /** A record in which every field has another value. One field can be changed. */
  const record = (changed?: string) => {
    const value = (name: string, n: number) => (name === changed ? 1_000 + n : n);
    const body = Object.fromEntries(fields.map((name, n) => [name, value(name, n)])) as RecordBody;
    return { signer: changed === "signer" ? "b" : "a", body };
  };

  it("is stated by exactly these types; two records of another type differ in signer or body", () => {
    expect(recordTypeNames.filter((type) => recordTypeNamed(type)?.once !== undefined)).to.have.members(
      Object.keys(identities),
    );
  });

  for (const [type, identifying] of Object.entries(identities)) {
    it(`consists of ${identifying.join(", ")} for a ${type}, and of no other field`, () => {
      const once = recordTypeNamed(type)?.once as (it: ReturnType<typeof record>) => string;
      for (const changed of [...fields, "signer"])
        expect(once(record(changed)) === once(record()), changed).to.equal(!identifying.includes(changed));
    });
  }

  it("is different for records of different types, but one signer has one vote, for or against", () => {
    const all = Object.keys(identities).map((type) => recordTypeNamed(type)?.once?.(record()));
    expect(recordTypeNamed("verify")?.once?.(record())).to.equal(
      recordTypeNamed("contest")?.once?.(record()),
    );
    expect(new Set(all).size).to.equal(all.length - 1);
  });
});

describe("the names in records", () => {
  it("of types are known, and each route settles one type", () => {
    expect(recordTypeNamed("rating")).to.have.property("route");
    for (const none of ["", "Rating", "toString", "__proto__", undefined, ["rating"]])
      expect(recordTypeNamed(none), String(none)).to.equal(undefined);
    expect(recordTypeRoutes.find(({ path }) => path === "/v1/rate")?.type).to.equal("rating");
    expect(new Set(recordTypeRoutes.map(({ path }) => path)).size).to.equal(recordTypeRoutes.length);
    expect(recordTypeRoutes.some(({ type }) => type === "pulse")).to.equal(false);
  });

  it("of steps of a consensus are stake, verify and contest", () => {
    expect(consensusTypes.map(isConsensusType)).to.deep.equal([true, true, true]);
    for (const none of ["", "rating", undefined, ["stake"]])
      expect(isConsensusType(none), String(none)).to.equal(false);
  });

  it("of ledgers are an id on chain, or local", () => {
    const id = `0x${"1e".repeat(32)}`;
    for (const good of [id, "local"]) expect(isLedgerName(good), good).to.equal(true);
    for (const bad of [
      "",
      "xlocal",
      "localx",
      `${id}0`,
      id.slice(0, -1),
      id.toUpperCase(),
      1,
      ["local"],
      null,
    ])
      expect(isLedgerName(bad), String(bad)).to.equal(false);
  });

  it("of escrow providers are in the payment mode of a platform escrow only", () => {
    expect(escrowProviderOf("platform_escrow:acme")).to.equal("acme");
    for (const other of ["direct", "custom_escrow:https://a.example", "x platform_escrow:"])
      expect(escrowProviderOf(other), other).to.equal(undefined);
  });
});
