import { expect } from "chai";
import { openContext } from "tallystick-derive/applyContext";
import { failConfirmed, poolPaid, verdictEarned } from "tallystick-derive/audits/fees";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { AUDITED, BUYER, HASHES, only, POOL, SELLER, say, scene, tickHash } from "./auditScene.ts";
import { DAY, type EventLog, wallet } from "./eventLog.ts";

/** An operator whose address is before that of the other one. */
const EARLIER = wallet(21);

function drawn(audit: RecordBody = {}): EventLog {
  const log = scene({ audit });
  log.hire(SELLER, BUYER, HASHES);
  return log.after(60).tick(tickHash(1_000));
}

const contextOf = (store: MemoryStore, { block, time }: EventLog) =>
  openContext(store, { kind: "tick", block, time });
const feesOf = (store: MemoryStore) => [...store.rows("auditAssignment").values()].map(({ fee }) => fee);

describe("the fee of an auditor", () => {
  it("for a work that it cannot judge comes with the next verdict, also if somebody between them said nothing", async () => {
    const log = drawn();
    await say(log, "inconclusive");
    log.after(60).tick(tickHash(6));
    log.after(DAY + 1).tick();
    log.after(60).tick(tickHash(7));
    expect(feesOf((await only(log)).store)).to.deep.equal([0n, 0n, 0n]);
    await say(log, "inconclusive");
    const { store, asked } = await only(log);
    expect(asked.map(({ verdict }) => verdict)).to.deep.equal(["inconclusive", null, "inconclusive"]);
    expect(feesOf(store)).to.deep.equal([5_000n, 0n, 0n]);
  });

  it("is nothing, and leaves no account of the period, if the band has no fee", async () => {
    const log = drawn({ fees: [{ fromAtomic: "0", feeAtomic: "0" }] });
    await say(log, "pass");
    const { store } = await only(log);
    expect(feesOf(store)).to.deep.equal([0n]);
    expect(store.rows("auditPeriod").size).to.equal(0);
  });

  it("is nothing for the operator itself; the bounty goes to the first auditor that found the work bad", async () => {
    const log = drawn();
    await say(log, "fail");
    log.after(60).tick(tickHash(6));
    await say(log, "inconclusive");
    log.after(60).tick(tickHash(7));
    const { store, audit, asked } = await only(log);
    const [first, second, third] = asked.map(({ id }) => id) as [string, string, string];
    // As if the operator had judged the first round itself, and the two others had found the work bad.
    store.update("auditAssignment", first, { auditorType: "operator-issued", fee: 0n });
    for (const id of [second, third]) store.update("auditAssignment", id, { verdict: "fail", fee: 0n });
    const context = await contextOf(store, log);
    const accounts = () => [...store.rows("auditOperator").values()].map(({ accrued }) => accrued);
    const before = accounts();
    verdictEarned(context, audit, store.rows("auditAssignment").get(first) as Row<"auditAssignment">, "fail");
    expect([feesOf(store), accounts()]).to.deep.equal([[0n, 0n, 0n], before]);
    failConfirmed(context, audit);
    expect(feesOf(store)).to.deep.equal([0n, 10_000n, 0n]);
    expect(accounts()).to.deep.equal([(before[0] ?? 0n) + 10_000n]);
  });
});

describe("a payment from a pool that two operators share", () => {
  it("pays once: what the first of them by address owes to an auditor that it asked", async () => {
    const log = drawn({ operators: { [AUDITED]: { pool: POOL }, [EARLIER]: { pool: POOL } } });
    await say(log, "pass");
    const { store, last } = await only(log);
    const own = store.rows("auditor").get(`${AUDITED}/${last.auditor}`) as Row<"auditor">;
    const other = `${EARLIER}/${last.auditor}`;
    store.insert("auditor", { ...own, id: other, operator: EARLIER, assigned: 0, accrued: 0n });
    const paid = () => [own.id, other].map((id) => store.rows("auditor").get(id)?.paid);
    const context = await contextOf(store, log);
    poolPaid(context, POOL, last.auditor, 7n);
    expect(paid(), "the other operator never asked it").to.deep.equal([7n, 0n]);
    store.update("auditor", other, { assigned: 1 });
    poolPaid(context, POOL, last.auditor, 5n);
    expect(paid(), "the other operator's address is the first").to.deep.equal([7n, 5n]);
    poolPaid(context, wallet(25), last.auditor, 9n);
    expect(paid(), "another wallet").to.deep.equal([7n, 5n]);
  });
});
