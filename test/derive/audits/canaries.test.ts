import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { readCanary } from "tallystick-derive/audits/canaries";
import type { RecordEvent } from "tallystick-derive/events";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { hireId } from "tallystick-protocol/hire/hireIds";
import { canaryCommitment } from "tallystick-protocol/records/auditCanary";
import { bindBody } from "tallystick-protocol/records/binding";
import { AUDITED, auditsIn, HASHES, SELLER, scene, tickHash } from "../auditScene.ts";
import { contextAt } from "../contextAt.ts";
import { LEDGER, wallet } from "../eventLog.ts";
import { assign } from "./auditRows.ts";

const CANARY = wallet(500);
const SALT = `0x${"5a".repeat(32)}` as const;
const NAME = hireId(CANARY, "n-1");

const listOf = (truth: "good" | "bad", buyers: Address[] = [CANARY]) => {
  const hires = buyers.map((buyer) => ({ buyer, nonce: "n-1", truth }));
  return { commitment: canaryCommitment({ salt: SALT, hires }), reveal: { salt: SALT, hires } };
};

type Verdict = Partial<Row<"auditAssignment">>;

/** A hire of the canary's buyer, and these verdicts about it. Then the list is revealed. */
async function revealed(
  verdicts: Verdict[],
  {
    truth = "good" as "good" | "bad",
    buyers = [CANARY],
    hire = (log: ReturnType<typeof scene>): unknown =>
      log.hire(SELLER, CANARY, { hire_id: NAME, buyer_signature: "0x02", ...HASHES }),
  } = {},
) {
  const log = scene();
  const list = listOf(truth, buyers);
  log.record("audit_canary", AUDITED, { commitment: list.commitment });
  log.after(60);
  hire(log);
  // The drawn auditor gives its verdict here, as a row, so that all combinations can be tried.
  log.after(60).tick(tickHash(1_000));
  const { store } = await log.derive();
  const [audit] = auditsIn(store).audits;
  const context = contextAt(log.block, 0, { store, time: log.time });
  for (const row of store.rows("auditAssignment").keys())
    context.store.update("auditAssignment", row, { verdict: null });
  for (const [n, it] of verdicts.entries())
    assign(context, audit as Row<"audit">, {
      operator: AUDITED,
      round: 5 + n,
      auditor: wallet(100 + n),
      ...it,
    });
  const body = bindBody(list, { type: "audit_canary", ledger: LEDGER });
  const read = readCanary(context, { signer: AUDITED, hash: "r", body } as RecordEvent);
  if (typeof read === "string") throw new Error(read);
  read();
  const canary = (of = CANARY) => context.store.get("canary", of);
  return { context, store, canary, list: store.rows("canaryList").get(`${AUDITED}/${list.commitment}`) };
}

const errors = (context: ApplyContext) =>
  [100, 101, 102, 103].map((n) => {
    const row = context.store.get("auditorError", `${AUDITED}/${wallet(n)}/text.translate`);
    return row === null ? null : [row.good, row.goodPassed, row.bad, row.badFailed];
  });

const [PASS, FAIL] = [{ verdict: "pass" }, { verdict: "fail" }];

describe("the reveal of a canary", () => {
  it("measures every auditor that passed or failed it", async () => {
    const good = await revealed([PASS, FAIL, PASS]);
    expect(good.canary()?.status).to.equal("counted");
    expect(errors(good.context)).to.deep.equal([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], null]);
    const bad = await revealed([PASS, FAIL, FAIL], { truth: "bad" });
    expect(bad.canary()?.status).to.equal("counted");
    expect(errors(bad.context)).to.deep.equal([[0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1], null]);
    expect(bad.list).to.include({ hires: 1, voids: 0, revealRecord: "r" });
  });

  it("measures nobody by a verdict of the operator itself, or by one that judges nothing", async () => {
    for (const verdict of [
      { verdict: "fail", auditorType: "operator-issued" },
      { verdict: "inconclusive" },
      { verdict: null },
    ]) {
      const { context, canary } = await revealed([verdict]);
      expect(canary()?.status, JSON.stringify(verdict)).to.equal("undrawn");
      expect(errors(context)).to.deep.equal([null, null, null, null]);
      const more = await revealed([PASS, verdict]);
      expect(errors(more.context)).to.deep.equal([[1, 1, 0, 0], null, null, null]);
    }
  });

  it("is contradicted by two auditors with the other verdict, and not by one that said it twice", async () => {
    expect((await revealed([FAIL, FAIL])).canary()?.status).to.equal("contradicted");
    expect((await revealed([PASS, PASS], { truth: "bad" })).canary()?.status).to.equal("contradicted");
    expect((await revealed([FAIL, PASS])).canary()?.status).to.equal("counted");
    expect((await revealed([PASS, PASS])).canary()?.status).to.equal("counted");
    const twice = [FAIL, { ...FAIL, auditor: wallet(100) }];
    expect((await revealed(twice)).canary()?.status).to.equal("counted");
  });

  it("removes no hire of another buyer that has the canary's id", async () => {
    const { store, canary, list } = await revealed([], {
      hire: (log) => {
        // Its real hire has another id. The other buyer's hire with the canary's id is audited too.
        log.hire(SELLER, CANARY, { hire_id: hireId(CANARY, "n-2"), buyer_signature: "0x02", ...HASHES });
        log.hire(SELLER, wallet(77), { hire_id: NAME, buyer_signature: "0x02", ...HASHES });
      },
    });
    expect(canary()).to.include({ status: "unknown", hire: null });
    expect(list).to.include({ hires: 1, voids: 1 });
    expect([...store.rows("hire").values()].filter((it) => it.isCanary)).to.deep.equal([]);
  });

  it("finds nothing of a buyer that never acted or never bought", async () => {
    const none = await revealed([], { hire: () => undefined });
    expect(none.canary()).to.include({ status: "unknown", hire: null, truth: "good", operator: AUDITED });
    const idle = await revealed([], { hire: (log) => log.listing(CANARY, "custom.thing") });
    expect(idle.canary()?.status).to.equal("unknown");
  });

  it("counts the hires of its list, and those of them that stay in the figures", async () => {
    const { canary, list } = await revealed([PASS], { buyers: [CANARY, wallet(501), wallet(502)] });
    expect([CANARY, wallet(501), wallet(502)].map((it) => canary(it)?.status)).to.deep.equal([
      ...["counted", "unknown", "unknown"],
    ]);
    expect(list).to.include({ hires: 3, voids: 2 });
  });
});
