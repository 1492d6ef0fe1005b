import { expect } from "chai";
import { AUDITED, BUYER, HASHES, OTHER_HASHES, only, SELLER, say, scene, tickHash } from "./auditScene.ts";
import { DAY, type EventLog, hireIdFor, OTHER_LEDGER, wallet } from "./eventLog.ts";

const MODE = { payment_mode: "platform_escrow:swarmwage-partnered" };

/** Plays the audit of a waiting hire with these verdicts. By default two auditors fail the hire. */
async function failed(log: EventLog, verdicts = ["fail", "fail"]): Promise<EventLog> {
  log.after(60).tick(tickHash(1_000));
  for (const [n, verdict] of verdicts.entries()) {
    await say(log, verdict);
    log.after(60).tick(tickHash(1_001 + n));
  }
  return log;
}

async function decide(log: EventLog, decision: string, by = AUDITED): Promise<string> {
  const { audit } = await only(log);
  const reasons = [{ code: "fabricated", detail: "Seen by eye." }];
  return log.record("audit_actuation", by, { hire: audit.id, decision, reasons });
}

async function sellerOf(log: EventLog) {
  const { agents, store } = await log.derive();
  const [hire] = [...store.rows("hire").values()].filter((it) => it.seller === SELLER);
  return { figures: agents[SELLER], hire, store };
}

describe("a confirmed fail in bootstrap mode", () => {
  it("has no effect by itself, and no effect when it is dismissed", async () => {
    const log = scene();
    log.hire(SELLER, BUYER, HASHES);
    const { figures: before } = await sellerOf(log);
    await failed(log);
    expect((await sellerOf(log)).figures).to.deep.equal({ ...before, audits_drawn: 1 });
    await decide(log, "dismiss");
    const { figures, hire } = await sellerOf(log);
    expect(figures).to.deep.equal({ ...before, audits_drawn: 1 });
    expect(hire).to.include({ outcome: "success", dispute: false, evidence: "seller" });
  });

  it("makes the hire a disputed failure when the operator rolls it back; the tier changes, and the weight does not", async () => {
    const log = scene();
    log.hire(SELLER, BUYER, HASHES);
    expect((await sellerOf(log)).figures).to.include({
      trust_tier: 2,
      success_rate: 1,
      audit_pass_rate: null,
    });
    await failed(log);
    await decide(log, "rollback");
    const { figures, hire, store } = await sellerOf(log);
    expect(figures).to.include({
      ...{ trust_tier: 0, success_rate: 0, dispute_rate: 1, audit_pass_rate: 0 },
      ...{ last_30d_hire_count: 1, last_24h_volume_usdc: "0.50" },
    });
    expect(hire).to.include({ outcome: "failure", dispute: true, disputeSource: "audit", evidence: "audit" });
    expect(
      [...store.rows("capability").values()].find((it) => it.agent === SELLER)?.windowSuccesses,
    ).to.equal(0);
  });

  it("that was rolled back has priority over later telemetry of the buyer, except for the latency", async () => {
    const log = scene();
    const receipt = log.hire(SELLER, BUYER, { ...HASHES, latency_ms: 900 });
    await failed(log);
    await decide(log, "rollback");
    log.record("telemetry", BUYER, { receipt, latency_ms: 7, verification: { all_passed: true } });
    const { figures, hire } = await sellerOf(log);
    expect(hire).to.include({ outcome: "failure", evidence: "audit", latencyMs: 7 });
    expect(figures).to.include({ success_rate: 0, avg_latency_ms: 7 });
  });

  it("that was rolled back while the escrow held the money takes effect when the hire counts", async () => {
    const log = scene();
    log.listing(SELLER, "text.translate", { ...MODE, audit: { operator: AUDITED } });
    const id = log.after(DAY).deposit(SELLER, BUYER);
    log.receipt(SELLER, BUYER, { escrow_id: id, ...HASHES });
    await failed(log);
    await decide(log, "rollback");
    expect((await sellerOf(log)).hire).to.equal(undefined);
    log.released(id);
    const { figures, hire } = await sellerOf(log);
    expect(hire).to.include({ outcome: "failure", evidence: "audit", refunded: false, price: 500_000n });
    expect(figures).to.include({ success_rate: 0, dispute_rate: 1, refund_rate: 0 });
  });

  it("is decided only by the audit's operator, once, and only after the hire failed", async () => {
    const log = scene();
    log.hire(SELLER, BUYER, HASHES);
    log.after(60).tick(tickHash(1_000));
    const early = await decide(log, "rollback");
    await say(log, "fail");
    log.after(60).tick(tickHash(1_001));
    await say(log, "fail");
    const others = [await decide(log, "rollback", SELLER), await decide(log, "rollback", wallet(20))];
    const good = await decide(log, "dismiss");
    const again = await decide(log, "rollback");
    const { store } = await sellerOf(log);
    const statusOf = (hash: string) =>
      [...store.rows("record").values()].find((it) => it.hash === hash)?.status;
    expect([early, ...others, again].map(statusOf)).to.deep.equal(Array(4).fill("invalid"));
    expect(statusOf(good)).to.equal("valid");
    expect((await only(log)).audit).to.include({ decision: "dismiss", decisionRecord: good });
  });
});

describe("audit_pass_rate", () => {
  const passed = async () => {
    const log = scene({ auditors: 5 });
    log.hire(SELLER, BUYER, { hire_id: hireIdFor("first"), ...HASHES });
    return failed(log, ["pass"]);
  };

  it("counts passed audits for 30 days, with a strict limit", async () => {
    for (const [seconds, rate] of [
      [30 * DAY - 1, 1],
      [30 * DAY, null],
    ] as const) {
      const log = await passed();
      const { audit } = await only(log);
      expect((await sellerOf(log)).figures?.audit_pass_rate).to.equal(1);
      log.after((audit.closedTime ?? 0) + seconds - log.time).tick(tickHash(9));
      expect((await sellerOf(log)).figures?.audit_pass_rate, `${seconds} s`).to.equal(rate);
    }
  });

  it("loses a passed audit if the seller later signs other hashes for the hire", async () => {
    const log = await passed();
    const first = log.events.find((it) => it.kind === "record" && it.body.hire_id === hireIdFor("first"));
    if (first?.kind !== "record") throw new Error("no receipt");
    log.said("receipt", SELLER, { ...first.body, ...OTHER_HASHES }, OTHER_LEDGER);
    expect((await sellerOf(log)).figures?.audit_pass_rate).to.equal(null);
    await decide(log, "rollback");
    expect((await sellerOf(log)).figures).to.include({ audit_pass_rate: 0, success_rate: 0 });
  });
});
