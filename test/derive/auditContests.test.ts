import { expect } from "chai";
import { agentRow } from "tallystick-derive/agentRow";
import { openContext } from "tallystick-derive/applyContext";
import { leaveFalseRefunds, passedContested, trustedOutcome } from "tallystick-derive/audits/contested";
import { uncountAudit, withdrawAudit } from "tallystick-derive/audits/effects";
import { clearElevations, elevatedUntil, raiseElevation } from "tallystick-derive/audits/elevations";
import type { Row } from "tallystick-derive/tables";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import {
  AUDITED,
  auditsIn,
  BUYER,
  HASHES,
  OTHER_HASHES,
  only,
  SELLER,
  say,
  scene,
  tickHash,
} from "./auditScene.ts";
import { DAY, type EventLog, OTHER_LEDGER, wallet } from "./eventLog.ts";

const MODE = { payment_mode: "platform_escrow:swarmwage-partnered" };
const WEEK = 7 * DAY;
const reasons = [{ code: "other", detail: "" }];

/** A seller that also sells by escrow. By default the rate is 0, so hires are drawn only if they are drawn for certain. */
function market(audit: RecordBody = {}, auditors = 6, auditArbiters: `0x${string}`[] = []): EventLog {
  const log = scene({ auditors, auditArbiters, audit: { ratePpm: 0, ...audit } });
  log.listing(SELLER, "text.translate", { ...MODE, audit: { operator: AUDITED } });
  return log.after(DAY);
}

/** The arbiter of every deposit. The buyer may name any wallet, also one of its own. */
const ARBITER = wallet(30);

type Refund = {
  amount?: number;
  buyer?: `0x${string}`;
  how?: "buyer" | "arbiter" | "split";
  telemetry?: RecordBody;
  late?: boolean;
  told?: RecordBody;
};

/** A hire that was delivered, got a receipt, and whose buyer took the money back. */
function refunded(
  log: EventLog,
  { amount = 500_000, buyer = BUYER, how = "buyer", told, late = false }: Refund = {},
): Hex {
  const id = log.deposit(SELLER, buyer, { amount, arbiter: ARBITER });
  log.after(60);
  const receipt = log.receipt(SELLER, buyer, { escrow_id: id, amount, hire_id: id, ...HASHES });
  if (told !== undefined && !late) log.record("telemetry", buyer, { receipt, ...told });
  log.delivered(id);
  if (how === "split") log.released(id, 1, amount - 1);
  else log.refunded(id, how === "buyer" ? buyer : ARBITER);
  if (told !== undefined && late) log.record("telemetry", buyer, { receipt, ...told });
  return id;
}

/** The hash of the last receipt in the log. */
function receiptOf(log: EventLog): string {
  const receipt = log.events.findLast((it) => it.kind === "record" && it.type === "receipt");
  return receipt?.kind === "record" ? receipt.hash : "";
}

const statesOf = async (log: EventLog) =>
  auditsIn((await log.derive()).store).audits.map(({ cause, status }) => `${cause} ${status}`);
const figures = async (log: EventLog) => (await log.derive()).agents;

async function concluded(log: EventLog, ...verdicts: string[]): Promise<EventLog> {
  log.after(60).tick(tickHash(1_000));
  for (const verdict of verdicts) {
    await say(log, verdict);
    log.after(60).tick(tickHash(1_001));
  }
  return log;
}

describe("a refund after delivery", () => {
  for (const [seconds, drawn] of [
    [WEEK - 1, false],
    [WEEK, true],
  ] as const)
    it(`is ${drawn ? "" : "not "}drawn for certain ${seconds} seconds after another refund of the same buyer and seller`, async () => {
      const log = market();
      refunded(log);
      log.after(seconds - 60);
      refunded(log);
      log.after(60).tick(tickHash(1));
      expect(await statesOf(log)).to.deep.equal([
        "contested assigned",
        drawn ? "contested assigned" : "contested eligible",
      ]);
    });

  for (const how of ["arbiter", "split"] as const)
    it(`by ${how === "arbiter" ? "the arbiter that the buyer chose" : "a split that leaves the seller a millionth"} is drawn for certain too`, async () => {
      const log = market();
      refunded(log, { how });
      log.after(60).tick(tickHash(1));
      expect(await statesOf(log)).to.deep.equal(["contested assigned"]);
    });

  it("by an arbiter of audits is not contested", async () => {
    const log = market({}, 6, [ARBITER]);
    refunded(log, { how: "arbiter" });
    log.after(60).tick(tickHash(1));
    expect(await statesOf(log)).to.deep.equal(["sample eligible"]);
  });

  it("of another buyer is drawn for certain at the same time", async () => {
    const log = market();
    refunded(log);
    refunded(log, { buyer: wallet(3) });
    log.after(60).tick(tickHash(1));
    expect(await statesOf(log)).to.deep.equal(["contested assigned", "contested assigned"]);
  });

  for (const amount of [99_999, 100_000])
    it(`of ${amount} is drawn ${amount === 100_000 ? "for certain" : "at the usual rate"}`, async () => {
      const log = market();
      refunded(log, { amount });
      log.after(60).tick(tickHash(1));
      expect(await statesOf(log)).to.deep.equal([
        amount === 100_000 ? "contested assigned" : "contested eligible",
      ]);
    });

  it("is contested also if the receipt comes later; a refund by the seller or before delivery is not contested", async () => {
    const log = market();
    const late = log.deposit(SELLER, BUYER);
    log.delivered(late).refunded(late, BUYER);
    log.after(60).receipt(SELLER, BUYER, { escrow_id: late, ...HASHES });
    const own = log.deposit(SELLER, wallet(3));
    log.receipt(SELLER, wallet(3), { escrow_id: own, ...HASHES });
    log.delivered(own).refunded(own, SELLER);
    const early = log.deposit(SELLER, wallet(4));
    log.receipt(SELLER, wallet(4), { escrow_id: early, ...HASHES });
    log.refunded(early, wallet(4));
    log.after(60).tick(tickHash(1));
    expect(await statesOf(log)).to.deep.equal(["contested assigned", "sample eligible", "sample eligible"]);
  });
});

describe("a contested hire", () => {
  it("that passed is neutral, counts as a false refund of its buyer, and is in no pass rate", async () => {
    const log = market();
    const id = refunded(log);
    expect((await figures(log))[SELLER]?.success_rate).to.equal(0);
    await concluded(log, "pass");
    const { agents, store } = await log.derive();
    expect(agents[SELLER]).to.include({ success_rate: null, audit_pass_rate: null, refund_rate: 1 });
    expect(agents[BUYER]).to.include({ false_refunds: 1, refund_after_delivery_rate: 1 });
    expect(store.rows("hire").get(id)).to.include({ outcome: "neutral", evidence: "audit" });
  });

  for (const how of ["arbiter", "split"] as const)
    it(`by ${how} that passed is a false refund too, and the buyer's next one is neutral`, async () => {
      const log = market();
      refunded(log, { how });
      expect((await figures(log))[SELLER]).to.include({ success_rate: 0, refunds_contested: 1 });
      await concluded(log, "pass");
      refunded(log, { how });
      const { agents } = await log.derive();
      expect(agents[SELLER]).to.include({ success_rate: null, refunds_contested: 2 });
      expect(agents[BUYER]).to.include({ false_refunds: 1, refund_after_delivery_rate: 1 });
    });

  it("that failed changes nothing, even in a mature capability, and nobody has to decide it", async () => {
    for (const mature of [false, true]) {
      const log = market(mature ? { matureAuditors: 1, matureClusters: 1, matureSeconds: 1 } : {}, 8);
      if (mature) {
        refunded(log, { buyer: wallet(3) });
        await concluded(log, "fail");
      }
      refunded(log);
      const { [SELLER]: before } = await figures(log);
      const said = mature ? 2 : 0;
      log.after(60).tick(tickHash(2_000));
      const { store } = await log.derive();
      const last = () => auditsIn(store).audits.at(-1);
      const word = log.record("audit_actuation", AUDITED, {
        ...{ hire: last()?.hire ?? "", decision: "rollback", reasons },
      });
      expect(said).to.be.lessThan(3);
      await concluded(log, "fail", "fail");
      const after = await log.derive();
      const late = log.record("audit_actuation", AUDITED, {
        ...{ hire: last()?.hire ?? "", decision: "rollback", reasons },
      });
      const { agents, store: end } = await log.derive();
      expect(agents[SELLER]).to.deep.equal(after.agents[SELLER]);
      expect(agents[SELLER]).to.include({
        dispute_rate: 0,
        audit_pass_rate: null,
        success_rate: before?.success_rate,
      });
      expect(end.rows("elevation").size).to.equal(0);
      const reasonOf = (hash: string) =>
        [...end.rows("record").values()].find((it) => it.hash === hash)?.status;
      expect([word, late].map(reasonOf)).to.deep.equal(["invalid", "invalid"]);
    }
  });

  it("that was drawn before its refund has a normal audit: no refund stops a fail", async () => {
    const log = market({ ratePpm: 1_000_000 });
    const id = log.deposit(SELLER, BUYER);
    log.receipt(SELLER, BUYER, { escrow_id: id, ...HASHES });
    log.after(60).tick(tickHash(1));
    await say(log, "fail");
    log.delivered(id).refunded(id, BUYER);
    log.after(60).tick(tickHash(2));
    await say(log, "fail");
    const { audit } = await only(log);
    log.record("audit_actuation", AUDITED, { hire: audit.hire, decision: "rollback", reasons });
    expect((await figures(log))[SELLER]).to.include({ dispute_rate: 1, audit_pass_rate: 0 });
  });

  it("that passed before its refund makes that refund false too", async () => {
    const log = market({ ratePpm: 1_000_000 });
    const id = log.deposit(SELLER, BUYER);
    log.receipt(SELLER, BUYER, { escrow_id: id, ...HASHES });
    await concluded(log, "pass");
    log.delivered(id).refunded(id, BUYER);
    const agents = await figures(log);
    expect(agents[SELLER]).to.include({ success_rate: null, audit_pass_rate: 1 });
    expect(agents[BUYER]?.false_refunds).to.equal(1);
  });

  for (const when of ["before", "after"] as const)
    it(`that passed is in no stars, also if its buyer rated it ${when} the verdict`, async () => {
      const log = market();
      const paid = log.hire(SELLER, wallet(3), HASHES);
      log.record("rating", wallet(3), { receipt: paid, side: "buyer", stars: 5 });
      refunded(log);
      const rate = () => log.record("rating", BUYER, { receipt: receiptOf(log), side: "buyer", stars: 1 });
      if (when === "before") {
        rate();
        expect((await figures(log))[SELLER]).to.include({ avg_stars: 3, total_ratings: 2 });
      }
      await concluded(log, "pass");
      if (when === "after") rate();
      expect((await figures(log))[SELLER]).to.include({ avg_stars: 5, total_ratings: 1 });
      refunded(log);
      rate();
      const { agents, store } = await log.derive();
      expect(agents[SELLER], "of a buyer with a false refund").to.include({ avg_stars: 5, total_ratings: 1 });
      log.after(30 * DAY).tick();
      expect((await figures(log))[SELLER]).to.include({ avg_stars: null, total_ratings: 1 });
      const ratings = [...store.rows("rating").values()].map(({ status, hire }) => [status, hire !== null]);
      expect(ratings).to.deep.equal([
        ["counted", true],
        ["pending", true],
        ["pending", true],
      ]);
    });

  it("loses its result when its seller signs other hashes for it", async () => {
    const log = market();
    const id = refunded(log);
    log.record("rating", BUYER, { receipt: receiptOf(log), side: "buyer", stars: 1 });
    await concluded(log, "pass");
    expect((await figures(log))[SELLER]).to.include({ avg_stars: null, total_ratings: 0 });
    log.said(
      "receipt",
      SELLER,
      {
        ...(
          log.events.find((it) => it.kind === "record" && it.body.hire_id === id) as {
            body: RecordBody;
          }
        ).body,
        ...OTHER_HASHES,
      },
      OTHER_LEDGER,
    );
    const agents = await figures(log);
    expect(agents[SELLER]).to.include({ success_rate: 0, avg_stars: 1, total_ratings: 1 });
    expect(agents[BUYER]?.false_refunds).to.equal(0);
    log.after(30 * DAY).tick();
    expect((await figures(log))[SELLER]).to.include({ avg_stars: null, total_ratings: 1 });
  });
});

describe("a buyer's false refund", () => {
  it("does not count when the buyer had already reported that nothing arrived", async () => {
    const nothing = { verification: { all_passed: false } };
    for (const [told, late, count] of [
      [nothing, false, 0],
      [nothing, true, 1],
      [{ ...nothing, latency_ms: 5 }, false, 1],
      [{ verification: { all_passed: true } }, false, 1],
    ] as const) {
      const log = market();
      refunded(log, { told, late });
      await concluded(log, "pass");
      const agents = await figures(log);
      expect(agents[BUYER]?.false_refunds, JSON.stringify([told, late])).to.equal(count);
      expect(agents[SELLER]?.success_rate).to.equal(null);
    }
  });

  it("makes further refunds of that buyer neutral for 30 days, with a strict limit", async () => {
    for (const [seconds, rate] of [
      [30 * DAY - 1, null],
      [30 * DAY, 0],
    ] as const) {
      const log = market();
      refunded(log);
      await concluded(log, "pass");
      const { audit } = await only(log);
      log.after((audit.closedTime ?? 0) + seconds - log.time).tick();
      refunded(log, { amount: 1_000 });
      const agents = await figures(log);
      expect(agents[SELLER]?.success_rate, `${seconds} s`).to.equal(rate);
      expect(agents[BUYER]?.false_refunds).to.equal(rate === null ? 1 : 0);
    }
  });
});

describe("after a hire was rolled back", () => {
  const rolledBack = async (version?: string) => {
    const log = scene({ auditors: 6 });
    const as: RecordBody = version === undefined ? {} : { verification_version: version };
    log.listing(SELLER, "text.translate", { audit: { operator: AUDITED }, issued_at: 1, ...as });
    log.hire(SELLER, BUYER, HASHES);
    await concluded(log, "fail", "fail");
    log.record("params", wallet(20), {
      ...{ version: 2, operator: wallet(20), claimAttestors: [wallet(20)] },
      ...{ tier2MinSuccesses: 1, tier2MinCapabilities: 1 },
      audit: { operators: { [AUDITED]: { pool: wallet(24) } }, ratePpm: 10 },
    });
    const { audit } = await only(log);
    log.record("audit_actuation", AUDITED, { hire: audit.hire, decision: "rollback", reasons });
    return log;
  };
  const ppmOf = async (log: EventLog) => auditsIn((await log.derive()).store).audits.at(-1)?.ppm;

  for (const [seconds, ppm] of [
    [WEEK - 1, 200_000],
    [WEEK, 10],
  ] as const)
    it(`its seller's hires are drawn at ${ppm} ppm ${seconds} seconds later`, async () => {
      const log = await rolledBack();
      log.after(seconds).hire(SELLER, wallet(3), HASHES);
      expect(await ppmOf(log)).to.equal(ppm);
    });

  it("its seller's hires are drawn more often also under another verification version, and under none", async () => {
    for (const [before, after] of [
      ["v1", "v1"],
      ["v1", "v2"],
      [undefined, "v0"],
    ] as const) {
      const log = await rolledBack(before);
      const more = { audit: { operator: AUDITED }, verification_version: after, issued_at: 2 };
      log.listing(SELLER, "text.translate", more);
      log.hire(SELLER, wallet(3), HASHES);
      expect(await ppmOf(log), `${before}, ${after}`).to.equal(200_000);
      log.hire(SELLER, wallet(4), { ...HASHES, capability: "text.unlisted" });
      expect(await ppmOf(log), "of a capability that it does not list").to.equal(200_000);
    }
  });

  it("hires of its seller's cluster are drawn more often too, also of a cluster that the seller joins later, until the cluster splits", async () => {
    // A version is any text of up to 64 characters.
    for (const [late, version] of [
      [false, "v0"],
      [true, "v0"],
      [false, "v1\nv2 %/"],
      [true, "v1\nv2 %/"],
    ] as const) {
      const log = scene({ auditors: 6 });
      const [other, funder] = [wallet(60), wallet(70)];
      const join = () => {
        for (const it of [SELLER, other, wallet(61), wallet(62)]) log.transfer(funder, it, 900_000_000);
      };
      const listing = { audit: { operator: AUDITED }, verification_version: version, issued_at: 1 };
      log.listing(SELLER, "text.translate", listing);
      for (const it of [other, wallet(61), wallet(62)]) log.listing(it, `custom.${it}`, listing);
      log.after(DAY);
      if (!late) join();
      log.hire(SELLER, BUYER, HASHES);
      await concluded(log, "fail", "fail");
      const { audit } = await only(log);
      const params = (version: number, more: RecordBody = {}) =>
        log.record("params", wallet(20), {
          ...{ version, operator: wallet(20), ...more },
          audit: { operators: { [AUDITED]: { pool: wallet(24) } }, ratePpm: 10 },
        });
      params(2);
      log.record("audit_actuation", AUDITED, { hire: audit.hire, decision: "rollback", reasons });
      if (late) {
        log.hire(other, wallet(4), { capability: `custom.${other}`, ...HASHES });
        expect(await ppmOf(log), "before they are one cluster").to.equal(10);
        join();
      }
      log.hire(other, wallet(4), { capability: `custom.${other}`, ...HASHES });
      expect(await ppmOf(log)).to.equal(200_000);
      const changed = { ...listing, verification_version: "v7", issued_at: 2 };
      log.listing(wallet(61), `custom.${wallet(61)}`, changed);
      log.hire(wallet(61), wallet(4), { capability: `custom.${wallet(61)}`, ...HASHES });
      expect(await ppmOf(log), "of another agent, under another version").to.equal(10);
      params(3, { hubs: [funder] });
      log.hire(other, wallet(5), { capability: `custom.${other}`, ...HASHES });
      expect(await ppmOf(log), "after the split").to.equal(10);
      log.hire(SELLER, wallet(5), HASHES);
      expect(await ppmOf(log), "the seller's own hire").to.equal(200_000);
    }
  });
});

describe("the steps of a contested refund", () => {
  const contested = async () => {
    const log = market();
    const hire = refunded(log);
    const { store } = await log.derive();
    const context = await openContext(store, { kind: "tick", block: log.block, time: log.time });
    const audit = () => store.rows("audit").get(hire) as Row<"audit">;
    const buyer = () => agentRow(context, BUYER);
    return { store, context, audit, buyer };
  };

  it("count a refund as false once, and take it back once", async () => {
    const { context, audit, buyer } = await contested();
    leaveFalseRefunds(context, audit().id);
    expect(buyer().falseRefunds).to.equal(0);
    passedContested(context, audit());
    expect([audit().isRefundFalse, buyer().falseRefunds]).to.deep.equal([true, 1]);
    for (let n = 0; n < 2; n++) leaveFalseRefunds(context, audit().id);
    expect([audit().isRefundFalse, buyer().falseRefunds]).to.deep.equal([false, 0]);
  });

  it("count no refund of a hire as false that an operator arranged", async () => {
    const { context, audit, buyer } = await contested();
    withdrawAudit(context, audit().id, "good");
    passedContested(context, audit());
    expect([audit().isRefundFalse, buyer().falseRefunds]).to.deep.equal([false, 0]);
  });

  it("make only the refunds after delivery neutral of a buyer with a false refund", async () => {
    const { context, store, audit } = await contested();
    const hire = store.rows("hire").get(audit().id) as Row<"hire">;
    const refund = { ...hire, refundAfterDelivery: true };
    expect(trustedOutcome(context, BUYER, refund)).to.equal(refund);
    passedContested(context, audit());
    expect(trustedOutcome(context, BUYER, refund)).to.deep.equal({ ...refund, outcome: "neutral" });
    const paid = { ...hire, outcome: "success", refundAfterDelivery: false };
    expect(trustedOutcome(context, BUYER, paid)).to.equal(paid);
  });

  it("change no count of the seller for an audit that counted nowhere", async () => {
    const { context, audit } = await contested();
    const before = { ...agentRow(context, SELLER) };
    expect(uncountAudit(context, audit())).to.equal(audit());
    expect({ ...agentRow(context, SELLER) }).to.deep.equal(before);
  });

  it("lose their effect on a cluster that splits, for each version of the verification", async () => {
    const { context } = await contested();
    for (const version of ["v0", "v1"]) raiseElevation(context, "a cluster", version, 9_000);
    raiseElevation(context, "another", "v0", 8_000);
    clearElevations(context, "a cluster");
    const left = ["v0", "v1"].map((it) => elevatedUntil(context, "a cluster", it));
    expect([...left, elevatedUntil(context, "another", "v0")]).to.deep.equal([0, 0, 8_000]);
  });
});
