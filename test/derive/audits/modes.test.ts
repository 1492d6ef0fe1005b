import { expect } from "chai";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import {
  backToBootstrap,
  findMode,
  leaveShare,
  modeOf,
  noteAssigned,
  noteVerdict,
  settleModes,
  wasJustifiedBy,
} from "tallystick-derive/audits/modes";
import { joinRoster, rosterOf } from "tallystick-derive/audits/rosters";
import { joinCluster } from "tallystick-derive/clusters";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { selectNumbers } from "tallystick-derive/orderedSet";
import type { Row } from "tallystick-derive/tables";
import { contextAt, scheduled } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { memberRow } from "../families/memberRow.ts";
import { CAPABILITY } from "./auditRows.ts";

const [OPERATOR, OTHER] = [wallet(20), wallet(21)];
const POOL = { operator: OPERATOR, capability: CAPABILITY };
const ID = rosterOf(OPERATOR, CAPABILITY);
const params = {
  audit: {
    ...{ operators: { [OPERATOR]: { pool: wallet(24) } }, matureSeconds: 1_000, matureAuditors: 3 },
    ...{ matureClusters: 2, matureShare: { numerator: 1, denominator: 2 }, matureShareSeconds: 500 },
  },
} as never;

function at(time: number, { store = new MemoryStore() as ApplyContext["store"], ticks = 0 } = {}) {
  return contextAt(9, null, { time, params, store: store as MemoryStore, state: { ticks } });
}

const row = (context: ApplyContext) => findMode(context, POOL) as Row<"auditMode">;

/** Auditors on the roster; each has its own family, unless it is of another's. */
function roster(context: ApplyContext, count: number, families: number): void {
  for (let n = 0; n < count; n++) {
    const [own, family] = [wallet(100 + n), wallet(100 + Math.min(n, families - 1))];
    ensureAgent(context, own);
    context.store.insert("familyMember", memberRow(own, null, family));
    joinRoster(context, ID, own);
  }
}

describe("the mode of a capability", () => {
  const START = 100_000;

  /** The mode at a tick after these verdicts, each by the auditor with this number. */
  function modeAfter(
    verdicts: number[],
    { auditors = 3, families = 2, wait = 1_000, before = (_: ApplyContext): void => undefined } = {},
  ) {
    const first = at(START);
    noteAssigned(first, POOL);
    const later = at(START + wait, { store: first.store });
    roster(later, auditors, families);
    for (const it of verdicts) noteVerdict(later, POOL, wallet(it));
    before(later);
    settleModes(later);
    return row(later).mode;
  }

  it("becomes mature with enough time, auditors and owners, and no auditor with most of the verdicts", () => {
    expect(modeAfter([100, 101])).to.equal("mature");
    expect(modeAfter([100, 101], { wait: 999 })).to.equal("bootstrap");
    expect(modeAfter([100, 101], { auditors: 2 })).to.equal("bootstrap");
    expect(modeAfter([100, 101], { auditors: 4 })).to.equal("mature");
    expect(modeAfter([100, 101], { families: 1 })).to.equal("bootstrap");
    expect(modeAfter([100, 101], { families: 3 })).to.equal("mature");
    expect(modeAfter([100])).to.equal("bootstrap");
    expect(modeAfter([100, 101, 101])).to.equal("bootstrap");
    expect(modeAfter([100, 101, 101, 102])).to.equal("mature");
    expect(modeAfter([100, 100, 101, 101, 101, 102])).to.equal("mature");
    expect(modeAfter([])).to.equal("bootstrap");
  });

  it("does not become mature without an assignment, or for an operator that has left", () => {
    const context = at(START + 9_000);
    roster(context, 3, 2);
    for (const it of [100, 101]) noteVerdict(context, POOL, wallet(it));
    settleModes(context);
    expect(row(context)).to.include({ mode: "bootstrap", firstAssigned: null });
    const left = (it: ApplyContext) => {
      it.store.update("auditMode", ID, { operator: OTHER });
    };
    expect(modeAfter([100, 101], { before: left })).to.equal("bootstrap");
  });

  it("counts verdicts only as long as they are recent: old ones leave their auditor's share", () => {
    const leave = (auditor: number) => (context: ApplyContext) => leaveShare(context, ID, wallet(auditor));
    expect(modeAfter([100, 101, 101], { before: leave(101) })).to.equal("mature");
    expect(modeAfter([100, 101, 102, 102, 102], { before: leave(100) })).to.equal("bootstrap");
    const none = (context: ApplyContext) => {
      for (const it of [100, 101]) leave(it)(context);
    };
    expect(modeAfter([100, 101], { before: none })).to.equal("mature");
  });

  it("counts the auditors of one cluster, and wallets of one family, as one owner", () => {
    const cluster =
      (members: number[], signal: "funding_origin" | "listing_fingerprint") => (it: ApplyContext) =>
        joinCluster(it, { members: members.map(wallet), signal, funder: null });
    for (const signal of ["funding_origin", "listing_fingerprint"] as const) {
      expect(modeAfter([100, 101], { families: 3, before: cluster([100, 101, 102], signal) })).to.equal(
        "bootstrap",
      );
      expect(modeAfter([100, 101], { families: 3, before: cluster([100, 101], signal) })).to.equal("mature");
    }
    const unknown = (it: ApplyContext) => {
      for (const n of [100, 101, 102]) it.store.put("familyMember", memberRow(wallet(n), null, "deep"));
    };
    expect(modeAfter([100, 101], { families: 3, before: unknown })).to.equal("bootstrap");
  });

  it("is looked at once in a tick, and only at the next tick after a verdict", () => {
    const context = at(START, { ticks: 3 });
    noteAssigned(context, POOL);
    for (const it of [100, 101]) noteVerdict(context, POOL, wallet(it));
    expect(context.store.get("list", "auditsJudged/3")).to.include({ length: 1 });
    expect(row(context).touched).to.equal(3);
    const later = at(START + 1_000, { store: context.store, ticks: 4 });
    roster(later, 3, 2);
    settleModes(later);
    expect(row(later).mode).to.equal("bootstrap");
    noteVerdict(later, POOL, wallet(102));
    settleModes(later);
    expect(row(later)).to.include({ mode: "mature", changes: 1 });
    settleModes(later);
    expect(row(later).changes).to.equal(1);
  });

  it("is bootstrap until something happened, and always for a work without a capability", () => {
    const context = at(START);
    expect(findMode(context, POOL)).to.equal(null);
    expect(modeOf(context, OPERATOR, CAPABILITY)).to.equal("bootstrap");
    noteAssigned(context, POOL);
    expect(row(context)).to.deep.equal({
      ...{ id: ID, operator: OPERATOR, capability: CAPABILITY, mode: "bootstrap", changes: 0 },
      ...{ firstAssigned: START, verdicts: 0, auditors: 0, touched: null },
    });
    context.store.update("auditMode", ID, { mode: "mature" });
    expect(modeOf(context, OPERATOR, CAPABILITY)).to.equal("mature");
    expect(modeOf(context, OTHER, CAPABILITY)).to.equal("bootstrap");
    expect(modeOf(context, OPERATOR, null)).to.equal("bootstrap");
    noteAssigned(at(START + 9, { store: context.store }), POOL);
    expect(row(context).firstAssigned).to.equal(START);
  });

  it("goes back to bootstrap with a justification, which counts once", () => {
    const context = at(START);
    noteAssigned(context, POOL);
    context.store.update("auditMode", ID, { mode: "mature", changes: 1 });
    context.store.insert("auditModeChange", {
      ...{ id: `${ID}/0`, ...POOL, from: "bootstrap", to: "mature", block: 1, time: 1 },
      ...{ justification: null, record: null },
    });
    expect(wasJustifiedBy(context, row(context), "why")).to.equal(false);
    backToBootstrap(context, row(context), { justification: "why", record: "r" });
    expect(row(context)).to.include({ mode: "bootstrap", changes: 2, firstAssigned: null });
    expect(context.store.get("auditModeChange", `${ID}/1`)).to.deep.equal({
      ...{ id: `${ID}/1`, ...POOL, from: "mature", to: "bootstrap", block: 9, time: START },
      ...{ justification: "why", record: "r" },
    });
    expect(wasJustifiedBy(context, row(context), "why")).to.equal(true);
    expect(wasJustifiedBy(context, row(context), "why not")).to.equal(false);
    expect(wasJustifiedBy(context, { ...row(context), changes: 1 }, "why")).to.equal(false);
  });

  it("becomes mature without a justification", () => {
    const context = at(START + 1_000);
    noteAssigned(at(START, { store: context.store }), POOL);
    roster(context, 3, 2);
    for (const it of [100, 101]) noteVerdict(context, POOL, wallet(it));
    settleModes(context);
    expect(context.store.get("auditModeChange", `${ID}/0`)).to.deep.equal({
      ...{ id: `${ID}/0`, ...POOL, from: "bootstrap", to: "mature", block: 9, time: START + 1_000 },
      ...{ justification: null, record: null },
    });
  });
});

describe("the share of an auditor", () => {
  it("is its number of recent verdicts, in an ordered set of the capability", () => {
    const context = at(500);
    for (const it of [100, 100, 101]) noteVerdict(context, POOL, wallet(it));
    expect(row(context)).to.include({ verdicts: 3, auditors: 2 });
    expect(scheduled(context)[0]).to.equal(`1000 share ${ID} ${wallet(100)}`);
    const shares = (ranks: number[]) => selectNumbers(context.store, `auditShares/${ID}`, ranks);
    expect(shares([0, 1])).to.deep.equal([1n, 2n]);
    leaveShare(context, ID, wallet(100));
    expect(shares([0, 1])).to.deep.equal([1n, 1n]);
    leaveShare(context, ID, wallet(100));
    expect(row(context)).to.include({ verdicts: 1, auditors: 1 });
    expect(shares([0])).to.deep.equal([1n]);
    expect(() => shares([1])).to.throw();
    leaveShare(context, ID, wallet(101));
    expect(row(context)).to.include({ verdicts: 0, auditors: 0 });
    noteVerdict(context, POOL, wallet(100));
    expect(row(context)).to.include({ verdicts: 1, auditors: 1 });
  });
});
