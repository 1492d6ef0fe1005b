import { expect } from "chai";
import fc from "fast-check";
import { auditSteps } from "./auditActions.ts";
import { auditLog } from "./auditLog.ts";
import { derivedState } from "./derivedState.ts";
import { oracle } from "./oracle.ts";

/** How many logs with audits are generated. AUDIT_RUNS sets another number. */
const RUNS = Number(process.env.AUDIT_RUNS ?? 30);

describe("audits, derived and by the oracle", () => {
  it("agree on every draw, every assignment, every verdict and every end, for any log", async () => {
    const seen = new Map<string, number>();
    const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(auditSteps, async (steps) => {
        const log = await auditLog(steps);
        const { store, ...snapshot } = await log.derive();
        expect(derivedState(snapshot, store)).to.deep.equal(oracle(log.events));
        for (const it of store.rows("audit").values()) {
          note(it.status);
          note(`round ${it.round}`);
          if (it.reason !== null) note(it.reason);
          if (it.mode === "mature") note(`${it.decision} when mature`);
          if (it.history !== null) note(`history: ${it.history}`);
          note(`${it.cause}: ${it.status}`);
          if (it.isRefundFalse) note("false refund");
        }
        for (const it of store.rows("escrow").values()) if (it.nothingCame) note("nothing came");
        for (const it of store.rows("elevation").values()) note(`elevated ${it.id.slice(0, 4)}`);
        for (const it of store.rows("canary").values()) note(`canary: ${it.status}`);
        for (const it of store.rows("auditorError").values()) {
          if (it.good > it.goodPassed) note("wrong on good");
          if (it.bad > it.badFailed) note("wrong on bad");
        }
        for (const it of store.rows("auditAssignment").values()) {
          for (const bar of it.passedOver.split(",")) note(`passed over: ${bar}`);
          if (it.verdict !== null) note(`${it.auditorType}: ${it.verdict}`);
        }
        for (const it of store.rows("auditModeChange").values()) note(`to ${it.to}`);
        for (const it of store.rows("auditor").values()) if (it.removedFor !== null) note(it.removedFor);
      }),
      { numRuns: RUNS },
    );
    if (process.env.AUDIT_RUNS !== undefined) console.log(Object.fromEntries([...seen].sort()));
    // The logs must reach every case. A case that no log reaches is not compared.
    if (RUNS >= 1_000) expect([...seen.keys()]).to.include.members(EXPECTED);
  }).timeout(0);
});

const EXPECTED = [
  ...["eligible", "assigning", "assigned", "passed", "failed", "inconclusive", "abandoned"],
  ...["undisclosed", "equivocation", "unanswered", "extortion", "collusion"],
  ...[
    "contested: passed",
    "contested: failed",
    "false refund",
    "nothing came",
    "wrong on good",
    "wrong on bad",
  ],
  ...["counted", "unknown", "unsigned", "late", "foreign", "busy", "undrawn", "contradicted"].map(
    (status) => `canary: ${status}`,
  ),
  ...["elevated 0x00", "elevated clst"],
  ...["round 1", "round 2", "round 3"],
  ...["to mature", "to bootstrap", "rollback when mature", "history: passed", "history: failed"],
  ...["operator-issued: pass", "operator-issued: fail", "operator-issued: inconclusive"],
  ...["capability", "cluster", "family", "pair", "akin", "party"].map((bar) => `passed over: ${bar}`),
];
