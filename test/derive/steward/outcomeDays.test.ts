import { expect } from "chai";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { emptyRow } from "tallystick-derive/emptyRow";
import { add, rational, ZERO } from "tallystick-derive/rational";
import { DAY } from "tallystick-derive/steward/days";
import {
  noteAmended,
  noteClientError,
  noteSale,
  noteWithdrawn,
  parseOutcomeDays,
  weighOutcomes,
} from "tallystick-derive/steward/outcomeDays";
import { ensureSteward } from "tallystick-derive/steward/stewardRow";
import type { Row } from "tallystick-derive/tables";
import { contextAt } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";

const SELLER = wallet(1);
const TODAY = 20_100;
const params = { steward: { difficulty: { "hard.work": "2.5", "plain.work": "1" } } } as never;

/** A context of today, in which the seller is an agent. */
function scene(): ApplyContext {
  const context = contextAt(9, 0, { time: TODAY * DAY + 5, params });
  ensureAgent(context, SELLER);
  return context;
}

const hire = (more: Partial<Row<"hire">> = {}): Row<"hire"> =>
  ({
    ...emptyRow("hire"),
    ...{ id: "h", seller: SELLER, buyer: wallet(2), buyerFamily: wallet(2), clusterSize: 1 },
    ...{ outcome: "failure", evidence: "receipt", time: TODAY * DAY, ...more },
  }) as Row<"hire">;

/** Counts a hire, as `noteSale` is called for it. */
function sold(context: ApplyContext, more: Partial<Row<"hire">> = {}): Row<"hire"> {
  const row = hire(more);
  context.store.insert("hire", row);
  noteSale(context, row);
  return row;
}

const row = (context: ApplyContext) => context.store.get("steward", SELLER) as Row<"steward">;
const days = (context: ApplyContext) => row(context).outcomes;
const hard = (context: ApplyContext) => row(context).hardSales;

describe("a hire on its seller's day", () => {
  it("adds its weight to what it was: a success, a failure, or neither", () => {
    for (const [outcome, text] of [
      ["success", `${TODAY}:1/3:0`],
      ["failure", `${TODAY}:0:1/3`],
      ["neutral", `${TODAY}:0:0`],
    ]) {
      const context = scene();
      sold(context, { outcome, clusterSize: 3 });
      expect(days(context)).to.equal(text);
      expect(row(context).sales).to.equal(1);
    }
  });

  it("joins the last day, a later day, or a day before, and is dropped with days that are too old", () => {
    const context = scene();
    let count = 0;
    const on = (day: number) => {
      sold(context, { id: `hire ${count++}`, time: day * DAY });
      return days(context);
    };
    expect(on(TODAY - 2)).to.equal(`${TODAY - 2}:0:1`);
    expect(on(TODAY - 2)).to.equal(`${TODAY - 2}:0:2`);
    expect(on(TODAY)).to.equal(`${TODAY - 2}:0:2;${TODAY}:0:1`);
    expect(on(TODAY - 1)).to.equal(`${TODAY - 2}:0:2;${TODAY - 1}:0:1;${TODAY}:0:1`);
    expect(on(TODAY - 2)).to.equal(`${TODAY - 2}:0:3;${TODAY - 1}:0:1;${TODAY}:0:1`);
    expect(on(TODAY - 91)).to.equal(`${TODAY - 2}:0:3;${TODAY - 1}:0:1;${TODAY}:0:1`);
    expect(on(TODAY - 90)).to.equal(`${TODAY - 90}:0:1;${TODAY - 2}:0:3;${TODAY - 1}:0:1;${TODAY}:0:1`);
    const later = { ...context, at: { ...context.at, time: (TODAY + 1) * DAY } };
    sold(later, { id: "later", time: (TODAY + 1) * DAY });
    expect(days(context)).to.equal(`${TODAY - 2}:0:3;${TODAY - 1}:0:1;${TODAY}:0:1;${TODAY + 1}:0:1`);
  });

  it("is nothing for a seller that is no agent", () => {
    const context = contextAt(9, 0, { time: TODAY * DAY, params });
    sold(context);
    expect(context.store.get("steward", SELLER)).to.equal(null);
    noteAmended(context, hire(), hire({ outcome: "success" }));
    noteWithdrawn(context, hire());
    noteClientError(context, "h");
    expect(context.store.get("steward", SELLER)).to.equal(null);
    expect(context.store.get("clientError", "h")).to.equal(null);
  });

  it("changes when more becomes known of it", () => {
    const context = scene();
    const before = sold(context);
    noteAmended(context, before, { ...before, latencyMs: 5 });
    expect(days(context)).to.equal(`${TODAY}:0:1`);
    noteAmended(context, before, { ...before, outcome: "success" });
    expect(days(context)).to.equal(`${TODAY}:1:0`);
    noteAmended(
      context,
      { ...before, outcome: "success" },
      { ...before, outcome: "success", clusterSize: 2 },
    );
    expect(days(context)).to.equal(`${TODAY}:1/2:0`);
    expect(row(context).sales).to.equal(1);
  });

  it("goes when its operator reveals that it had arranged it", () => {
    const context = scene();
    const before = sold(context, { capability: "hard.work" });
    expect([days(context), hard(context)]).to.deep.equal([`${TODAY}:0:1`, `${TODAY}:0:3/2`]);
    noteWithdrawn(context, before);
    expect([days(context), hard(context)]).to.deep.equal([`${TODAY}:0:0`, `${TODAY}:0:0`]);
    expect(row(context).sales).to.equal(0);
  });
});

describe("a failure that the buyer's own request caused", () => {
  const told = (more: Partial<Row<"hire">> = {}, times = 1) => {
    const context = scene();
    sold(context, more);
    for (let n = 0; n < times; n++) noteClientError(context, "h");
    return context;
  };

  it("does not count, unless an audit found it", () => {
    expect(days(told())).to.equal(`${TODAY}:0:0`);
    expect(days(told({ evidence: "audit" }))).to.equal(`${TODAY}:0:1`);
    expect(days(told({ outcome: "success" }))).to.equal(`${TODAY}:1:0`);
    expect(days(told({ isCanary: true }))).to.equal(`${TODAY}:0:0`);
  });

  it("is told once, and of a hire that is counted", () => {
    const context = told({}, 2);
    expect(days(context)).to.equal(`${TODAY}:0:0`);
    expect(context.store.get("clientError", "h")).to.deep.equal({ id: "h" });
    for (const id of ["another"]) noteClientError(context, id);
    expect(context.store.get("clientError", "another")).to.equal(null);
  });

  it("takes its extra weight too", () => {
    const context = told({ capability: "hard.work" });
    expect([days(context), hard(context)]).to.deep.equal([`${TODAY}:0:0`, `${TODAY}:0:0`]);
  });

  it("stays excused when more becomes known of it", () => {
    const context = told();
    noteAmended(context, hire(), hire({ latencyMs: 7 }));
    expect(days(context)).to.equal(`${TODAY}:0:0`);
    noteAmended(context, hire(), hire({ evidence: "audit" }));
    expect(days(context)).to.equal(`${TODAY}:0:1`);
  });
});

describe("the extra weight of a hire", () => {
  it("is the published difficulty of its capability, less one", () => {
    const extra = (capability: string | null) => {
      const context = scene();
      sold(context, { capability, outcome: "success" });
      return [hard(context), context.store.get("hardHire", "h")?.extra ?? null];
    };
    expect(extra("hard.work")).to.deep.equal([`${TODAY}:3/2:0`, "3/2"]);
    expect(extra("plain.work")).to.deep.equal(["", null]);
    expect(extra("other.work")).to.deep.equal(["", null]);
    expect(extra("toString")).to.deep.equal(["", null]);
    expect(extra(null)).to.deep.equal(["", null]);
  });

  it("is taken when its capability becomes known, and stays as it was then", () => {
    const context = scene();
    const before = sold(context);
    const after = { ...before, capability: "hard.work" };
    noteAmended(context, before, after);
    expect([days(context), hard(context)]).to.deep.equal([`${TODAY}:0:1`, `${TODAY}:0:3/2`]);
    const other = {
      ...context,
      params: { ...context.params, steward: { ...context.params.steward, difficulty: {} } },
    };
    noteAmended(other, after, { ...after, outcome: "success" });
    expect([days(context), hard(context)]).to.deep.equal([`${TODAY}:1:0`, `${TODAY}:3/2:0`]);
  });
});

describe("the sums over days", () => {
  it("are exact for whole weights and for fractions", () => {
    const text = "5:1:2;6:1/2:0;7:3:1/3";
    const all = weighOutcomes(parseOutcomeDays(text), (day) => (day === 7 ? 10n : day === 6 ? 4n : 1n));
    expect(all).to.deep.equal({ ok: rational(33n), failed: add(rational(2n), rational(10n, 3n)) });
    const one = weighOutcomes(parseOutcomeDays(text), (day) => (day === 6 ? 3n : undefined));
    expect(one).to.deep.equal({ ok: rational(3n, 2n), failed: ZERO });
    expect(parseOutcomeDays("")).to.deep.equal([]);
    expect(ensureSteward(scene(), wallet(9))).to.equal(null);
  });
});
